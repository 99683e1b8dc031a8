"""Quantiles: selected by rank errors, private, accurate, and covered by the interval they state.

Distributions are computed exactly (tests/support/selection_laws.py), so that little has to be
sampled.
"""

import json
import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import leastnoise as ln
from leastnoise.core.exact import decay, exponential
from leastnoise.errors import InvalidParameter
from leastnoise.mechanism import PermuteAndFlip
from leastnoise.tables import IntervalQuantileAnswer, ProtectedTable, Quantile, QuantileAnswer
from leastnoise.tables.bounding import Bins, Contribution
from leastnoise.tables.queries.plan import plan_query
from leastnoise.tables.queries.quantile import end_shift
from leastnoise.tables.queries.selecting import rank_errors
from tests.support.confidence_intervals import FALSE_ALARM
from tests.support.selection_laws import by_quadrature, by_subsets, exponential_mechanism

Counts = tuple[int, ...]
HALF = Fraction(1, 2)
SHARES = [HALF, Fraction(1, 3), Fraction(9, 10)]


def errors_of(counts: Counts, q: Fraction, shift: int = 0) -> list[int]:
    """Return the rank errors of bins by their definition: how far q·n is from their ranks.

    In units of 1/whole rows; with a shift, of the rank q·n − shift/whole.
    """
    part, whole = q.as_integer_ratio()
    wanted, last, found = part * sum(counts) - shift, len(counts) - 1, []
    for place in range(len(counts)):
        lower = -math.inf if place == 0 else whole * sum(counts[:place])
        upper = math.inf if place == last else whole * sum(counts[: place + 1])
        found.append(int(max(0, lower - wanted, wanted - upper)))
    return found


def ranks_of(counts: Counts, q: Fraction) -> Any:
    part, whole = q.as_integer_ratio()
    return np.array([whole * sum(counts[: i + 1]) - part * sum(counts) for i in range(len(counts))])


def law_of(errors: list[int], mechanism: PermuteAndFlip) -> list[Fraction]:
    """Return the distribution of a selection, less than 2⁻¹⁹⁰ off."""
    return by_subsets([decay(mechanism.selector.rate * error, 200).lower for error in errors])


def tiny_tables(rows: int, bins: int) -> list[Counts]:
    """Return how many rows each bin of a table can have, up to so many in all."""
    return [counts for counts in product(range(rows + 1), repeat=bins) if sum(counts) <= rows]


def neighbors(table: Counts, most: int, kind: str) -> Iterator[Counts]:
    """Yield the tables with up to ``most`` rows of one unit more in one bin, or replaced."""
    for place, more in product(range(len(table)), range(1, most + 1)):
        grown = (*table[:place], table[place] + more, *table[place + 1 :])
        yield grown
        if kind == "replace":
            for other, fewer in product(range(len(table)), range(1, most + 1)):
                if other != place and grown[other] >= fewer:
                    yield (*grown[:other], grown[other] - fewer, *grown[other + 1 :])


# ------------------------------------------------------------------- the errors, and the guarantee


@given(
    st.lists(st.integers(0, 9), min_size=2, max_size=9),
    st.fractions(Fraction(1, 10), Fraction(9, 10), max_denominator=10),
    st.integers(-60, 60),
)
@settings(deadline=None)
def test_rank_errors_are_what_they_say_and_one_is_zero(
    counts: list[int], q: Fraction, shift: int
) -> None:
    ranks = ranks_of(tuple(counts), q)[:-1]
    found = rank_errors(ranks + shift).tolist()
    assert found == errors_of(tuple(counts), q, shift)
    assert min(found) == 0
    huge = rank_errors(ranks.astype(object) + 10**30).tolist()
    assert huge == errors_of(tuple(counts), q, 10**30)


@pytest.mark.parametrize("kind", ["add_remove", "replace"])
@pytest.mark.parametrize("q", SHARES, ids=str)
def test_one_unit_changes_no_probability_by_more_than_the_guarantee(q: Fraction, kind: str) -> None:
    """All tables of up to 4 rows in 3 bins, their neighbors by 1 or 2 rows, and shifted ranks."""
    epsilon, slack = Fraction(1), Fraction(1, 1 << 180)
    grown = exponential(epsilon, 256).lower
    naive = 0
    for most, shift in ((1, 0), (2, 0), (1, 3)):
        sensitivity = Contribution(most, kind, 1, grouped=False).rank(*q.as_integer_ratio())
        mechanism = PermuteAndFlip(ln.Privacy(epsilon), sensitivity, 3)
        careless = PermuteAndFlip(ln.Privacy(epsilon), max(1, sensitivity // 2), 3)
        for table in tiny_tables(4, 3):
            one = law_of(errors_of(table, q, shift), mechanism)
            for other in neighbors(table, most, kind):
                two = law_of(errors_of(other, q, shift), mechanism)
                for a, b in zip(one, two, strict=True):
                    assert a <= grown * b + slack
                    assert b <= grown * a + slack
                if sensitivity > 1 and not naive:  # the control: half of the sensitivity
                    distributions = [
                        law_of(errors_of(each, q, shift), careless) for each in (table, other)
                    ]
                    pairs = list(zip(*distributions, strict=True))
                    naive += any(max(a, b) > grown * min(a, b) + slack for a, b in pairs)
    assert naive


# ------------------------------------------------------------------- the error that is stated


def exceeding(counts: Counts, q: Fraction, mechanism: PermuteAndFlip, error: int) -> float:
    """Return the exact probability that the rank error is larger."""
    errors = np.array(errors_of(counts, q))
    chances = np.exp(-float(mechanism.selector.rate) * errors)
    return float(np.array(by_quadrature(chances))[errors > error].sum())


@pytest.mark.parametrize("q", SHARES, ids=str)
def test_a_rank_error_holds_for_all_tables_and_no_smaller_one_does(q: Fraction) -> None:
    part, whole = q.as_integer_ratio()
    bins, sensitivity = 4, max(part, whole - part)
    mechanism = PermuteAndFlip(ln.Privacy(2), sensitivity, bins)
    for confidence in (Fraction(1, 2), Fraction(4, 5), Fraction(95, 100)):
        error = mechanism.error_bound(confidence)
        for table in tiny_tables(6, bins):
            assert exceeding(table, q, mechanism, error) <= 1 - confidence + 1e-12
        # A worst case: rows in the first bin and the last, so that all others have one error.
        first, rows = next(
            (first, rows)
            for rows in range(1, 4000)
            for first in range(rows + 1)
            if whole * first - part * rows == error
        )
        if error:
            worst = (first, *[0] * (bins - 2), rows - first)
            assert exceeding(worst, q, mechanism, error - 1) > 1 - confidence


@given(
    st.integers(1, 3000),
    st.fractions(Fraction(1, 100), Fraction(999, 1000)),
    st.integers(1, 9),
    st.sampled_from(["0.7", "30", "400", "1e9"]),
)
@settings(max_examples=60, deadline=None)
def test_the_stated_error_is_the_smallest_by_the_formula(
    bins: int, confidence: Fraction, sensitivity: int, epsilon: str
) -> None:
    mechanism = PermuteAndFlip(ln.Privacy(epsilon), sensitivity, bins)
    error = mechanism.error_bound(confidence)

    def bound(error: int) -> float:
        """Return E[b/(b + 1)] for b ~ Binomial(bins − 1, p), term by term."""
        b = np.arange(bins)
        chance = math.exp(-float(epsilon) * error / (2 * sensitivity))
        return float((stats.binom.pmf(b, bins - 1, chance) * b / (b + 1)).sum())

    assert bound(error + 1) <= 1 - confidence + 1e-9
    assert not error or bound(error) > 1 - confidence - 1e-9


def test_certainty_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="below 1, as any error is possible"):
        PermuteAndFlip(ln.Privacy(1), 1, 8).error_bound(1)


# ------------------------------------------------------------------- accuracy


def sample(name: str) -> list[float]:
    """Return 442 values between 0 and 400, always the same."""
    n = 442
    steps = [(i + 0.5) / n for i in range(n)]
    return {
        "normal": [NormalDist(150, 50).inv_cdf(u) for u in steps],
        "uniform": [400 * u for u in steps],
        "skewed": [400 * u**4 for u in steps],
        "rounded": [10.0 * round(NormalDist(15, 5).inv_cdf(u)) for u in steps],
        "two peaks": [100.0 + i % 7 if i % 2 else 300.0 + i % 5 for i in range(n)],
    }[name]


def mean_errors(values: list[float], q: Fraction, epsilon: float) -> tuple[float, dict[str, float]]:
    """Return the mean rank error in rows, exactly: of permute-and-flip, and of the textbook's.

    That is the exponential mechanism with the score −|below − q·n|, which is given the smallest
    sensitivity, max(q, 1 − q), and is measured by the rank error of its bin, which is never
    larger than its own score.
    """
    counts, _ = np.histogram(np.clip(values, 0, 400), bins=400, range=(0, 400))
    part, whole = q.as_integer_ratio()
    errors = np.array(errors_of(tuple(counts.tolist()), q))
    off = np.abs(whole * np.concatenate([[0], np.cumsum(counts)[:-1]]) - part * len(values))
    rate = epsilon / (2 * max(part, whole - part))
    textbook = {"|below − q·n|": off, "the same errors": errors}
    return float(np.array(by_quadrature(np.exp(-rate * errors))) @ errors / whole), {
        name: float(np.array(exponential_mechanism(list(np.exp(-rate * score)))) @ errors / whole)
        for name, score in textbook.items()
    }


@pytest.mark.parametrize("epsilon", [0.2, 1.0])
@pytest.mark.parametrize("q", SHARES, ids=str)
@pytest.mark.parametrize("name", ["normal", "uniform", "skewed", "rounded", "two peaks"])
def test_no_textbook_mechanism_has_a_smaller_mean_rank_error(
    name: str, q: Fraction, epsilon: float
) -> None:
    """At most 1.05 times the better one's; errors of a thousandth of a row are none."""
    ours, theirs = mean_errors(sample(name), q, epsilon)
    assert ours <= 1.05 * min(theirs.values()) + 1e-3, (ours, theirs)
    # McKenna and Sheldon 2020, Theorem 2: by the same errors it is never worse.
    assert ours <= theirs["the same errors"] + 1e-9


def test_released_bins_have_the_exact_law() -> None:
    """End to end: 2000 groups of the same 442 values; chi-squared, a false alarm in 1e9."""
    values, groups, epsilon = sample("normal"), 2000, 0.2
    keys = np.repeat(np.arange(groups), len(values))
    table = people(x=values * groups, g=keys)
    answer: Any = table.median(
        "x", bounds=(0, 400), bins=400, by="g", groups=range(groups), privacy=ln.Privacy("0.2")
    )
    counts, _ = np.histogram(np.clip(values, 0, 400), bins=400, range=(0, 400))
    errors = np.array(errors_of(tuple(counts.tolist()), HALF))
    seen = np.bincount([one.bin for one in answer.answers], minlength=400)

    def fits(epsilon: float) -> float:
        """Return the p-value of bins that should be seen five times; the others are one."""
        wanted = groups * np.array(by_quadrature(np.exp(-epsilon * errors / 2)))
        often = wanted >= 5
        observed = [*seen[often], seen[~often].sum()]
        return float(stats.chisquare(observed, [*wanted[often], wanted[~often].sum()]).pvalue)

    assert fits(epsilon) > FALSE_ALARM
    assert fits(1.5 * epsilon) < FALSE_ALARM  # the control
    # The stated errors hold at least as often as they say.
    for confidence in (0.5, 0.95):
        within = sum(errors[one.bin] / 2 <= one.rank_error(confidence) for one in answer.answers)
        assert stats.binom.cdf(within, groups, confidence) > FALSE_ALARM


# ------------------------------------------------------------------- intervals


def holds_all_quantiles(counts: Counts, q: Fraction, first: int, last: int) -> bool:
    """Tell whether every q-quantile lies in bins first to last; bin i holds the value i alone."""
    n = sum(counts)
    quantiles = [x for x in range(len(counts)) if sum(counts[:x]) <= q * n <= sum(counts[: x + 1])]
    return all(first <= x <= last for x in quantiles)


@pytest.mark.parametrize("q", SHARES, ids=str)
def test_an_interval_covers_as_it_says_whatever_the_table(q: Fraction) -> None:
    """The exact probability for all tables of up to 7 rows in 4 bins; the shift must be there."""
    part, whole = q.as_integer_ratio()
    mechanism = PermuteAndFlip(ln.Privacy(3), max(part, whole - part), 4)
    careless = Fraction(1)
    for confidence in (HALF, Fraction(9, 10)):
        for shift in (end_shift(mechanism, confidence), 0):
            for table in tiny_tables(7, 4):
                if not sum(table):
                    continue  # nothing has a quantile, or everything
                lower, upper = (law_of(errors_of(table, q, s), mechanism) for s in (shift, -shift))
                covered = sum(
                    lower[a] * upper[b]
                    for a, b in product(range(4), repeat=2)
                    if holds_all_quantiles(table, q, min(a, b), max(a, b))
                )
                if shift:
                    assert covered >= confidence
                else:
                    careless = min(careless, covered - confidence)
    assert careless < 0


def people(**columns: Any) -> ProtectedTable:
    return ln.protect(pa.table(columns), unit=None, ledger=ln.UNRECORDED)


@pytest.mark.parametrize("q", [HALF, Fraction(9, 10)], ids=str)
def test_released_intervals_hold_the_quantile_as_often_as_they_say(q: Fraction) -> None:
    """500 groups of one table; the exact binomial test, with a false alarm in 1e9."""
    groups, rows = 500, [round(200 * u) for u in np.linspace(0, 1, 41) ** 2]
    table = people(x=rows * groups, g=np.repeat(np.arange(groups), len(rows)))
    answer: Any = table.ask(
        [Quantile("x", q, bounds=(0, 200), by="g", groups=range(groups), interval="0.8")],
        privacy=ln.Privacy(3),
    )[0]
    truth = sorted(rows)[math.ceil(q * len(rows)) - 1]
    ends = [one.interval() for one in answer.answers]
    held = sum(low <= truth <= high for low, high in ends)
    assert stats.binom.cdf(held, groups, 0.8) > FALSE_ALARM
    assert all(one.interval()[0] <= one.value <= one.interval()[1] for one in answer.answers)
    # They are of use: most are narrower than the bounds.
    assert sum(high - low < 200 for low, high in ends) > groups / 2
    # The control: the bin alone, which is no interval, misses it more often than that.
    inside = sum(one.bin_bounds[0] <= truth <= one.bin_bounds[1] for one in answer.answers)
    assert stats.binom.cdf(inside, groups, 0.8) < FALSE_ALARM


def test_few_rows_have_intervals_as_wide_as_the_bounds() -> None:
    answer = people(x=[5.0]).median("x", bounds=(0, 10), interval="0.99", privacy=ln.Privacy("0.1"))
    assert isinstance(answer, IntervalQuantileAnswer)
    assert answer.interval() == answer.interval("0.9")
    with pytest.raises(InvalidParameter, match=r"that of the query, 0\.99, got 0\.999\. Omit it"):
        answer.interval(0.999)


def test_an_interval_must_be_asked_for() -> None:
    answer = people(x=[5.0]).median("x", bounds=(0, 10), privacy=ln.Privacy(1))
    assert type(answer) is QuantileAnswer
    for confidence in ((), (0.5,)):
        with pytest.raises(InvalidParameter, match="This quantile has no interval"):
            answer.interval(*confidence)
    for wrong in (0, 1, 2, "x"):
        with pytest.raises(InvalidParameter, match="interval must be"):
            Quantile("x", "0.5", bounds=(0, 10), interval=wrong)


# ------------------------------------------------------------------- integers


NEARLY_EXACT = ln.Privacy(300)  # a worse bin has probability below 1024·e^−75


@pytest.mark.parametrize("kind", [pa.int64(), pa.uint8(), pa.decimal128(5, 0), pa.float64()])
def test_integer_columns_give_integers(kind: Any) -> None:
    table = people(x=pa.array([1, 2, 3, 5, 8, 13, 21], kind))
    answer = table.median("x", bounds=(0, 120), privacy=NEARLY_EXACT)
    integer = pa.types.is_integer(kind)
    assert answer.grid.integer is integer
    if integer:
        assert [answer.value, answer.bins] == [5, 121]
        assert list(answer.bin_bounds) == [5, 5]
        assert str(answer).startswith("median of x, clipped to [0, 120]: 5\n")
    else:
        assert answer.bins == 1024
        assert answer.bin_bounds[0] <= 5 <= answer.bin_bounds[1]


def test_ranges_of_integers_are_printed_with_their_last_one() -> None:
    table = people(x=[23_456] * 3 + [150_000], b=[True, True, False, True])
    answer = table.median("x", bounds=(0, 150_000), bins=150, privacy=NEARLY_EXACT)
    assert list(answer.bin_bounds) == [23_000, 23_999]
    assert answer.value == 23_499
    assert "clipped to [0, 150000]: bin 23000 to 23999" in str(answer)
    top = table.quantile("x", "0.99", bounds=(0, 150_000), bins=150, privacy=NEARLY_EXACT)
    assert list(top.bin_bounds) == [149_000, 150_000]
    assert table.median("b", bounds=(0, 1), privacy=NEARLY_EXACT).value == 1
    far = table.median("x", bounds=(-(2**53), 2**53), bins=65536, privacy=NEARLY_EXACT)
    assert far.grid.integer
    assert list(far.bin_bounds) == [0, 2**38 - 1]
    assert far.value == 2**37 - 1
    odd = table.median("x", bounds=(-(2**53), 2**53), bins=65535, privacy=NEARLY_EXACT)
    assert odd.grid.integer
    assert all(end.denominator == 1 for end in (odd.value, *odd.bin_bounds))
    assert odd.bin_bounds[0] <= 23_456 <= odd.bin_bounds[1]


def test_a_value_just_below_an_edge_lies_below_it() -> None:
    """It was rounded to the edge before, and the interval excluded all of the values."""
    table = people(x=[9999.99] * 5000)
    asked: dict[str, Any] = {"bounds": (0, 10**6), "bins": 100, "privacy": NEARLY_EXACT}
    answer = table.median("x", interval="0.95", **asked)
    assert isinstance(answer, IntervalQuantileAnswer)
    assert answer.interval() == answer.bin_bounds == (Fraction(0), Fraction(10_000))
    assert people(x=[10_000.0]).median("x", **asked).bin_bounds == (10_000, 20_000)


def test_decimals_that_are_rounded_are_said_to_be() -> None:
    """No type of DuckDB's has room for all digits; those of other decimals are all compared."""
    columns = {"x": pa.array([1, 2, 3], pa.decimal128(38, 19)), "y": pa.array([1.5, 2, 3])}
    table = people(**columns)
    rounded = "Values of x are rounded to the nearest floating-point number."
    asked: dict[str, Any] = {"bounds": (0, 10), "privacy": NEARLY_EXACT}
    assert rounded in table.median("x", **asked).subject.notes
    assert not table.median("y", **asked).subject.notes


@given(st.integers(-50, 50), st.integers(1, 300), st.integers(2, 60), st.data())
@settings(max_examples=60, deadline=None)
def test_every_integer_lies_in_one_bin_and_its_bin_is_the_engines(
    low: int, width: int, bins: int, data: st.DataObject
) -> None:
    bounds = Fraction(low), Fraction(low + width)
    grid = Bins.of_integers(bounds, bins)
    ranges = [grid.ends(place) for place in range(grid.count)]
    covered = [x for first, last in ranges for x in range(int(first), int(last) + 1)]
    assert covered == list(range(low, low + width + 1))
    value = data.draw(st.integers(low, low + width))
    answer = people(x=[value]).median("x", bounds=bounds, bins=bins, privacy=NEARLY_EXACT)
    assert answer.bin_bounds[0] <= value <= answer.bin_bounds[1]


# ------------------------------------------------------------------- what it costs


def shares(*questions: Any, privacy: ln.Privacy, **unit: Any) -> list[Any]:
    """Return ε, δ and how many of it a unit changes, for each number; then the price."""
    table = ln.protect(
        pa.table({"u": [1], "g": ["a"], "x": [0.5]}),
        unit="u",
        max_rows=1,
        ledger=ln.UNRECORDED,
        **unit,
    )
    explained: dict[str, Any] = table.explain(*questions, privacy=privacy).to_dict()
    numbers = [number for one in explained["questions"] for number in one["numbers"]]
    parts = [
        (Fraction(one["privacy"]["epsilon"]), Fraction(one["privacy"]["delta"]), one["touched"])
        for one in numbers
    ]
    price = ln.Privacy(explained["price"]["epsilon"], explained["price"]["delta"])
    assert sum(epsilon * touched for epsilon, _, touched in parts) <= privacy.epsilon
    assert price.epsilon <= privacy.epsilon
    assert price.delta <= privacy.delta
    return [*parts, price]


MEDIAN = Quantile("x", "0.5", bounds=(0, 1), bins=8)


def test_a_quantile_alone_gets_all_of_epsilon_and_spends_no_delta() -> None:
    assert shares(MEDIAN, privacy=ln.Privacy(1, "1e-6")) == [(1, 0, 1), ln.Privacy(1)]
    third = Fraction(1, 3)
    asked = Quantile("x", "0.5", bounds=(0, 1), bins=8, interval="0.9")
    assert shares(asked, privacy=ln.Privacy(1)) == [(third, 0, 3), ln.Privacy(1)]


def test_quantiles_share_with_other_numbers() -> None:
    privacy = ln.Privacy(1, "1e-6")
    count, median, price = shares(ln.Count(), MEDIAN, privacy=privacy)
    assert (count, median, price) == ((HALF, Fraction(1, 10**6), 1), (HALF, 0, 1), privacy)
    grouped = Quantile("x", "0.5", bounds=(0, 1), by="g", max_groups=1)
    count, median, price = shares(grouped, privacy=privacy, neighbors="replace")
    assert median == (Fraction(1, 4), 0, 2)
    assert price == privacy
    assert count[2] == 2


@pytest.mark.parametrize("questions", [[MEDIAN], [ln.Count(), MEDIAN]], ids=["alone", "both"])
def test_a_delta_alone_is_refused_before_anything_is_charged(
    questions: list[Any], tmp_path: Path
) -> None:
    delta = ln.Privacy(delta="0.1")
    with ln.Ledger(tmp_path / "a.ledger", limit=delta) as ledger:
        table = ln.protect(census_like(), unit="u", max_rows=1, ledger=ledger, name="three")
        with pytest.raises(InvalidParameter, match=r"a quantile, requires ε > 0 .*, got ε = 0"):
            table.ask(questions, privacy=delta, allow_exact=True)
        assert ledger.spent == ln.Privacy(0, 0)


def census_like() -> Any:
    return pa.table({"u": [1, 2, 3], "x": [0.25, 0.5, 0.75]})


def test_a_quantile_is_charged_stored_and_reused(tmp_path: Path) -> None:
    with ln.Ledger(tmp_path / "a.ledger", limit=ln.Privacy(3, "1e-6")) as ledger:
        table = ln.protect(census_like(), unit="u", max_rows=1, ledger=ledger, name="three")
        asked: dict[str, Any] = {"bounds": (0, 1), "bins": 64, "interval": "0.9"}
        first, again = (table.median("x", **asked, privacy=ln.Privacy("0.01")) for _ in range(2))
        assert (first.bin, first.interval()) == (again.bin, again.interval())
        assert (first.receipt.reused, again.receipt.reused) == (False, True)
        plain = table.median("x", bounds=(0, 1), bins=64, privacy=ln.Privacy("0.01", "1e-7"))
        assert plain.receipt is not None
        assert not plain.receipt.reused
        assert ledger.spent == ln.Privacy("0.02")
        ledger.verify()
        assert "PermuteAndFlip(candidates=64" in json.dumps(ledger.export(unit="person"))


def test_counts_of_any_size_are_ranked() -> None:
    """Far more rows than fit into 64-bit ranks: an engine never has them, and nothing overflows."""
    table = people(x=[0.5])
    question: Any = plan_query(MEDIAN, table.source, table.unit).query
    select = PermuteAndFlip(ln.Privacy(1), 1, 8)
    for rows in (10**3, 2**61, 10**40):
        assert question.add_noise([(2, rows), (5, rows // 2)], [()], [select], None) == [(2,)]
    assert 0 <= question.add_noise([], [()], [select], None)[0][0] < 8


@pytest.mark.parametrize(
    "asked",
    [
        {"interval": "0.9"},
        {"by": "g", "max_groups": 1},
        {"by": "g", "max_groups": 1, "interval": "0.9"},
    ],
    ids=["interval", "discovered groups", "both"],
)
def test_a_ledger_with_any_quantile_verifies(tmp_path: Path, asked: dict[str, Any]) -> None:
    """They store three numbers of one mechanism, or fewer numbers than there are mechanisms."""
    frame = pd.DataFrame({"u": range(900), "x": [0.5] * 900, "g": ["a", "b", "c"] * 300})
    with ln.Ledger(tmp_path / "a.ledger", limit=ln.Privacy(9, "1e-5")) as ledger:
        table = ln.protect(frame, unit="u", max_rows=1, ledger=ledger, name="t")
        table.median("x", bounds=(0, 1), **asked, privacy=ln.Privacy(2, "1e-6"))
        ledger.verify()
    with ln.Ledger(tmp_path / "a.ledger") as ledger:
        ledger.charge(ln.calibrate(ln.Privacy("0.1"), sensitivity=1).spending())
