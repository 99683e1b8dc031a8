"""The answers of tables: what they say is true, prints honestly, and is exported as it is."""

import csv
import json
import math
import os
import re
from bisect import bisect_left
from collections.abc import Callable
from datetime import date
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import leastnoise as ln
from leastnoise.errors import InvalidParameter, Unsupported
from leastnoise.mechanism import Answer
from leastnoise.tables import GroupedAnswers, MeanAnswer, QuantileAnswer
from leastnoise.tables.answers import export as exporting
from leastnoise.tables.answers.export import key_names
from leastnoise.tables.rounding import float_above, float_below, float_near

pd: Any = import_module("pandas")
pl: Any = import_module("polars")
pa: Any = import_module("pyarrow")
pq: Any = import_module("pyarrow.parquet")

PROMISE = ln.Privacy(1, "1e-6")
COUNT = ln.calibrate(ln.Privacy(delta="1/4"), sensitivity=1, integer=True)  # within ± 2
SUM = ln.calibrate(ln.Privacy(delta="1/4"), sensitivity=2, integer=True)
REAL = ln.calibrate(ln.Privacy(delta="1/10"), sensitivity=3)
ENDLESS = ln.calibrate(ln.Privacy(1), sensitivity=1, integer=True)
WIDE = ln.calibrate(ln.Privacy(delta="1e-25"), sensitivity=1, integer=True)
FAR = ln.calibrate(ln.Privacy(delta="1/12346"), sensitivity=1, integer=True)
BEYOND = ln.calibrate(ln.Privacy(delta="1e-40"), sensitivity=1, integer=True)
TENTHS = ln.calibrate(ln.Privacy(delta="1/10"), sensitivity="1/10")
HALF = Fraction(1, 2)
BOUNDS = (Fraction(-3), Fraction(7))
MIDDLE = Fraction(2)


def mean(count: int, total: int, /, **changes: Any) -> MeanAnswer:
    """Return a mean of which these were released."""
    parts: dict[str, Any] = {
        "count": Answer(count, COUNT),
        "sum": Answer(total, SUM),
        "middle": MIDDLE,
        "bounds": BOUNDS,
        "privacy": PROMISE,
    }
    return MeanAnswer(**(parts | changes))


def quantile(cell: int = 3, /, **changes: Any) -> QuantileAnswer:
    """Return the answer that a search ended with."""
    parts: dict[str, Any] = {
        "cell": cell,
        "low": Fraction(0),
        "high": Fraction(10),
        "cells": 8,
        "q": HALF,
        "comparisons": 3,
        "mechanism": COUNT,
        "privacy": PROMISE,
    }
    return QuantileAnswer(**(parts | changes))


def grouped(answers: list[Any], keys: list[Any] | None = None, **changes: Any) -> GroupedAnswers:
    """Return a table by one column, or by as many as a key has parts."""
    read = [key if isinstance(key, tuple) else (key,) for key in keys or range(len(answers))]
    names = tuple("abc"[: len(read[0])] if read else "a")
    parts: dict[str, Any] = {
        "names": names,
        "keys": tuple(read),
        "answers": tuple(answers),
        "title": "count by region",
        "privacy": PROMISE,
    }
    return GroupedAnswers(**(parts | changes))


# ------------------------------------------------------------------- means


def possible_means(count: int, total: int, rows: int, moved: int) -> set[Fraction]:
    """Return the mean of every true count and sum that noise within these sizes admits."""
    low, high = (end - MIDDLE for end in BOUNDS)
    return {
        MIDDLE + Fraction(s, n)
        for n in range(max(1, count - rows), count + rows + 1)
        for s in range(total - moved, total + moved + 1)
        if low * n <= s <= high * n
    }


def largest_index(mechanism: Any) -> int:
    """Return the largest noise, found by its weights and not by its radius."""
    law = mechanism.drawn.noise
    return max(index for index in range(100) if law.weight(index))


@pytest.mark.parametrize("count", [-4, 0, 1, 2, 3, 4, 5, 6, 9, 30])
@pytest.mark.parametrize("total", [-60, -7, -1, 0, 2, 5, 13, 80])
def test_a_mean_is_never_further_away_than_its_bound_and_the_ends_are_reached(
    count: int, total: int
) -> None:
    answer = mean(count, total)
    rows, moved = largest_index(COUNT), largest_index(SUM)
    low, high = answer.interval(1)
    means = possible_means(count, total, rows, moved)
    assert all(low <= one <= high for one in means)
    assert all(abs(one - answer.value) <= answer.bound for one in means)
    assert BOUNDS[0] <= low <= answer.value <= high <= BOUNDS[1]
    if count - rows <= 0:
        assert (low, high) == BOUNDS
        return
    # The extreme ratios are those of corners of the box, cut to the bounds.
    ratios = [
        MIDDLE + Fraction(s, n)
        for n in (count - rows, count + rows)
        for s in (total - moved, total + moved)
    ]
    assert low == min(max(min(ratios), BOUNDS[0]), BOUNDS[1])
    assert high == max(min(max(ratios), BOUNDS[1]), BOUNDS[0])
    assert answer.bound == max(answer.value - low, high - answer.value)


@pytest.mark.parametrize("confidence", ["0.5", "0.8", "0.95", "0.999"])
@pytest.mark.parametrize(("n", "s"), [(1, 0), (3, -15), (5, 20), (8, 3), (40, -150)])
def test_an_interval_holds_the_true_mean_as_often_as_it_says(
    confidence: str, n: int, s: int
) -> None:
    # Over all draws of both noises, exactly: nothing is sampled.
    truth, held = MIDDLE + Fraction(s, n), Fraction(0)
    first, second = COUNT.drawn.noise, SUM.drawn.noise
    for x in range(-largest_index(COUNT), largest_index(COUNT) + 1):
        for y in range(-largest_index(SUM), largest_index(SUM) + 1):
            low, high = mean(n + x, s + y).interval(confidence)
            if low <= truth <= high:
                held += Fraction(first.weight(x) * second.weight(y), first.total * second.total)
    assert held >= Fraction(confidence)


def test_an_interval_is_that_of_both_parts_at_half_the_risk() -> None:
    # Discrete uniform laws: the smallest j with P(|X| ≤ j) ≥ 39/40, added up by hand.
    def within(mechanism: Any) -> int:
        law, inside, j = mechanism.drawn.noise, Fraction(0), -1
        while inside < Fraction(39, 40):
            j += 1
            points = {j, -j}
            inside += sum(Fraction(law.weight(point), law.total) for point in points)
        return j

    rows, moved = within(COUNT), within(SUM)
    low, high = mean(30, 12).interval()
    assert low == MIDDLE + Fraction(12 - moved, 30 + rows if moved < 12 else 30 - rows)
    assert high == MIDDLE + Fraction(12 + moved, 30 - rows)


@given(
    st.integers(-5, 50),
    st.integers(-(10**6), 10**6),
    st.fractions(-100, 100, max_denominator=9),
    st.fractions(Fraction(1, 9), 100, max_denominator=9),
)
@settings(max_examples=60, deadline=None)
def test_a_mean_is_middle_plus_sum_by_count_within_the_bounds(
    count: int, index: int, low: Fraction, width: Fraction
) -> None:
    bounds, middle = (low, low + width), low + width / 3
    answer = mean(count, 0, sum=Answer(index, REAL), middle=middle, bounds=bounds)
    step = REAL.drawn.step
    plain = middle + index * step / count if count > 0 else middle
    assert answer.value == min(max(plain, bounds[0]), bounds[1])
    assert float(answer) == float(answer.value)
    ends = answer.interval(0.9)
    assert bounds[0] <= ends[0] <= answer.value <= ends[1] <= bounds[1]


def test_released_means_hold_the_truth_within_their_bound() -> None:
    for _ in range(30):
        answer = mean(0, 0, count=COUNT.release(20), sum=REAL.release(13.7))
        truth = MIDDLE + Fraction(13.7) / 20
        assert abs(answer.value - truth) <= answer.bound
        assert answer.interval(1)[0] <= truth <= answer.interval(1)[1]


def test_of_noise_without_a_largest_size_the_range_is_the_bound() -> None:
    assert mean(30, 0, count=Answer(30, ENDLESS)).bound == 10
    assert mean(30, 0, sum=Answer(0, ENDLESS)).bound == 10
    with pytest.raises(InvalidParameter, match="noise without a largest size"):
        mean(30, 0, count=Answer(30, ENDLESS)).interval(1)
    assert "± 10 always" in str(mean(30, 0, count=Answer(30, ENDLESS)))


def test_a_mean_prints_in_one_line() -> None:
    answer = mean(30, 12)
    line = str(answer)
    value, rest = line.split(" (", 1)
    low, high = rest.split(" with 95 %")[0].split(" to ")
    always = rest.split("± ")[1].split(" always")[0]
    ends = answer.interval()
    assert Fraction(low) <= ends[0] <= ends[1] <= Fraction(high)
    assert abs(Fraction(value) - answer.value) + answer.bound <= Fraction(always)
    assert Fraction(high) - Fraction(low) < (ends[1] - ends[0]) * Fraction(101, 100)
    assert rest.endswith(
        " always; of about 30 rows), (ε, δ) = (1, 0.000001); not recorded in any ledger"
    )
    assert "; of about 1 row)" in str(mean(1, 0))
    assert "; of about -2 rows)" in str(mean(-2, 0))
    assert "about 30<" in answer._repr_html_()
    assert "\n" not in line
    assert repr(answer) == f"MeanAnswer({value}, {PROMISE!r})"
    assert value in answer._repr_html_()


def test_wrong_parts_of_a_mean_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="must lie within its bounds"):
        mean(3, 0, middle=Fraction(8))
    with pytest.raises(InvalidParameter, match="must lie within its bounds"):
        mean(3, 0, bounds=(Fraction(7), Fraction(-3)))
    with pytest.raises(InvalidParameter, match="must be a whole number"):
        mean(3, 0, count=Answer(3, REAL))
    for wrong in (0, -1, 2, "x"):
        with pytest.raises(InvalidParameter, match="confidence must be"):
            mean(3, 0).interval(wrong)


# ------------------------------------------------------------------- quantiles


def searched(rows: list[Fraction], cells: int, q: Fraction, noises: list[int]) -> int:
    """Search as the docstring says, with given noises: the edges of cells are whole numbers."""
    low, high = 0, cells
    for noise in noises:
        if high - low == 1:
            break
        edge = (low + high) // 2
        below = bisect_left(rows, edge)
        if q.denominator * below - q.numerator * len(rows) + noise < 0:
            low = edge
        else:
            high = edge
    assert high - low == 1
    return low


@given(
    st.lists(st.fractions(0, 11, max_denominator=4), max_size=40),
    st.integers(2, 11),
    st.fractions(Fraction(1, 10), Fraction(9, 10), max_denominator=10),
    st.data(),
)
@settings(max_examples=40, deadline=None)
def test_the_cell_holds_a_quantile_whose_rank_is_within_the_bound(
    rows: list[Fraction], cells: int, q: Fraction, data: st.DataObject
) -> None:
    rows = sorted(min(row, Fraction(cells)) for row in rows)
    steps = (cells - 1).bit_length()
    most = largest_index(COUNT)
    noises = data.draw(st.lists(st.integers(-most, most), min_size=steps, max_size=steps))
    found = searched(rows, cells, q, noises)
    answer = quantile(found, high=Fraction(cells), cells=cells, q=q, comparisons=steps)
    k = answer.bound
    assert k == answer.rank_error(1) == Fraction(most, q.denominator)
    lower, upper = answer.cell_bounds
    assert answer.interval() == (lower, upper)
    assert [lower, upper] == [Fraction(found), Fraction(found + 1)]
    # A point of the cell, edges included, that is a quantile of a rank within k of q·n.
    wanted = q * len(rows)
    points = [lower, upper, *(row for row in rows if lower <= row <= upper)]

    def serves(x: Fraction) -> bool:
        below, upto = sum(row < x for row in rows), sum(row <= x for row in rows)
        return below <= wanted + k and upto >= wanted - k

    assert any(map(serves, points))


@pytest.mark.parametrize("comparisons", [3, 5])
def test_a_rank_error_holds_for_all_comparisons_together(comparisons: int) -> None:
    law = ENDLESS.drawn.noise
    answer = quantile(mechanism=ENDLESS, comparisons=comparisons, q=Fraction(2, 3))
    reach = answer.rank_error("0.9") * 3
    assert reach.denominator == 1

    def inside(j: int) -> Fraction:
        return sum((Fraction(law.weight(i)) / law.total for i in range(-j, j + 1)), Fraction(0))

    assert 1 - comparisons * (1 - inside(int(reach))) >= Fraction(9, 10)
    assert 1 - comparisons * (1 - inside(int(reach) - 1)) < Fraction(9, 10)
    assert answer.bound == math.inf


def test_a_quantile_prints_what_is_known_of_it() -> None:
    answer = quantile(3)
    assert answer.value == Fraction(35, 8)
    assert float(answer) == 4.375
    assert str(answer) == (
        "4.38 (cell 3.75 to 5; rank within ± 1 rows (95 %), ± 1 rows (always)), "
        "(ε, δ) = (1, 0.000001); not recorded in any ledger"
    )
    assert "there is no largest error" in str(quantile(mechanism=ENDLESS))
    assert repr(answer) == f"QuantileAnswer(4.38, {PROMISE!r})"
    assert "3.75 to 5" in answer._repr_html_()
    assert "4.38" in answer._repr_html_()


def test_a_printed_quantile_is_as_fine_as_its_cell_and_holds_it() -> None:
    # 150000/1024 = 146.484375; the 158th cell is 22998.046875 to 23144.53125.
    narrow = quantile(157, high=Fraction(150_000), cells=1024, comparisons=10)
    assert str(narrow).startswith("23071 (cell 22998 to 23145; rank within ")
    assert str(grouped([narrow])).splitlines()[3].split()[1:5] == ["23071", "22998", "to", "23145"]
    # Edges that are whole numbers print as they are, however wide the cell.
    wide = quantile(2, low=Fraction(7), high=Fraction(40_007), cells=4)
    assert str(wide).startswith("25007 (cell 20007 to 30007; ")


@given(
    st.fractions(-(10**6), 10**6, max_denominator=99),
    st.fractions(Fraction(1, 10**6), 10**6, max_denominator=10**6),
    st.integers(0, 7),
)
@settings(max_examples=60, deadline=None)
def test_a_printed_cell_holds_the_cell_and_is_hardly_wider(
    low: Fraction, width: Fraction, cell: int
) -> None:
    answer = quantile(cell, low=low, high=low + width)
    value, rest = str(answer).split(" (cell ", 1)
    ends = [Fraction(end) for end in rest.split(";")[0].split(" to ")]
    edges, size = answer.cell_bounds, width / 8
    assert ends[0] <= edges[0] < edges[1] <= ends[1]
    assert ends[1] - ends[0] <= size * Fraction(102, 100)
    assert abs(Fraction(value) - answer.value) <= size / 200


@given(st.integers(1, 40), st.sampled_from([COUNT, ENDLESS, FAR]))
@settings(deadline=None)
def test_printed_ranks_are_whole_rows_upward(whole: int, mechanism: Any) -> None:
    answer = quantile(q=Fraction(1, whole + 1), mechanism=mechanism)
    shown = str(answer).split("within ± ")[1]
    assert int(shown.split(" ")[0]) == math.ceil(answer.rank_error())
    if mechanism is ENDLESS:
        assert "no largest error" in shown
    else:
        assert int(shown.split("± ")[1].split(" ")[0]) == math.ceil(answer.bound)
    _, _, *cell, _, usual, _, _, always = (
        str(grouped([answer])).splitlines()[3].replace("–", "± – rows").split()[:-1]
    )
    assert (len(cell), int(usual)) == (3, math.ceil(answer.rank_error()))
    assert always == ("–" if mechanism is ENDLESS else str(math.ceil(answer.bound)))


def test_what_no_search_can_have_found_is_refused() -> None:
    for cell in (-1, 8):
        with pytest.raises(InvalidParameter, match="counted from 0"):
            quantile(cell)
    with pytest.raises(InvalidParameter, match="so many comparisons"):
        quantile(comparisons=2)
    with pytest.raises(InvalidParameter, match="a share above 0"):
        quantile(q=Fraction(1))
    with pytest.raises(InvalidParameter, match="a lower bound below"):
        quantile(high=Fraction(0))
    with pytest.raises(InvalidParameter, match="confidence must be"):
        quantile().rank_error(0)


# ------------------------------------------------------------------- tables


def test_a_table_is_indexed_by_its_keys() -> None:
    answers = [COUNT.release(i) for i in range(4)]
    table = grouped(answers, [("n", 1), ("n", 3), ("s", 1), ("s", 3)])
    assert table["n", 3] is answers[1]
    assert table["s", 1] is answers[2]
    assert len(table) == 4
    assert list(table) == list(zip(table.keys, answers, strict=True))
    single = grouped(answers[:2], ["n", "s"])
    assert single["s"] is answers[1]
    assert list(single) == [("n", answers[0]), ("s", answers[1])]
    assert "s" in single
    for missing in ("x", 1, None, ("n", "s"), ["n"]):
        assert missing not in single
        with pytest.raises(InvalidParameter, match="one of the 2 groups of this table, by a; got"):
            single[missing]
    truths = grouped(answers[:2], [False, True])
    assert truths[True] is answers[1]
    assert 1 not in truths


def test_keys_must_rise_be_of_one_type_and_fit() -> None:
    answers = [Answer(1, COUNT), Answer(2, COUNT)]
    for keys in (["s", "n"], ["n", "n"]):
        with pytest.raises(InvalidParameter, match="keys must rise"):
            grouped(answers, keys)
    ranges = ["[5, 10)", "[10, 20]"]
    assert [key for key, _ in grouped(answers, ranges, in_order=False)] == ranges
    with pytest.raises(InvalidParameter, match="got one twice"):
        grouped(answers, ["n", "n"], in_order=False)
    for wrong in ([1, "n"], [False, 2], [0.5, 1.5], [None, None]):
        with pytest.raises(InvalidParameter, match="must all be whole numbers, texts"):
            grouped(answers, wrong)
    with pytest.raises(InvalidParameter, match="surrogate"):
        grouped(answers, ["n", "\ud800"])
    with pytest.raises(InvalidParameter, match="a value for each column"):
        grouped(answers, ["n"])
    with pytest.raises(InvalidParameter, match="a value for each column"):
        grouped(answers, ["n", ("s", 1)])
    with pytest.raises(InvalidParameter, match="different names"):
        grouped(answers, [(1, 1), (1, 2)], names=("a", "a"))
    with pytest.raises(InvalidParameter, match="got Answer and MeanAnswer"):
        grouped([answers[0], mean(3, 1)])


def test_a_table_prints_its_first_rows_aligned() -> None:
    table = grouped([Answer(10**i, COUNT) for i in range(3)], ["n", "north", "東京"])
    assert str(table).splitlines() == [
        "count by region",
        "",
        "a      value       95 %  always",
        "n          1    -1 to 3     ± 2",
        "north     10    8 to 12     ± 2",
        "東京     100  98 to 102     ± 2",
        "",
        "(ε, δ) = (1, 0.000001) for one unit, of all of it together; recorded nowhere",
    ]
    assert repr(table) == f"GroupedAnswers('count by region', 3 groups, {PROMISE!r})"


def test_of_many_groups_twenty_are_printed() -> None:
    table = grouped([Answer(i, COUNT) for i in range(1000)])
    lines = str(table).splitlines()
    assert len([line for line in lines if line.endswith("± 2")]) == 20
    assert "… and 980 more" in lines
    assert "… and 980 more" in table._repr_html_()
    assert "more" not in str(grouped([Answer(i, COUNT) for i in range(20)]))
    assert "no group" in str(grouped([]))


def test_a_printed_table_of_reals_is_honest() -> None:
    answers = [REAL.release(value) for value in (0.123, 7777.5, -3)]
    for line, answer in zip(str(grouped(answers)).splitlines()[3:], answers, strict=False):
        value, low, high, always = line.replace(" to ", " ").replace("± ", "").split()[1:]
        ends, bound = answer.interval(), answer.bound
        assert isinstance(bound, Fraction)
        assert Fraction(low) <= ends[0] <= ends[1] <= Fraction(high)
        assert abs(Fraction(value) - answer.value) + bound <= Fraction(always)


def test_a_table_of_means_says_how_many_rows_counted() -> None:
    lines = str(grouped([mean(30, 12), mean(-1, 5)])).splitlines()
    assert lines[2].split() == ["a", "value", "95", "%", "always", "rows"]
    assert [line.split()[-1] for line in lines[3:5]] == ["30", "-1"]


def test_discovered_groups_are_said_not_to_be_all() -> None:
    note = (
        "groups were discovered: small ones are missing, so these do not add up to all; one that "
        "chance made large is shown, and may lie outside of its 95 %, never outside of always"
    )
    found = grouped([Answer(5, COUNT)], discovered=True)
    assert str(found).splitlines()[-1] == note
    assert note in found._repr_html_()
    for table in (grouped([Answer(5, COUNT)]), grouped([], discovered=True)):
        assert "discovered" not in str(table) + table._repr_html_()


def test_keys_whose_ends_cannot_be_seen_are_in_quotes() -> None:
    keys = ["", " ", " a", "a", "a ", "b c", '"a "', "é"]
    table = grouped([Answer(1, COUNT)] * len(keys), keys, in_order=False)
    shown = ['""', '" "', '" a"', "a", '"a "', "b c", '""a ""', "é"]
    lines = str(table).splitlines()[3 : 3 + len(keys)]
    longest = max(map(len, shown))
    assert [line[:longest].rstrip() for line in lines] == shown
    assert "&quot; a&quot;</td>" in table._repr_html_()


def test_figures_of_html_stand_to_the_right_and_keys_to_the_left() -> None:
    page = grouped([mean(30, 12)] * 2, [("n", 1), ("s", 2)])._repr_html_()
    rows = [re.findall(r"text-align:(\w+)", row) for row in page.split("<tr>")[1:]]
    assert rows == [["left", "left", "right", "right", "right", "right"]] * 3


def test_nothing_in_a_key_moves_the_cursor_or_is_markup() -> None:
    names = ("<b>a</b>",)
    keys = ["<script>x</script>", "red\x1b[31m\r\n\u202e", "x" * 100]
    table = grouped([Answer(1, COUNT)] * 3, keys, names=names, title="<i>of</i> & all")
    page = table._repr_html_()
    for raw in ("<script", "<b>", "<i>", "\x1b", "\u202e"):
        assert raw not in page
    assert "&lt;script&gt;" in page
    assert "&lt;b&gt;" in page
    assert "&lt;i&gt;of" in page
    text = str(table)
    assert r"red\x1b[31m\r\n\u202e" in text
    assert "\x1b" not in text
    assert "x" * 39 + "…" in text


def test_a_table_says_where_it_is_recorded_and_what_is_left(tmp_path: Path) -> None:
    ledger = ln.Ledger(tmp_path / "a.ledger", limit=ln.Privacy(1, "1/2"))
    first = COUNT.release(5, ledger=ledger, key="k")
    again = COUNT.release(5, ledger=ledger, key="k")
    assert first.receipt is not None
    day = first.receipt.at[:10]
    left = "left in the ledger: (ε, δ) = (1, 0.25)"
    for answer, word in ((first, "recorded"), (again, "stored")):
        last = str(grouped([answer], receipt=answer.receipt)).splitlines()[-1]
        assert last.endswith(f"{word} on {day}, {left}")


def test_a_table_whose_answers_may_be_exact_says_so() -> None:
    exact = ln.calibrate(ln.Privacy(delta="0.9"), sensitivity=2, integer=True)
    assert exact.needs_allowance
    table = grouped([exact.release(3, allow_exact=True)])
    assert "left exactly with probability" in str(table)
    assert "the exact count left with probability" in str(mean(3, 1, count=Answer(3, exact)))
    assert "left exactly" not in str(grouped([Answer(3, COUNT)]))


# ------------------------------------------------------------------- exports

KEYS = [("n", 1, False), ("s", 2, True), ('ü, "x"\n\ry', 3, True)]
FRAMES: list[Callable[[GroupedAnswers], list[dict[str, Any]]]] = [
    lambda table: table.to_arrow().to_pylist(),
    lambda table: table.to_pandas().to_dict("records"),
    lambda table: table.to_polars().to_dicts(),
]


@pytest.mark.parametrize("read", FRAMES, ids=["arrow", "pandas", "polars"])
def test_whole_numbers_are_exported_exactly(read: Any) -> None:
    table = grouped([Answer(i, COUNT) for i in (-7, 0, 2**53 + 1)], KEYS)
    wanted = [
        dict(zip("abc", key, strict=True)) | {"value": i, "low": i - 2, "high": i + 2, "bound": 2}
        for key, i in zip(KEYS, (-7, 0, 2**53 + 1), strict=True)
    ]
    assert read(table) == wanted == table.rows()


@pytest.mark.parametrize("read", FRAMES, ids=["arrow", "pandas", "polars"])
def test_numbers_beyond_64_bits_stay_exact(read: Any) -> None:
    table = grouped([Answer(2**63, WIDE), Answer(-(2**70), WIDE)])
    assert [int(row["value"]) for row in read(table)] == [2**63, -(2**70)]
    reach = int(WIDE.drawn.radius)
    assert [int(row["bound"]) for row in read(table)] == [reach, reach]
    assert read(grouped([Answer(1, COUNT)], [2**80]))[0]["a"] == 2**80
    with pytest.raises(Unsupported, match="at most 38 digits"):
        read(grouped([Answer(1, BEYOND)]))


@pytest.mark.parametrize("read", FRAMES, ids=["arrow", "pandas", "polars"])
@pytest.mark.parametrize("mechanism", [REAL, TENTHS], ids=["binary", "tenths"])
def test_what_is_exported_of_reals_holds_of_the_floats(read: Any, mechanism: Any) -> None:
    answers = [mechanism.release(value) for value in (0.1, 1e6 / 3, -5)]
    rows = read(grouped(answers))
    for row, answer in zip(rows, answers, strict=True):
        low, high = answer.interval()
        assert row["value"] == float(answer)
        assert Fraction(row["low"]) <= low <= high <= Fraction(row["high"])
        assert Fraction(row["bound"]) >= answer.bound + abs(Fraction(row["value"]) - answer.value)
        assert row["bound"] == pytest.approx(float(answer.bound), rel=1e-6)
        assert row["low"] == pytest.approx(float(low))
        assert row["high"] == pytest.approx(float(high))


@pytest.mark.parametrize("mechanisms", [(COUNT, SUM), (COUNT, REAL), (ENDLESS, SUM)])
def test_means_are_exported_with_both_parts(mechanisms: tuple[Any, Any]) -> None:
    count, total = mechanisms
    means = [
        mean(0, 0, count=Answer(n, count), sum=Answer(s, total))
        for n, s in ((30, 12), (0, 5), (3, -400), (17, 1), (50, 170))
    ]
    for row, exact, one in zip(
        grouped(means).to_arrow().to_pylist(), grouped(means).rows(), means, strict=True
    ):
        low, high = one.interval()
        expected = {"a": exact["a"], "value": one.value, "low": low, "high": high}
        assert exact == expected | {
            "bound": one.bound,
            "count": one.count.index,
            "sum_from_middle": one.sum.value,
            "middle": MIDDLE,
        }
        assert row["value"] == float(one)
        assert Fraction(row["low"]) <= low <= high <= Fraction(row["high"])
        assert Fraction(row["bound"]) >= one.bound + abs(Fraction(row["value"]) - one.value)
        assert row["bound"] == pytest.approx(float(one.bound))
        assert type(row["count"]) is int
        assert type(row["sum_from_middle"]) is (int if total.integer else float)
        assert row["middle"] == 2.0


def test_quantiles_are_exported_with_their_cell_and_rank() -> None:
    table = grouped([quantile(3), quantile(0)])
    assert table.to_polars().rows() == [
        (0, 4.375, 3.75, 5.0, 1.0, 1.0),
        (1, 0.625, 0.0, 1.25, 1.0, 1.0),
    ]
    assert table.to_arrow().column_names == [
        *("a", "value", "cell_low", "cell_high", "rank_error", "bound"),
    ]


def test_a_cell_that_no_float_has_is_exported_outward() -> None:
    (row,) = grouped([quantile(1, high=Fraction(1), cells=3)]).to_arrow().to_pylist()
    assert (
        Fraction(row["cell_low"]) < Fraction(1, 3) < Fraction(row["cell_low"]) + Fraction(1, 9**9)
    )
    assert (
        Fraction(row["cell_high"]) - Fraction(1, 9**9) < Fraction(2, 3) < Fraction(row["cell_high"])
    )


@pytest.mark.parametrize(
    ("answer", "of"),
    [
        (Answer(5, COUNT), ["low", "high"]),
        (mean(30, 12), ["low", "high"]),
        (quantile(), ["rank_error"]),
    ],
    ids=["numbers", "means", "quantiles"],
)
def test_a_json_says_of_which_columns_its_confidence_is(
    answer: Any, of: list[str], tmp_path: Path
) -> None:
    written = json.loads(grouped([answer]).to_json(tmp_path / "a.json").read_text())
    assert (written["confidence"], written["confidence_of"]) == ("0.95", of)
    assert set(of) <= set(written["rows"][0])


def test_an_infinite_bound_is_null() -> None:
    table = grouped([Answer(5, ENDLESS)])
    assert table.rows()[0]["bound"] is None
    assert table.to_arrow().to_pylist()[0]["bound"] is None
    assert table.to_polars()["bound"].to_list() == [None]
    assert bool(table.to_pandas()["bound"].isna().all())
    laplace = ln.calibrate(ln.Privacy(1), sensitivity=1, family="laplace")
    assert grouped([laplace.release(0.5)]).to_arrow().to_pylist()[0]["bound"] is None


def test_dates_and_empty_tables_are_exported(tmp_path: Path) -> None:
    day = date(2024, 2, 29)
    table = grouped([Answer(5, COUNT)], [day])
    assert table.to_arrow().to_pylist()[0]["a"] == day
    assert table.to_polars()["a"].to_list() == [day]
    assert table.to_pandas()["a"][0] == pd.Timestamp(day)
    lines = table.to_csv(tmp_path / "a.csv").read_bytes()
    assert lines == b"a,value,low,high,bound\r\n2024-02-29,5,3,7,2\r\n"
    empty = grouped([])
    names = ["a", "value", "low", "high", "bound"]
    assert empty.to_arrow().column_names == list(empty.to_pandas()) == empty.to_polars().columns
    assert empty.to_arrow().column_names == names
    assert json.loads(empty.to_json(tmp_path / "a.json").read_text())["rows"] == []
    assert empty.to_csv(tmp_path / "b.csv").read_bytes().decode() == ",".join(names) + "\r\n"


def test_a_column_that_is_called_like_a_figure_gets_another_name() -> None:
    figures = ("value", "low")
    assert key_names(["value", "a"], figures) == ["value_key", "a"]
    assert key_names(["value", "value_key"], figures) == ["value_key_key", "value_key"]
    assert key_names(["LOW"], figures) == ["LOW_key"]
    table = grouped([Answer(1, COUNT)], ["n"], names=("value",))
    assert table.rows() == [{"value_key": "n", "value": 1, "low": -1, "high": 3, "bound": 2}]
    assert table.to_arrow().column_names[:2] == ["value_key", "value"]


def test_files_are_read_back_as_they_were(tmp_path: Path) -> None:
    table = grouped([Answer(i, COUNT) for i in (1, 2**70, 3)], KEYS, title="ü")
    rows = table.rows()
    path = table.to_parquet(tmp_path / "a.parquet")
    assert [{**row, "value": int(row["value"])} for row in pq.read_table(path).to_pylist()] == rows
    about = json.loads(pq.read_schema(path).metadata[b"leastnoise"])
    written = json.loads(table.to_json(tmp_path / "a.json").read_text("utf-8"))
    assert written.pop("rows") == rows
    assert written == about
    assert about["privacy"] == {"epsilon": "1", "delta": "1/1000000"}
    assert about["recorded"] is None
    with table.to_csv(tmp_path / "a.csv").open(encoding="utf-8", newline="") as file:
        read = list(csv.DictReader(file))
    texts = [{name: str(part) for name, part in row.items()} for row in rows]
    assert read == [row | {"c": row["c"].lower()} for row in texts]
    assert sorted(os.listdir(tmp_path)) == ["a.csv", "a.json", "a.parquet"]


def test_more_rows_than_are_written_at_once_make_one_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "_ROWS_AT_ONCE", 3)
    for many in (3, 7, 9):
        table = grouped([Answer(i, COUNT) for i in range(many)])
        path = table.to_json(tmp_path / f"{many}.json")
        assert json.loads(path.read_text())["rows"] == table.rows()


@pytest.mark.parametrize("text", ["=1+1", "+1", "-x", "@x", "\tx", "\rx", "\nx"])
def test_texts_that_spreadsheets_run_are_refused_in_csv_and_never_changed(
    text: str, tmp_path: Path
) -> None:
    table = grouped([Answer(1, COUNT)], [text])
    path = tmp_path / "a.csv"
    with pytest.raises(InvalidParameter, match="which spreadsheets run as formulas"):
        table.to_csv(path)
    assert not path.exists()
    with table.to_csv(path, formulas=True).open(newline="", encoding="utf-8") as file:
        assert next(csv.DictReader(file))["a"] == text
    with pytest.raises(InvalidParameter, match="which spreadsheets run as formulas"):
        grouped([Answer(1, COUNT)], names=(text,)).to_csv(path, overwrite=True)
    grouped([Answer(-1, COUNT)], [-1]).to_csv(path, overwrite=True)  # numbers are no formulas


WRITERS = [GroupedAnswers.to_csv, GroupedAnswers.to_parquet, GroupedAnswers.to_json]


@pytest.mark.parametrize("write", WRITERS, ids=["csv", "parquet", "json"])
def test_files_are_not_written_over_unless_asked(write: Any, tmp_path: Path) -> None:
    table, path = grouped([Answer(1, COUNT)]), tmp_path / "a"
    path.write_text("mine")
    with pytest.raises(InvalidParameter, match="must not be written over another file"):
        write(table, path)
    assert path.read_text() == "mine"
    assert write(table, str(path), overwrite=True) == path
    assert path.read_bytes() != b"mine"
    dangling = tmp_path / "link"
    dangling.symlink_to(tmp_path / "nowhere")
    with pytest.raises(InvalidParameter, match="must not be written over another file"):
        write(table, dangling)
    for wrong in (tmp_path / "no" / "a", path / "a"):
        with pytest.raises(InvalidParameter, match="where files can be"):
            write(table, wrong)
    with pytest.raises(InvalidParameter, match="where files can be"):
        write(table, tmp_path, overwrite=True)
    with pytest.raises(InvalidParameter, match="a text or a Path"):
        write(table, 3)
    assert sorted(os.listdir(tmp_path)) == ["a", "link"]


def test_a_ledger_and_a_witness_are_never_written_over(tmp_path: Path) -> None:
    place = tmp_path / "a.ledger"
    ledger = ln.Ledger(place, limit=ln.Privacy(1, "1/2"))
    receipt = COUNT.release(5, ledger=ledger, key="k").receipt
    assert receipt is not None
    witness, beside = tmp_path / "witness", tmp_path / "a.ledger-wal"
    witness.write_text(f"{receipt.head} {receipt.at}\n")
    before = {file: file.read_bytes() for file in (place, witness)}
    table = grouped([Answer(1, COUNT)])
    for file in (place, witness, beside):
        with pytest.raises(InvalidParameter, match="must not be written over a ledger"):
            table.to_csv(file, overwrite=True)
    assert {file: file.read_bytes() for file in (place, witness)} == before


def test_a_file_that_fails_midway_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("mine")

    def fails(file: Any) -> None:
        file.write(b"half")
        raise OSError("no room")

    with pytest.raises(InvalidParameter, match=r"could not \(OSError\)"):
        import_module("leastnoise.files").write_table(path, fails, overwrite=True)
    assert path.read_text() == "mine"
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("library", ["pyarrow", "pandas", "polars"])
def test_a_library_that_is_missing_is_named(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(exporting, "import_module", missing)
    call = {"pyarrow": "to_arrow", "pandas": "to_pandas", "polars": "to_polars"}[library]
    with pytest.raises(Unsupported, match=f"needs {library}, which is not installed"):
        getattr(grouped([Answer(1, COUNT)]), call)()


@given(st.integers(-(10**40), 10**40), st.integers(1, 10**30))
def test_floats_are_rounded_to_the_side_they_should(upper: int, lower: int) -> None:
    exact = Fraction(upper, lower)
    below, near, above = (way(upper, lower) for way in (float_below, float_near, float_above))
    assert Fraction(below) <= exact <= Fraction(above)
    assert near in (below, above)
    assert below == above or math.nextafter(below, math.inf) == above
    with pytest.raises(Unsupported, match="within the range of floats"):
        float_near(10**400, 1)
