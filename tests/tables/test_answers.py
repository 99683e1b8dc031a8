"""The answers of tables: what they say is true, prints honestly, and is exported as it is."""

import csv
import json
import math
import os
import re
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
from leastnoise.mechanism import Answer, PermuteAndFlip
from leastnoise.tables import GroupedAnswers, IntervalQuantileAnswer, MeanAnswer, QuantileAnswer
from leastnoise.tables.answers import Subject, document
from leastnoise.tables.answers import export as exporting
from leastnoise.tables.answers.export import key_names
from leastnoise.tables.bounding import Bins
from leastnoise.tables.rounding import float_above, float_below, float_near

pd: Any = import_module("pandas")
pl: Any = import_module("polars")
pa: Any = import_module("pyarrow")
pq: Any = import_module("pyarrow.parquet")

GUARANTEE = ln.Privacy(1, "1e-6")
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
        "privacy": GUARANTEE,
    }
    return MeanAnswer(**(parts | changes))


def quantile(
    place: int = 3,
    /,
    low: int | Fraction = 0,
    high: int | Fraction = 10,
    bins: int = 8,
    *,
    integer: bool = False,
    **changes: Any,
) -> QuantileAnswer:
    """Return the answer that was selected: one of so many bins."""
    parts: dict[str, Any] = {
        "grid": Bins(Fraction(low), Fraction(high), bins, integer),
        "q": HALF,
        "mechanism": PermuteAndFlip(ln.Privacy(1), 1, bins),
        "privacy": ln.Privacy(1),
    }
    kind = IntervalQuantileAnswer if "ends" in changes else QuantileAnswer
    return kind(place, **(parts | changes))


def grouped(
    answers: list[Any], keys: list[Any] | None = None, **changes: Any
) -> GroupedAnswers[Any]:
    """Return a table by one column, or by as many as a key has parts."""
    read = [key if isinstance(key, tuple) else (key,) for key in keys or range(len(answers))]
    names = tuple("abc"[: len(read[0])] if read else "a")
    parts: dict[str, Any] = {
        "names": names,
        "keys": tuple(read),
        "answers": tuple(answers),
        "title": "count by region",
        "privacy": GUARANTEE,
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
    distribution = mechanism.discretized.noise
    return max(index for index in range(100) if distribution.weight(index))


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
    assert all(abs(one - answer.value) <= answer.max_error for one in means)
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
    assert answer.max_error == max(answer.value - low, high - answer.value)


@pytest.mark.parametrize("confidence", ["0.5", "0.8", "0.95", "0.999"])
@pytest.mark.parametrize(("n", "s"), [(1, 0), (3, -15), (5, 20), (8, 3), (40, -150)])
def test_an_interval_holds_the_true_mean_as_often_as_it_says(
    confidence: str, n: int, s: int
) -> None:
    # Over all draws of both noises, exactly: nothing is sampled.
    truth, held = MIDDLE + Fraction(s, n), Fraction(0)
    first, second = COUNT.discretized.noise, SUM.discretized.noise
    for x in range(-largest_index(COUNT), largest_index(COUNT) + 1):
        for y in range(-largest_index(SUM), largest_index(SUM) + 1):
            low, high = mean(n + x, s + y).interval(confidence)
            if low <= truth <= high:
                held += Fraction(first.weight(x) * second.weight(y), first.total * second.total)
    assert held >= Fraction(confidence)


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
    step = REAL.discretized.step
    plain = middle + index * step / count if count > 0 else middle
    assert answer.value == min(max(plain, bounds[0]), bounds[1])
    assert float(answer) == float(answer.value)
    ends = answer.interval(0.9)
    assert bounds[0] <= ends[0] <= answer.value <= ends[1] <= bounds[1]


def test_released_means_hold_the_truth_within_their_bound() -> None:
    for _ in range(30):
        answer = mean(0, 0, count=COUNT.release(20), sum=REAL.release(13.7))
        truth = MIDDLE + Fraction(13.7) / 20
        assert abs(answer.value - truth) <= answer.max_error
        assert answer.interval(1)[0] <= truth <= answer.interval(1)[1]


def test_a_mean_with_unbounded_noise_has_no_maximum_error() -> None:
    for changes in ({"count": Answer(30, ENDLESS)}, {"sum": Answer(0, ENDLESS)}):
        answer = mean(30, 0, **changes)
        assert answer.max_error == math.inf
        assert [row["max_error"] for row in grouped([answer]).rows()] == [None]
        assert grouped([answer]).to_arrow().column("max_error").to_pylist() == [None]
        with pytest.raises(InvalidParameter, match="must be below 1 for unbounded noise"):
            answer.interval(1)
        assert ", no max error" in str(answer)


def test_a_mean_prints_what_is_known_of_it() -> None:
    answer = mean(30, 12)
    first, errors, guarantee = str(answer).splitlines()
    value = first.removeprefix("mean: ")
    interval, rows, max_error = errors.split(", ")
    low, high = interval.removeprefix("95% interval ").split(" to ")
    always = max_error.removeprefix("max error ")
    ends = answer.interval()
    assert Fraction(low) <= ends[0] <= ends[1] <= Fraction(high)
    assert abs(Fraction(value) - answer.value) + answer.max_error <= Fraction(always)
    assert Fraction(high) - Fraction(low) < (ends[1] - ends[0]) * Fraction(101, 100)
    assert rows == "about 30 rows"
    assert guarantee == "ε = 1, δ = 1e-6 per row; not recorded"
    assert ", about 1 row, " in str(mean(1, 0))
    assert ", about -2 rows, " in str(mean(-2, 0))
    assert "about 30 with a value<" in answer._repr_html_()
    assert (
        repr(answer)
        == f"<mean: {value} ({interval.removeprefix('95% interval ')}, 95%), ε = 1, δ = 1e-6>"
    )
    assert value in answer._repr_html_()


def test_wrong_parts_of_a_mean_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="must be between its bounds"):
        mean(3, 0, middle=Fraction(8))
    with pytest.raises(InvalidParameter, match="must be between its bounds"):
        mean(3, 0, bounds=(Fraction(7), Fraction(-3)))
    with pytest.raises(InvalidParameter, match="must be an integer"):
        mean(3, 0, count=Answer(3, REAL))
    for wrong in (0, -1, 2, "x"):
        with pytest.raises(InvalidParameter, match="confidence must be"):
            mean(3, 0).interval(wrong)


# ------------------------------------------------------------------- quantiles

# Of 8 bins at ε = 1 and Δ = 1 half row, the bound 1 − (1 − (1 − p)⁸)/(8p) is 0.062 at 8 half rows,
# p = e⁻⁴, and 0.038 at 9 half rows: so errors up to 8 half rows have 95%.
USUAL_ERROR = Fraction(4)


def test_a_quantile_prints_what_is_known_of_it() -> None:
    answer = quantile(3)
    assert answer.value == Fraction(35, 8)
    assert float(answer) == 4.375
    assert answer.rank_error() == USUAL_ERROR
    assert answer.max_error == math.inf
    assert str(answer).splitlines() == [
        "quantile: bin 3.75 to 5",
        "rank error at most 4 rows (95% confidence), no max error",
        "ε = 1, δ = 0 per row; not recorded",
    ]
    assert "3.75 to 5" in answer._repr_html_()
    assert "4.38" not in answer._repr_html_()  # the middle of a bin is no estimate
    assert repr(answer) == "<quantile: 3.75 to 5, ± 4 rows (95%), ε = 1>"


def test_a_quantile_with_an_interval_prints_it() -> None:
    answer = quantile(3, ends=(2, 5), confidence=Fraction(9, 10))
    assert answer.interval() == answer.interval("0.9") == (Fraction(5, 2), Fraction(15, 2))
    for text in (str(answer), answer._repr_html_(), str(grouped([answer]))):
        assert "2.5 to 7.5" in text
    assert "90% interval 2.5 to 7.5, rank error at most 4 rows" in str(answer)
    with pytest.raises(InvalidParameter, match=r"that of the query, 0\.9, got 0\.95\. Omit it"):
        answer.interval(0.95)
    with pytest.raises(InvalidParameter, match="must be bins around 3"):
        quantile(3, ends=(4, 5))


def test_a_printed_quantile_is_as_fine_as_its_bin_and_holds_it() -> None:
    # 150000/1024 = 146.484375; the 158th bin is 22998.046875 to 23144.53125.
    narrow = quantile(157, high=150_000, bins=1024)
    assert "quantile: bin 22998 to 23145" in str(narrow)
    assert str(grouped([narrow])).splitlines()[3].split()[1:4] == ["22998", "to", "23145"]
    # Edges that are integers print as they are, however wide the bin.
    assert "quantile: bin 20007 to 30007" in str(quantile(2, low=7, high=40_007, bins=4))
    # Integers print with the last one of the bin; one alone, by itself.
    assert "quantile: bin 20007 to 30006" in str(quantile(2, 7, 40_007, 4, integer=True))
    assert str(quantile(2, 7, 10, 4, integer=True)).startswith("quantile: 9")
    assert quantile(2, 7, 10, 4, integer=True).value == 9


@given(
    st.fractions(-(10**6), 10**6, max_denominator=99),
    st.fractions(Fraction(1, 10**6), 10**6, max_denominator=10**6),
    st.integers(0, 7),
)
@settings(max_examples=60, deadline=None)
def test_a_printed_bin_holds_the_bin_and_is_hardly_wider(
    low: Fraction, width: Fraction, place: int
) -> None:
    answer = quantile(place, low=low, high=low + width)
    found = re.match(r"quantile: bin (\S+) to ([\d.-]+)", str(answer))
    assert found
    ends = [*map(Fraction, found.groups())]
    edges, size = answer.bin_bounds, width / 8
    assert ends[0] <= edges[0] < edges[1] <= ends[1]
    assert ends[1] - ends[0] <= size * Fraction(102, 100)


@given(st.integers(1, 40), st.integers(2, 200))
@settings(max_examples=40, deadline=None)
def test_printed_ranks_are_whole_rows_upward(whole: int, bins: int) -> None:
    answer = quantile(1, bins=bins, q=Fraction(1, whole + 1))
    rows = f"{math.ceil(answer.rank_error())} rows"
    assert f"rank error at most {rows} (95% confidence), no max error" in str(answer)
    table = str(grouped([answer], privacy=ln.Privacy(1))).splitlines()
    assert table[3].endswith(rows)
    assert "Max error  none (any bin can be selected)" in table


def test_what_no_selection_can_have_found_is_refused() -> None:
    for place in (-1, 8):
        with pytest.raises(InvalidParameter, match="bin must be an integer from 0 to 7"):
            quantile(place)
    with pytest.raises(InvalidParameter, match="8 bins and 9 candidates"):
        quantile(mechanism=PermuteAndFlip(ln.Privacy(1), 1, 9))
    with pytest.raises(InvalidParameter, match="q between 0 and 1"):
        quantile(q=Fraction(1))
    with pytest.raises(InvalidParameter, match="The lower bound must be below"):
        quantile(high=0)
    for confidence in (0, 1):
        with pytest.raises(InvalidParameter, match="confidence must be"):
            quantile().rank_error(confidence)


# ------------------------------------------------------------------- tables


def test_a_table_is_indexed_by_its_keys() -> None:
    answers: list[Any] = [COUNT.release(i) for i in range(4)]
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
        with pytest.raises(InvalidParameter, match=r"^This table has no group .* by a\. "):
            single[missing]
    truths = grouped(answers[:2], [False, True])
    assert truths[True] is answers[1]
    assert 1 not in truths


def test_keys_must_rise_be_of_one_type_and_fit() -> None:
    answers = [Answer(1, COUNT), Answer(2, COUNT)]
    for keys in (["s", "n"], ["n", "n"]):
        with pytest.raises(InvalidParameter, match="keys must be sorted"):
            grouped(answers, keys)
    ranges = ["[5, 10)", "[10, 20]"]
    assert [key for key, _ in grouped(answers, ranges, in_order=False)] == ranges
    with pytest.raises(InvalidParameter, match="got a key twice"):
        grouped(answers, ["n", "n"], in_order=False)
    for wrong in ([1, "n"], [False, 2], [0.5, 1.5], [None, None]):
        with pytest.raises(InvalidParameter, match="must all be integers, strings"):
            grouped(answers, wrong)
    with pytest.raises(InvalidParameter, match="surrogate"):
        grouped(answers, ["n", "\ud800"])
    with pytest.raises(InvalidParameter, match="a value for each column"):
        grouped(answers, ["n"])
    with pytest.raises(InvalidParameter, match="a value for each column"):
        grouped(answers, ["n", ("s", 1)])
    with pytest.raises(InvalidParameter, match="names must be different columns"):
        grouped(answers, [(1, 1), (1, 2)], names=("a", "a"))
    with pytest.raises(InvalidParameter, match="got Answer and MeanAnswer"):
        grouped([answers[0], mean(3, 1)])


def test_a_table_prints_its_first_rows_aligned() -> None:
    table = grouped([Answer(10**i, COUNT) for i in range(3)], ["n", "north", "東京"])
    assert str(table).splitlines() == [
        "count by region",
        "",
        "a      value  95% interval",
        "n          1  -1 to 3",
        "north     10  8 to 12",
        "東京     100  98 to 102",
        "",
        "Max error  2 in every row",
        "Guarantee  ε = 1, δ = 1e-6 per row, for the whole table",
        "Budget     not recorded",
    ]
    assert repr(table) == "<count by region: 3 groups, ε = 1, δ = 1e-6>"


def test_of_many_groups_twenty_are_printed() -> None:
    table = grouped([Answer(i, COUNT) for i in range(1000)])
    lines = str(table).splitlines()
    assert len([line for line in lines if " to " in line]) == 20
    assert "… and 980 more" in lines
    assert "… and 980 more" in table._repr_html_()
    assert "more" not in str(grouped([Answer(i, COUNT) for i in range(20)]))
    assert "no group" in str(grouped([]))


def test_a_printed_table_of_reals_is_honest() -> None:
    answers = [REAL.release(value) for value in (0.123, 7777.5, -3)]
    lines = str(grouped(answers)).splitlines()
    (always,) = [line.split()[2] for line in lines if line.startswith("Max error  ")]
    for line, answer in zip(lines[3:], answers, strict=False):
        value, low, high = line.replace(" to ", " ").split()[1:]
        ends, bound = answer.interval(), answer.max_error
        assert isinstance(bound, Fraction)
        assert Fraction(low) <= ends[0] <= ends[1] <= Fraction(high)
        assert abs(Fraction(value) - answer.value) + bound <= Fraction(always)


def test_a_table_of_means_says_how_many_rows_counted() -> None:
    lines = str(grouped([mean(30, 12), mean(-1, 5)])).splitlines()
    assert lines[2].split() == ["a", "value", "95%", "interval", "rows", "max", "error"]
    assert [line.split()[-2] for line in lines[3:5]] == ["30", "-1"]
    unbounded = str(grouped([mean(30, 12, count=Answer(30, ENDLESS))])).splitlines()
    assert unbounded[2].split()[:5] == ["a", "value", "95%", "interval", "rows"]


def test_discovered_groups_are_said_not_to_be_all() -> None:
    note = (
        "Groups were discovered from the data. Small groups are hidden, so the rows need not add "
        "up to the total. A small group can appear by chance: its 95% interval may then miss the "
        "true value, but the max error still holds."
    )
    at_all = note.partition(" A small group")[0]
    unbounded = note.replace(", but the max error still holds", "")
    for found, expected in (
        (grouped([Answer(5, COUNT)], discovered=True), note),
        (grouped([mean(30, 12), mean(-1, 5)], discovered=True), note),
        (grouped([Answer(5, ENDLESS)], discovered=True), unbounded),
        (grouped([mean(30, 12, count=Answer(30, ENDLESS))], discovered=True), unbounded),
        (grouped([], discovered=True), at_all),
    ):
        assert " ".join(str(found).split()).endswith(f"Note {expected}")
        assert f"{expected}<" in found._repr_html_()
    subject = Subject(title="count by region", hidden_up_to=71)
    hidden = str(grouped([Answer(5, COUNT)], discovered=True, about=subject))
    assert "Groups with a noisy count of 71 or less are hidden" in " ".join(hidden.split())
    table = grouped([Answer(5, COUNT)])
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
    page, facts, _ = page.split("</table>")
    rows = [re.findall(r"text-align:(\w+)", row) for row in page.split("<tr>")[1:]]
    assert rows == [["left", "left", "right", "left", "right", "right"]] * 3
    assert "Guarantee" in facts


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
    budget = f"Budget     ε = 1, δ = 0.25 remain of ε = 1, δ = 0.5 (recorded {day})"
    table = grouped([first], receipt=first.receipt)
    assert budget in str(table).splitlines()
    assert str(table).startswith("count by region\n")
    assert f"Stored answer of {day}: nothing was charged. For another" in str(again)
    reused = grouped([again], receipt=again.receipt)
    assert str(reused).startswith("count by region\n")
    assert f"nothing charged: stored answer of {day} returned" in str(reused)
    assert "pass a new version= to protect()" in " ".join(str(reused).split())
    for answer in (again, reused):
        assert f"nothing charged: stored answer of {day}" in answer._repr_html_()
        assert "To draw new noise, pass fresh=True." in answer._repr_html_()


@pytest.mark.parametrize("again", [False, True])
def test_every_export_says_whether_a_stored_answer_was_returned(
    again: bool, tmp_path: Path
) -> None:
    ledger = ln.Ledger(tmp_path / "a.ledger", limit=ln.Privacy(1, "1/2"))
    for _ in range(1 + again):
        answer = COUNT.release(5, ledger=ledger, key="k")
    receipt = answer.receipt
    assert receipt is not None
    table = grouped([answer], receipt=receipt)
    day = date.fromisoformat(receipt.at[:10]) if again else None
    assert [row["reused"] for row in table.rows()] == [day]
    assert table.to_arrow().column("reused").to_pylist() == [day]
    assert table.to_polars()["reused"].to_list() == [day]
    assert [None if pd.isna(one) else one.date() for one in table.to_pandas()["reused"]] == [day]
    assert pq.read_table(table.to_parquet(tmp_path / "a.parquet"))["reused"].to_pylist() == [day]
    with table.to_csv(tmp_path / "a.csv").open(newline="", encoding="utf-8") as file:
        assert [row["reused"] for row in csv.DictReader(file)] == [str(day) if day else ""]
    written = json.loads(table.to_json(tmp_path / "a.json").read_text())
    assert written["reused"] == (receipt.at if again else None)
    assert (
        json.loads(table.to_arrow().schema.metadata[b"leastnoise"])["reused"] == written["reused"]
    )


def test_every_export_says_what_the_numbers_are_about(tmp_path: Path) -> None:
    subject = Subject(
        title="sum of income",
        unit="person",
        bounds=(Fraction(0), Fraction(10)),
        table="people.csv",
        version="2026-11",
        contributions="how much of a person counts",
        max_rows=2,
        max_groups=3,
        omitted=("rows without person",),
        notes=("A note.",),
    )
    table = grouped([Answer(5, COUNT)], about=subject, together=ln.Privacy(2))
    quantity = (
        "sum of income, clipped to [0, 10]; table: people.csv, version 2026-11; how much of a "
        "person counts; omitted: rows without person. A note."
    )
    assert table.rows()[0]["quantity"] == quantity
    with table.to_csv(tmp_path / "a.csv").open(newline="", encoding="utf-8") as file:
        assert next(csv.DictReader(file))["quantity"] == quantity
    for about in (
        json.loads(table.to_json(tmp_path / "a.json").read_text()),
        json.loads(table.to_arrow().schema.metadata[b"leastnoise"]),
    ):
        assert about["subject"] == {
            "quantity": "sum of income, clipped to [0, 10]",
            "table": "people.csv",
            "version": "2026-11",
            "unit": "person",
            "contributions": "how much of a person counts",
            "bounds": ["0", "10"],
            "max_rows": 2,
            "max_groups": 3,
            "omitted": ["rows without person"],
            "notes": ["A note."],
            "hidden_up_to": None,
        }
        assert about["total_privacy"] == {"epsilon": "2", "delta": "0"}


def test_a_table_whose_answers_may_be_exact_says_so() -> None:
    exact = ln.calibrate(ln.Privacy(delta="0.9"), sensitivity=2, integer=True)
    assert exact.needs_allow_exact
    table = grouped([exact.release(3, allow_exact=True)])
    assert "Exact      each number is exact with probability " in str(table)
    assert ", exact count with probability " in str(mean(3, 1, count=Answer(3, exact)))
    assert "xact " not in str(grouped([Answer(3, COUNT)]))


# ------------------------------------------------------------------- exports

# What is the same in every row.
SAME: dict[str, Any] = {"quantity": "count by region", "reused": None}

KEYS = [("n", 1, False), ("s", 2, True), ('ü, "x"\n\ry', 3, True)]
FRAMES: list[Callable[[GroupedAnswers[Any]], list[dict[str, Any]]]] = [
    lambda table: table.to_arrow().to_pylist(),
    lambda table: table.to_pandas().to_dict("records"),
    lambda table: table.to_polars().to_dicts(),
]


@pytest.mark.parametrize("read", FRAMES, ids=["arrow", "pandas", "polars"])
def test_whole_numbers_are_exported_exactly(read: Any) -> None:
    table = grouped([Answer(i, COUNT) for i in (-7, 0, 2**53 + 1)], KEYS)
    wanted = [
        dict(zip("abc", key, strict=True))
        | {"value": i, "low": i - 2, "high": i + 2, "max_error": 2}
        for key, i in zip(KEYS, (-7, 0, 2**53 + 1), strict=True)
    ]
    assert table.rows() == [row | SAME for row in wanted]
    figures = [{name: one for name, one in row.items() if name not in SAME} for row in read(table)]
    assert figures == wanted


@pytest.mark.parametrize("read", FRAMES, ids=["arrow", "pandas", "polars"])
def test_numbers_beyond_64_bits_stay_exact(read: Any) -> None:
    table = grouped([Answer(2**63, WIDE), Answer(-(2**70), WIDE)])
    assert [int(row["value"]) for row in read(table)] == [2**63, -(2**70)]
    reach = int(WIDE.discretized.radius)
    assert [int(row["max_error"]) for row in read(table)] == [reach, reach]
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
        assert Fraction(row["max_error"]) >= answer.max_error + abs(
            Fraction(row["value"]) - answer.value
        )
        assert row["max_error"] == pytest.approx(float(answer.max_error), rel=1e-6)
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
            "max_error": None if one.max_error == math.inf else one.max_error,
            "count": one.count.index,
            "sum_from_middle": one.sum.value,
            "middle": MIDDLE,
            **SAME,
        }
        assert row["value"] == float(one)
        assert Fraction(row["low"]) <= low <= high <= Fraction(row["high"])
        if one.max_error == math.inf:
            assert row["max_error"] is None
        else:
            assert Fraction(row["max_error"]) >= one.max_error + abs(
                Fraction(row["value"]) - one.value
            )
            assert row["max_error"] == pytest.approx(float(one.max_error))
        assert type(row["count"]) is int
        assert type(row["sum_from_middle"]) is (int if total.integer else float)
        assert row["middle"] == 2.0


def test_quantiles_are_exported_with_their_bin_and_rank() -> None:
    table = grouped([quantile(3), quantile(0)])
    assert table.to_polars().rows() == [
        (0, 4.375, 3.75, 5.0, 4.0, None, "count by region", None),
        (1, 0.625, 0.0, 1.25, 4.0, None, "count by region", None),
    ]
    names = ["a", "value", "bin_low", "bin_high", "rank_error", "max_error"]
    about = ["quantity", "reused"]
    assert table.to_arrow().column_names == [*names, *about]
    wide = grouped([quantile(3, ends=(2, 7)), quantile(0, ends=(0, 0))]).to_arrow()
    assert wide.column_names == [*names, "low", "high", *about]
    assert [wide[name].to_pylist() for name in ("low", "high")] == [[2.5, 0.0], [10.0, 1.25]]


def test_quantiles_of_integers_are_exported_as_integers() -> None:
    table = grouped([quantile(3, 0, 7, integer=True), quantile(0, 0, 7, integer=True)]).to_arrow()
    assert [table[name].to_pylist() for name in ("value", "bin_low")] == [[3, 0], [3, 0]]
    assert {str(table[name].type) for name in ("value", "bin_low", "bin_high")} == {"int64"}
    assert str(table["rank_error"].type) == "double"


def test_a_bin_that_no_float_has_is_exported_outward() -> None:
    (row,) = grouped([quantile(1, high=1, bins=3)]).to_arrow().to_pylist()
    assert Fraction(row["bin_low"]) < Fraction(1, 3) < Fraction(row["bin_low"]) + Fraction(1, 9**9)
    assert (
        Fraction(row["bin_high"]) - Fraction(1, 9**9) < Fraction(2, 3) < Fraction(row["bin_high"])
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
    assert table.rows()[0]["max_error"] is None
    assert table.to_arrow().to_pylist()[0]["max_error"] is None
    assert table.to_polars()["max_error"].to_list() == [None]
    assert bool(table.to_pandas()["max_error"].isna().all())
    laplace = ln.calibrate(ln.Privacy(1), sensitivity=1, family="laplace")
    assert grouped([laplace.release(0.5)]).to_arrow().to_pylist()[0]["max_error"] is None


def test_dates_and_empty_tables_are_exported(tmp_path: Path) -> None:
    day = date(2024, 2, 29)
    table = grouped([Answer(5, COUNT)], [day])
    assert table.to_arrow().to_pylist()[0]["a"] == day
    assert table.to_polars()["a"].to_list() == [day]
    assert table.to_pandas()["a"][0] == pd.Timestamp(day)
    lines = table.to_csv(tmp_path / "a.csv").read_bytes()
    assert lines == b"".join(
        [
            b"a,value,low,high,max_error,quantity,reused\r\n",
            b"2024-02-29,5,3,7,2,count by region,\r\n",
        ]
    )
    empty = grouped([])
    names = ["a", "value", "low", "high", "max_error", "quantity", "reused"]
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
    shared = {"value": 1, "low": -1, "high": 3, "max_error": 2} | SAME
    assert table.rows() == [{"value_key": "n"} | shared]
    constant = grouped([Answer(1, COUNT)], ["n"], names=("Reused",))
    assert constant.rows() == [{"Reused_key": "n"} | shared]
    assert table.to_arrow().column_names[:2] == ["value_key", "value"]


def test_files_are_read_back_as_they_were(tmp_path: Path) -> None:
    table = grouped([Answer(i, COUNT) for i in (1, 2**70, 3)], KEYS, title="ü")
    rows = table.rows()
    path = table.to_parquet(tmp_path / "a.parquet")
    assert [{**row, "value": int(row["value"])} for row in pq.read_table(path).to_pylist()] == rows
    about = json.loads(pq.read_schema(path).metadata[b"leastnoise"])
    written = json.loads(table.to_json(tmp_path / "a.json").read_text("utf-8"))
    kept = [{name: one for name, one in row.items() if name not in SAME} for row in rows]
    exact = [row.pop("exact") for row in written["rows"]]
    assert written.pop("rows") == kept
    assert exact == [
        {name: str(row[name]) for name in ("value", "low", "high", "max_error")} for row in rows
    ]
    assert written == about
    assert about["privacy"] == {"epsilon": "1", "delta": "1/1000000"}
    assert about["recorded"] is None
    with table.to_csv(tmp_path / "a.csv").open(encoding="utf-8", newline="") as file:
        read = list(csv.DictReader(file))
    texts = [
        {name: "" if part is None else str(part) for name, part in row.items()} for row in rows
    ]
    assert read == [row | {"c": row["c"].lower()} for row in texts]
    assert sorted(os.listdir(tmp_path)) == ["a.csv", "a.json", "a.parquet"]


def test_more_rows_than_are_written_at_once_make_one_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document, "_ROWS_AT_ONCE", 3)
    for many in (3, 7, 9):
        table = grouped([Answer(i, COUNT) for i in range(many)])
        path = table.to_json(tmp_path / f"{many}.json")
        written = json.loads(path.read_text())["rows"]
        assert all(row.pop("exact")["value"] == str(row["value"]) for row in written)
        assert [row | SAME for row in written] == table.rows()


@pytest.mark.parametrize("text", ["=1+1", "+1", "-x", "@x", "\tx", "\rx", "\nx"])
def test_texts_that_spreadsheets_run_are_refused_in_csv_and_never_changed(
    text: str, tmp_path: Path
) -> None:
    table = grouped([Answer(1, COUNT)], [text])
    path = tmp_path / "a.csv"
    with pytest.raises(InvalidParameter, match="because spreadsheets run them as formulas"):
        table.to_csv(path)
    assert not path.exists()
    with table.to_csv(path, formulas=True).open(newline="", encoding="utf-8") as file:
        assert next(csv.DictReader(file))["a"] == text
    with pytest.raises(InvalidParameter, match="because spreadsheets run them as formulas"):
        grouped([Answer(1, COUNT)], names=(text,)).to_csv(path, overwrite=True)
    grouped([Answer(-1, COUNT)], [-1]).to_csv(path, overwrite=True)  # numbers are no formulas


WRITERS = [GroupedAnswers.to_csv, GroupedAnswers.to_parquet, GroupedAnswers.to_json]


@pytest.mark.parametrize("write", WRITERS, ids=["csv", "parquet", "json"])
def test_files_are_not_written_over_unless_asked(write: Any, tmp_path: Path) -> None:
    table, path = grouped([Answer(1, COUNT)]), tmp_path / "a"
    path.write_text("mine")
    with pytest.raises(InvalidParameter, match="This file already exists"):
        write(table, path)
    assert path.read_text() == "mine"
    assert write(table, str(path), overwrite=True) == path
    assert path.read_bytes() != b"mine"
    dangling = tmp_path / "link"
    dangling.symlink_to(tmp_path / "nowhere")
    with pytest.raises(InvalidParameter, match="This file already exists"):
        write(table, dangling)
    for wrong in (tmp_path / "no" / "a", path / "a"):
        with pytest.raises(InvalidParameter, match="could not be written"):
            write(table, wrong)
    with pytest.raises(InvalidParameter, match="could not be written"):
        write(table, tmp_path, overwrite=True)
    with pytest.raises(InvalidParameter, match="a string or a Path"):
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
        with pytest.raises(InvalidParameter, match="must not overwrite a ledger"):
            table.to_csv(file, overwrite=True)
    assert {file: file.read_bytes() for file in (place, witness)} == before


def test_a_file_that_fails_midway_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("mine")

    def fails(file: Any) -> None:
        file.write(b"half")
        raise OSError("no room")

    with pytest.raises(InvalidParameter, match=r"could not be written \(OSError\)"):
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
