"""How often the interval of a mean contains the true mean: computed from both distributions.

Nothing is sampled. For a count that is released with noise x, the means that the interval contains
move with the released sum, so the sums whose interval contains the true mean are a range, which is
found by halving; its probability is exact.
"""

from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import leastnoise as ln
from leastnoise.mechanism import Answer, Mechanism, as_noise
from leastnoise.tables import Mean, MeanAnswer
from leastnoise.tables.answers import Statement
from leastnoise.tables.budget import allocate
from leastnoise.tables.queries.mean_answer import mean_errors
from leastnoise.tables.ratio import ErrorQuantile, Quotients
from leastnoise.tables.released_number import ReleasedNumber

LEVEL = Fraction(19, 20)
MEAN = Mean("x", bounds=(0, 100))


def parts(privacy: ln.Privacy, family: str | None = None) -> tuple[Mechanism, Mechanism]:
    """Return the noise of the count and of the sum, as a query about a mean has it."""
    lattice = MEAN.lattice
    shift = lattice.high - lattice.middle
    count = ReleasedNumber(
        name="count", shift=1, step=Fraction(1), touched=1, integer=True, family=family
    )
    total = ReleasedNumber(
        name="sum", shift=shift, step=lattice.step, touched=1, integer=False, family=family
    )
    (counting, adding), _ = allocate(privacy, [count, total])
    return as_noise(counting), as_noise(adding)


def released(count: int, index: int, mechanisms: tuple[Mechanism, Mechanism]) -> MeanAnswer:
    counting, adding = mechanisms
    low, high = (end * MEAN.lattice.step for end in (MEAN.lattice.low, MEAN.lattice.high))
    return MeanAnswer(
        count=Answer(count, counting),
        sum=Answer(index, adding),
        middle=MEAN.lattice.middle * MEAN.lattice.step,
        bounds=(low, high),
        privacy=ln.Privacy(1),
    )


def coverage(n: int, slope: Fraction, mechanisms: tuple[Mechanism, Mechanism]) -> Fraction:
    """Return a lower bound of the probability that the interval contains middle + slope.

    n rows have this mean; the sum lies on the lattice of its noise. Less than 10⁻⁶ is left out.
    """
    rows, total = (mechanism.discretized.noise for mechanism in mechanisms)
    index = int(n * slope / total.step)
    truth = MEAN.lattice.middle * MEAN.lattice.step + index * total.step / n
    far = 4 * total.half_width_in_steps(1 - Fraction(1, 10**9)) + 10

    def ends(x: int, y: int) -> tuple[Fraction, Fraction]:
        return released(n + x, index + y, mechanisms).interval(LEVEL)

    def first(holds: Any) -> int:
        before, after = -far, far
        while after - before > 1:
            between = (before + after) // 2
            before, after = (before, between) if holds(between) else (between, after)
        return after

    found = Fraction(0)
    farthest = rows.half_width_in_steps(1 - Fraction(1, 10**6))
    for x in range(-farthest, farthest + 1):
        start = first(lambda y, x=x: ends(x, y)[1] >= truth)
        stop = first(lambda y, x=x: ends(x, y)[0] > truth)
        inside = total.probability_up_to((stop - 1) * total.step) - total.probability_up_to(
            (start - 1) * total.step
        )
        found += Fraction(rows.weight(x)) / rows.total * max(inside, Fraction(0))
    return found


CASES = [
    (ln.Privacy(1), None),
    (ln.Privacy("0.5", "1e-6"), None),
    (ln.Privacy(4), None),
    (ln.Privacy(1, "1e-6"), "gaussian"),
    (ln.Privacy(delta="0.1"), None),
]


@pytest.mark.parametrize(("privacy", "family"), CASES, ids=str)
@pytest.mark.parametrize(
    ("n", "part"), [(400, "0.03"), (400, "-0.5"), (2000, "0.99"), (2000, "-0.21")]
)
def test_the_interval_of_a_mean_covers_95_percent_and_hardly_more(
    privacy: ln.Privacy, family: str | None, n: int, part: str
) -> None:
    """The upper bound is for many rows: the intervals of 0.5.0 covered 97% to 100%.

    A mean near a bound is covered also if the noise moves the released mean beyond that bound.
    """
    found = coverage(n, Fraction(part) * 50, parts(privacy, family))
    near = Fraction(part) == Fraction("0.99")
    assert LEVEL - Fraction(1, 10**6) <= found <= Fraction(978 if near else 953, 1000)


@pytest.mark.parametrize(("n", "part"), [(1, "0.9"), (2, "-0.4"), (7, 0), (25, "0.7"), (60, 1)])
def test_the_interval_of_a_mean_covers_95_percent_of_few_rows(n: int, part: str) -> None:
    found = coverage(n, Fraction(part) * 50, parts(ln.Privacy(1)))
    assert found >= LEVEL - Fraction(1, 10**6)


@pytest.mark.parametrize("privacy", [ln.Privacy(1), ln.Privacy(1, "1e-6")], ids=str)
def test_an_interval_of_a_mean_beyond_the_bounds_is_not_a_point(privacy: ln.Privacy) -> None:
    """It is that of a mean at the bound, which is at least as wide as the sum's error alone.

    If the noise is bounded, it also lies within the interval at confidence 1.
    """
    mechanisms = parts(privacy)
    noise = mechanisms[1].discretized.noise
    at_bound = int(-50 * 200 / noise.step)
    for index in (at_bound - noise.half_width_in_steps(LEVEL), 2 * at_bound, 9 * at_bound):
        lower = released(200, index, mechanisms)
        low, high = lower.interval()
        sure = lower.interval(1) if privacy.delta else lower.bounds
        assert sure[0] <= low == 0 <= high <= sure[1]
        width = noise.half_width_in_steps(LEVEL) * noise.step / 200
        assert high >= min(width, sure[1])
        upper = released(200, -index, mechanisms).interval()
        assert upper == (100 - high, Fraction(100))


def test_the_box_of_both_intervals_covers_more() -> None:
    """The control: what the check above rejects, and 0.5.0 printed."""
    mechanisms = parts(ln.Privacy(1))
    rows, total = (mechanism.discretized.noise for mechanism in mechanisms)
    reach = total.half_width_in_steps(Fraction(39, 40))
    most = rows.half_width_in_steps(Fraction(39, 40))
    slope = Fraction(3, 2)
    inside = Fraction(0)
    for x in range(-60, 61):
        # |s + y − slope·(n + x)| ≤ t + slope·r for the box, with s = slope·n.
        least, largest = slope * x / total.step - reach, slope * x / total.step + reach
        least, largest = least - slope * most / total.step, largest + slope * most / total.step
        mass = total.probability_up_to(largest * total.step) - total.probability_up_to(
            least * total.step
        )
        inside += Fraction(rows.weight(x)) / rows.total * mass
    assert inside > Fraction(97, 100)


# --------------------------------------------------------------------------- the quantile itself

_PAIRS: list[tuple[Any, Any]] = [
    (
        ln.calibrate(ln.Privacy(first), sensitivity=1, integer=True).discretized.noise,
        ln.calibrate(ln.Privacy(second), sensitivity=3, integer=True).discretized.noise,
    )
    for first, second in (("0.5", 1), (2, 2), (1, "0.3"))
]


def chance(rows: Any, total: Any, slope: Fraction, size: Fraction) -> Fraction:
    """Return P(|Y − slope·X| ≤ size) up to 10⁻⁹ from below: one point after another."""
    reach = rows.half_width_in_steps(1 - Fraction(1, 10**9))
    found = Fraction(0)
    for x in range(-reach, reach + 1):
        inside = total.probability_up_to(slope * x + size)
        low = slope * x - size
        below = total.probability_up_to(low) - (Fraction(total.weight(int(low))) / total.total
                                   if low.denominator == 1 else 0)  # fmt: skip
        found += Fraction(rows.weight(x)) / rows.total * (inside - below)
    return found


@given(
    st.sampled_from(_PAIRS),
    st.fractions(0, 5, max_denominator=12),
    st.fractions(0, 1, max_denominator=12),
    st.sampled_from([Fraction(1, 2), Fraction(9, 10), LEVEL, Fraction(999, 1000)]),
)
@settings(max_examples=40, deadline=None)
def test_no_slope_up_to_the_largest_exceeds_the_quantile_more_often(
    pair: tuple[Any, Any], largest: Fraction, part: Fraction, level: Fraction
) -> None:
    rows, total = pair
    size = ErrorQuantile(rows, total, level).at(largest)
    assert chance(rows, total, part * largest, size) >= level - Fraction(1, 10**8)
    # It is no more than a step, and a hundredth, above what is needed.
    smaller = size * Fraction(99, 100) - total.step
    assert smaller < 0 or chance(rows, total, largest, smaller) < level


def test_the_quantile_never_falls_as_slopes_grow() -> None:
    counting, adding = parts(ln.Privacy("0.3"))
    found = ErrorQuantile(counting.discretized.noise, adding.discretized.noise, LEVEL)
    sizes = [found.at(Fraction(50 * k, 16)) for k in range(17)]
    slack = max(sizes) / 1024
    assert all(a <= b + slack for a, b in pairwise(sizes))


# --------------------------------------------------------------------------- rounding of each value


@pytest.mark.parametrize(
    ("bounds", "value", "unit"),
    [((0, 1), 0.3, None), ((0, "0.1"), 7.0, None), ((-3, 5), -2.7, None), ((0, 1), 0.3, "u")],
)
def test_the_interval_of_many_rows_covers_the_mean_of_values_as_they_are(
    bounds: Any, value: float, unit: str | None
) -> None:
    """As if with 10^15 rows of one value: the noise is far smaller than a step of the lattice.

    The released sum is n times the rounded value. The interval and the maximum error must cover the
    distance to the value itself, clipped to the bounds.
    """
    import pyarrow as pa

    from leastnoise.tables.queries.plan import plan_query

    columns = pa.table({"x": [value], "u": [1]})
    most = None if unit is None else 1
    table = ln.protect(columns, unit=unit, max_rows=most, ledger=ln.UNRECORDED)
    question: Any = plan_query(Mean("x", bounds=bounds), table.source, table.unit).query
    answer: Any = table.mean("x", bounds=bounds, privacy=ln.Privacy("0.5", "0.4"))
    lattice, n = question.lattice, 10**15
    low, high = map(Fraction, bounds)
    truth = min(max(Fraction(value), low), high)
    index = min(max(round(Fraction(value) / lattice.step), lattice.low), lattice.high)
    total = n * (index - lattice.middle) * lattice.step
    place = answer.sum.mechanism.grid.index(*total.as_integer_ratio())
    privacy = answer.privacy
    statement = Statement(privacy=privacy, total_privacy=privacy, subject=answer.subject)
    mechanisms = [answer.count.mechanism, answer.sum.mechanism]
    (many,) = question.answers([(n, place)], mechanisms, statement)
    assert abs(many.value - truth) > lattice.step / 100  # the control: rounding is there
    assert many.interval()[0] <= truth <= many.interval()[1]
    assert abs(many.value - truth) <= many.max_error
    # No wider than needed: two steps at either end.
    assert many.interval()[1] - many.interval()[0] <= 5 * lattice.step


def test_integers_are_not_rounded() -> None:
    import pyarrow as pa

    table = ln.protect(pa.table({"x": [3, 4], "y": [3.5, 4.5]}), unit=None, ledger=ln.UNRECORDED)
    whole, real = (
        table.mean(name, bounds=(0, 10), privacy=ln.Privacy(1)).rounding for name in ("x", "y")
    )
    assert [whole, real] == [0, Mean("y", bounds=(0, 10)).lattice.step / 2]


@given(st.integers(1, 12), st.data())
@settings(max_examples=60, deadline=None)
def test_averages_of_a_unit_are_rounded_by_no_more_than_is_stated(
    rows: int, data: st.DataObject
) -> None:
    """The average of rows that DuckDB computes, against that of the clipped values in rationals."""
    import pyarrow as pa

    from leastnoise.tables.queries.plan import plan_query

    values = data.draw(st.lists(st.floats(-2, 3), min_size=1, max_size=30))
    source = pa.table({"x": values, "u": [1] * len(values)})
    table = ln.protect(source, unit="u", max_rows=rows, ledger=ln.UNRECORDED)
    query = plan_query(Mean("x", bounds=("0.1", 1)), table.source, table.unit)
    question: Any = query.query
    sql = table.source.compile(query.selection.query(sums=query.sums))
    ((count, total),) = table.source.table.get_backend().con.execute(sql).fetchall()
    clipped = [min(max(Fraction(x), Fraction(1, 10)), Fraction(1)) for x in values]
    lattice = question.lattice
    mean = (lattice.middle + Fraction(int(total), int(count))) * lattice.step
    assert abs(mean - sum(clipped) / len(clipped)) <= question.rounding


@pytest.mark.parametrize("privacy", [ln.Privacy("0.5"), ln.Privacy("0.5", "1e-3")], ids=str)
@pytest.mark.parametrize("rows", [1, 100, 10_000])
def test_no_interval_is_wider_than_a_dry_run_states(privacy: ln.Privacy, rows: int) -> None:
    mechanisms = parts(privacy)
    middle, step = MEAN.lattice.middle * MEAN.lattice.step, mechanisms[1].discretized.step
    quotients = Quotients.of(step, middle, (middle - 50, middle + 50))
    (stated,) = mean_errors(*mechanisms, quotients, [rows])
    widest = Fraction(0)
    for slope in (-60, -50, -13, 0, 13, 50, 60):
        answer = released(rows, int(rows * slope / step), mechanisms)
        low, high = answer.interval()
        widest = max(widest, answer.value - low, high - answer.value)
    assert widest <= stated <= max(widest * 2, Fraction(1, 10**9))
