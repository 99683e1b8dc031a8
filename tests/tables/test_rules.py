"""What counts, rule by rule, as the table of docs/row-rules.md has it.

Asked with ε = 200: the noise of integers is 0, and that of others within a few steps of their
lattice, up to a probability far below 1e-9. So what is released is what was counted.
"""

import math
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import leastnoise as ln
from leastnoise.tables import Count, Histogram, Mean, Quantile, Sum

SURE = ln.Privacy(200)


def asked(question: Any, *, max_rows: int | None = 1, **columns: list[Any]) -> Any:
    """Ask a table of these columns; if there is one called unit, it names units."""
    unit = "unit" if "unit" in columns else None
    people = ln.protect(
        pa.table(columns),
        unit=unit,
        max_rows=None if unit is None else max_rows,
        ledger=ln.UNRECORDED,
    )
    (answer,) = people.ask([question], privacy=SURE, allow_exact=True)
    return answer


def value(question: Any, **columns: Any) -> Any:
    return pytest.approx(float(asked(question, **columns).value), abs=1e-3)


def test_rows_without_a_unit_or_a_group_count_nowhere() -> None:
    assert value(Count(), unit=[1, 2, None, 2]) == 2
    by = asked(
        Count(by="g", max_groups=1, groups=["a", "b"]),
        unit=[1, 2, 3, None],
        g=["a", None, "a", "a"],
    )
    assert [(key, one.value) for key, one in by] == [("a", 2), ("b", 0)]


def test_groups_that_were_not_asked_for_count_nowhere_and_take_no_place() -> None:
    """A unit counts in one group: of the given ones, whatever others it is in."""
    units, groups = [1, 1, 1, 2], ["a", "x", "y", "x"]
    assert asked(Count(by="g", max_groups=1, groups=["a"]), unit=units, g=groups)["a"].value == 1


@pytest.mark.parametrize(
    ("where", "kept"),
    [("x < 5", 1), ("not x < 5", 1), ("x is null", 2), ("x = 7 or x != 7", 2)],
)
def test_what_is_compared_with_null_or_nan_is_not_true(where: str, kept: int) -> None:
    assert value(Count(where=where), x=[1.0, math.nan, None, 7.0]) == kept


@pytest.mark.parametrize("bounds", [(-5, 9), (2, 9), (-9, -3)], ids=str)
@pytest.mark.parametrize("unit", [None, [1, 1, 2]], ids=["rows", "units"])
def test_a_missing_value_adds_0_to_a_sum_as_in_sql(
    bounds: tuple[int, int], unit: list[int] | None
) -> None:
    """Also where 0 lies outside of the bounds."""
    units = {} if unit is None else {"unit": unit}
    for missing in (None, math.nan):
        question = Sum("x", bounds=bounds)
        columns: dict[str, Any] = {"x": [missing, missing, float(bounds[1])], **units}
        assert value(question, max_rows=2, **columns) == bounds[1]


def test_a_boolean_that_is_null_adds_0() -> None:
    assert value(Sum("x", bounds=(1, 3)), x=[None, None, True, False]) == 2


def test_a_string_that_is_no_number_adds_0(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("x\n20\nabc\n\n25\nNaN\n7\n")
    people = ln.protect(str(file), unit=None, ledger=ln.UNRECORDED)
    released = people.sum("x", bounds=(20, 30), privacy=SURE, allow_exact=True)
    assert float(released) == pytest.approx(20 + 25 + 20, abs=1e-3)  # 7 is clipped to 20


def test_missing_values_are_left_out_of_means_quantiles_and_histograms() -> None:
    numbers = [None, math.nan, 2.0, 4.0]
    mean = asked(Mean("x", bounds=(0, 8)), x=numbers)
    assert (float(mean.value), mean.count.value) == (3, 2)
    parts = asked(Histogram("x", edges=[0, 3, 8], max_groups=1), x=numbers)
    assert [one.value for _, one in parts] == [1, 1]
    found = asked(Quantile("x", "0.9", bounds=(0, 8), bins=8), x=[*numbers, 4.0, 4.0])
    assert found.bin == 4


def test_values_beyond_the_bounds_count_as_the_bounds_but_not_in_a_histogram() -> None:
    numbers = [math.inf, -math.inf, 1e308, -1e308, 5e-324, 1.0]
    assert value(Sum("x", bounds=(-2, 3)), x=numbers) == 3 - 2 + 3 - 2 + 0 + 1
    parts = asked(Histogram("x", edges=[-2, 0, 1], max_groups=1), x=numbers)
    assert [one.value for _, one in parts] == [0, 2]


def test_truth_values_are_added_up() -> None:
    assert value(Sum("x", bounds=(0, 1)), x=[True, False, None, True]) == 2


def test_whole_numbers_are_as_they_are() -> None:
    assert asked(Sum("x", bounds=(0, 60)), x=[59, 1, 7, 61, -1, None]).value == 59 + 1 + 7 + 60


def test_rows_of_a_unit_beyond_max_rows() -> None:
    """One unit has 5, 4 and 3, another 1; two rows of each count, between 0 and 5."""
    rows: dict[str, Any] = {"unit": [1, 1, 1, 2], "x": [5.0, 4.0, 3.0, 1.0]}
    assert value(Count(), max_rows=2, **rows) == 3
    parts = asked(Histogram("x", edges=[0, 2, 5], max_groups=1), max_rows=2, **rows)
    assert [one.value for _, one in parts] == [1, 2]
    assert value(Sum("x", bounds=(0, 5)), max_rows=2, **rows) == 10 + 1
    mean = asked(Mean("x", bounds=(0, 5)), max_rows=2, **rows)
    assert mean.count.value == 3
    assert float(mean.value) == pytest.approx((4 + 4 + 1) / 3, abs=1e-4)


def test_the_sum_of_a_unit_is_held_between_0_and_bounds_on_one_side_of_it() -> None:
    """One row of 2 and a cap of two: the sum is 2, not raised to twice the lower bound."""
    assert value(Sum("x", bounds=(2, 5)), max_rows=2, unit=[1], x=[2.0]) == 2
    assert value(Sum("x", bounds=(-5, -2)), max_rows=2, unit=[1] * 3, x=[-4.0] * 3) == -10


def test_a_unit_counts_in_max_groups_groups() -> None:
    units, groups = [1, 1, 1, 2], ["a", "b", "c", "a"]
    for most in (1, 2, 3):
        question = Count(by="g", groups=["a", "b", "c"], max_groups=most)
        answers = asked(question, unit=units, g=groups)
        assert sum(one.value for _, one in answers) == most + 1


def test_ranges_and_bins_are_groups() -> None:
    units, numbers = [1, 1, 1], [1.0, 5.0, 9.0]
    for most in (1, 2):
        question = Histogram("x", edges=[0, 4, 8, 12], max_groups=most)
        answers = asked(question, unit=units, x=numbers)
        assert sum(one.value for _, one in answers) == most


def test_dates_and_truth_values_name_groups() -> None:
    days = [date(2026, 1, 1), date(2026, 1, 2), date(2026, 1, 1)]
    answers = asked(Count(by="day", max_groups=1, groups=days[:2]), day=days)
    assert [one.value for _, one in answers] == [2, 1]
    answers = asked(Count(by="b", max_groups=1, groups=[False, True]), b=[True, True, None])
    assert [one.value for _, one in answers] == [0, 2]


def test_a_csv_file_is_text(tmp_path: Any) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(b"unit,g,x\n1,7,2\n2,7,many\n,7,3\n4,,nan\n5,8\n6,8,inf\n7,8,1,extra\n")
    people = ln.protect(path, unit="unit", max_rows=1, ledger=ln.UNRECORDED)
    total: Any
    groups: Any
    total, groups = people.ask(
        [Sum("x", bounds=(0, 10)), Count(by="g", max_groups=1, groups=["7", "8"])],
        privacy=ln.Privacy(400),
        allow_exact=True,
    )
    assert float(total.value) == pytest.approx(2 + 10 + 1, abs=1e-3)
    assert [one.value for _, one in groups] == [2, 2]
