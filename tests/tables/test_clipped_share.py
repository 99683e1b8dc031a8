"""The share of values outside of clipping bounds: what counts, its interval and its words."""

import math
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

import leastnoise as ln
from leastnoise.errors import InvalidParameter
from leastnoise.tables import ClippedShare, Count, Mean, ProtectedTable
from leastnoise.tables.execute import make_batches
from leastnoise.tables.queries.plan import plan_query
from leastnoise.tables.release import prepare
from leastnoise.tables.sources import fetch

PRIVACY = ln.Privacy(1)


def protected(
    values: list[Any], units: list[int] | None = None, max_rows: int = 1
) -> ProtectedTable:
    columns = {"x": pa.array(values, pa.float64()), "u": units or [*range(len(values))]}
    columns["g"] = ["ab"[unit % 2] for unit in columns["u"]]
    return ln.protect(pa.table(columns), unit="u", max_rows=max_rows, ledger=ln.UNRECORDED)


def share(values: list[Any], bounds: Any = (0, 1), **how: Any) -> Fraction:
    """Return the share that the engine returns, before noise."""
    table = protected(values, **how)
    made = plan_query(ClippedShare("x", bounds=bounds), table.source, table.unit)
    ((rows, total),) = fetch(table.source, make_batches([made])[0].expression)
    return Fraction(1, 2) + Fraction(int(total), int(rows)) * made.numbers[1].step


def test_values_at_an_end_are_inside_and_infinities_are_outside() -> None:
    assert share([0.0, 1.0, 0.5, -0.0]) == 0
    assert share([math.nextafter(1.0, 2), math.nextafter(0.0, -1), 0.3, 1.0]) == 0.5
    assert share([math.inf, -math.inf, 1.0, 0.0]) == 0.5
    # As in conditions, an end is compared as the double nearest to it.
    assert share([0.1, math.nextafter(0.1, 1)], bounds=(0, "0.1")) == 0.5


def test_rows_without_a_value_do_not_count() -> None:
    assert share([None, math.nan, 5.0, 0.5]) == 0.5


def test_a_unit_with_more_rows_counts_by_the_share_of_its_own() -> None:
    """A quarter of the first unit's rows, and all of the second unit's, each as two rows."""
    values, units = [9.0, 0.0, 0.0, 0.0, 9.0, 9.0], [1, 1, 1, 1, 2, 2]
    assert share(values, units=units, max_rows=2) == 0.625


def test_one_unit_changes_the_sum_by_half_of_its_rows() -> None:
    table = protected([1.0], max_rows=3)
    count, total = plan_query(ClippedShare("x", bounds=(0, 9)), table.source, table.unit).numbers
    assert (count.sensitivity, total.sensitivity) == (Fraction(3), Fraction(3, 2))


def test_it_shares_the_count_with_a_mean_of_the_column() -> None:
    table = protected([1.0])
    queries = [Mean("x", bounds=(0, 9)), ClippedShare("x", bounds=(0, 9)), Count()]
    assert prepare(queries, table.source, table.unit, PRIVACY).places == ((0, 1), (0, 2), (3,))


def test_the_interval_covers_and_stays_between_0_and_1() -> None:
    """Of 150 intervals, 112 or fewer cover with a probability below 1e-15 if each does at 95%."""
    table = protected([float(i % 50) for i in range(400)])
    truth, covered = Fraction(9, 50), 0
    for _ in range(150):
        answer = table.clipped_share("x", bounds=(0, 40), privacy=ln.Privacy("0.3"))
        low, high = answer.interval()
        assert 0 <= low <= answer.value <= high <= 1
        covered += low <= truth <= high
    assert covered > 112
    # With much noise the interval is all that is possible, and no more.
    wide = table.clipped_share("x", bounds=(0, 40), privacy=ln.Privacy("0.0001"))
    assert list(wide.interval(Fraction(999, 1000))) == [0, 1]


def test_the_rounding_of_units_is_in_the_interval() -> None:
    """A unit adds max_rows times its average, rounded down to a step of 2⁻²⁰."""
    planned: Any = plan_query(
        ClippedShare("x", bounds=(0, 9)),
        protected([1.0], max_rows=4).source,
        protected([1.0], max_rows=4).unit,
    ).query
    assert planned.lattice.step == Fraction(1, 1 << 20)
    assert planned.rounding >= Fraction(1, 1 << 22)


def test_it_prints_what_it_is() -> None:
    table = protected([float(i % 50) for i in range(1000)], max_rows=2)
    text = str(table.clipped_share("x", bounds=(0, "40.5"), privacy=PRIVACY))
    assert text.startswith("share of x outside [0, 40.5]: 0.1")
    assert "at most 2 rows per u (share of its values)" in text
    assert "clipped to" not in text
    by = table.clipped_share(
        "x", bounds=(0, 40), by="g", groups=["a", "b"], max_groups=1, privacy=PRIVACY
    )
    assert str(by).startswith("share of x outside [0, 40] by g\n\ng ")
    assert "share  95% interval" in str(by)


@pytest.mark.parametrize(
    ("column", "bounds", "words"),
    [
        ("x", (0, "1/3"), "Each end of bounds must be a decimal of at most 40 digits, got 1/3"),
        ("x", (1, 0), "The lower bound must be below the upper bound"),
        ("x", None, "bounds must be given for 'x', here or in a card"),
        ("g", (0, 1), "A column of numbers must hold"),
    ],
)
def test_bad_arguments_are_rejected(column: str, bounds: Any, words: str) -> None:
    people = ln.protect(
        pa.table({"x": [1.0], "u": [1], "g": [True]}), unit="u", max_rows=1, ledger=ln.UNRECORDED
    )
    with pytest.raises(InvalidParameter, match=words):
        people.clipped_share(column, bounds=bounds, privacy=PRIVACY)
