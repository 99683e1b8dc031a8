"""Every question on every engine and from every kind of source: the same true integers.

What an engine returns is compared with what plain Python makes of the rules (reference_answers.py).
"""

import random
from collections.abc import Callable, Iterator
from datetime import date
from typing import Any

import pytest

import leastnoise as ln
from leastnoise.tables import (
    ClippedShare,
    Count,
    EstimateBounds,
    Histogram,
    Max,
    Mean,
    Min,
    ProtectedTable,
    Quantile,
    Std,
    Sum,
    Variance,
)
from leastnoise.tables.execute import make_batches, run
from leastnoise.tables.queries.plan import plan_query
from leastnoise.tables.queries.planned_query import PlannedQuery
from leastnoise.tables.sources import fetch
from tests.support.reference_answers import Figures, Row, figures, number
from tests.support.table_sources import WHOLE, duckdb_of, people, source_of, spark_of, written

Asked = tuple[str | None, int, Any, Callable[[Row], bool]]
# Every so many of the questions with every unit; all of them in the long run.
SOURCES = {
    "duckdb": 3, "csv": 9, "parquet": 9, "postgres": 7, "pandas": 27, "polars": 27, "arrow": 27,
    "address": 27,
}  # fmt: skip
ALL = [pytest.param(kind, 1, marks=pytest.mark.long) for kind in (*SOURCES, "spark")]


def everything(row: Row) -> bool:
    return True


GROWN = "age >= 18 and region != 'north'"


def grown(row: Row) -> bool:
    age = number(row["age"])
    return age is not None and age >= 18 and row["region"] not in (None, "north")


USUAL = "income between -50 and 500.5 or region is null"


def usual(row: Row) -> bool:
    income = number(row["income"])
    return (income is not None and -50 <= income <= 1001 / 2) or row["region"] is None


BUSY = "not (hours < 20) and region in ('north', 'east')"


def busy(row: Row) -> bool:
    hours = number(row["hours"])
    return hours is not None and hours >= 20 and row["region"] in ("north", "east")


def asked(*, text: bool) -> Iterator[Asked]:
    """Yield units and questions, and what their conditions mean; keys as the source has them."""

    def keys(*given: Any) -> list[Any]:
        return [tuple(map(key, one)) if isinstance(one, tuple) else key(one) for one in given]

    def key(one: Any) -> Any:
        return written(one) if text else one

    pairs = keys(("north", 1), ("north", 2), ("south", 1), ("east", -4), ("nowhere", 1))
    regions = ["north", "south", "nowhere", "öst, \"x\""]  # fmt: skip
    days = keys(date(2024, 2, 29), date(1999, 12, 31), date(2000, 1, 1))
    one: list[tuple[Any, Callable[[Row], bool]]] = [
        (Count(), everything),
        (Count(where=GROWN), grown),
        (Count(by="region", max_groups=1), everything),
        (Count(by=["region", "grade"], groups=pairs, max_groups=2), everything),
        (Count(by="day", where=USUAL, max_groups=2), usual),
        (Count(by=["employed", "region"], max_groups=1), everything),
        (Sum("income", bounds=(-100, "1000.25")), everything),
        (Sum("hours", bounds=(-2, 60), by="region", max_groups=1, groups=regions), everything),
        (Sum("hours", bounds=(3, 40), by="day", groups=days, where=BUSY, max_groups=1), busy),
        (Sum("wage", bounds=(-1, 500), by="grade", max_groups=2), everything),
        (Sum("employed", bounds=(0, 1), by="region", max_groups=1), everything),
        (Sum("age", bounds=(-90, -10), where=USUAL), usual),
        (Mean("income", bounds=(-100, 1000), by="region", max_groups=1), everything),
        (Mean("hours", bounds=(0, 60), where=GROWN), grown),
        (Mean("wage", bounds=("0.1", "700.7"), by="grade", max_groups=1,
              groups=keys(1, 3, 9)), everything),
        (Histogram("age", edges=[0, 18, 65, 120], max_groups=1), everything),
        (Histogram("income", edges=[-50, 0, "0.5", 500], by="region", groups=regions,
                   max_groups=3, where=GROWN), grown),
        (Quantile("income", "0.25", bounds=(-100, 1000), bins=7), everything),
        (Quantile("hours", "0.9", bounds=(0, 60), bins=60, by="region", max_groups=1), everything),
        (Quantile("wage", "0.5", bounds=(0, 500), bins=10, by=["region", "grade"], groups=pairs,
                  max_groups=1, where=USUAL), usual),
        (Quantile("hours", "0.5", bounds=(0, 60), bins=20, by="region", max_groups=2), everything),
        (Variance("income", bounds=(-100, 1000), by="region", max_groups=1), everything),
        (Variance("hours", bounds=(0, 60), where=GROWN), grown),
        (Std("wage", bounds=("0.1", "700.7"), by="grade", max_groups=1,
             groups=keys(1, 3, 9)), everything),
        (Min("income", bounds=(-100, 1000), bins=7), everything),
        (Max("hours", bounds=(0, 60), bins=60, by="region", max_groups=1), everything),
        (EstimateBounds("income", bounds=(-(1 << 53), 1 << 53)), everything),
        (EstimateBounds("hours", bounds=(-3, 50), by="region", max_groups=2), everything),
        (EstimateBounds("wage", bounds=("0.25", 100)), everything),
        (ClippedShare("income", bounds=(-50, "500.5"), where=GROWN), grown),
        (ClippedShare("hours", bounds=(10, 40), by="region", max_groups=2), everything),
        (ClippedShare("wage", bounds=("0.1", "99.9"), by="grade", max_groups=1), everything),
        (Count(of="units"), everything),
        (Count(of="units", by="region", max_groups=2, where=USUAL), usual),
    ]  # fmt: skip
    for question, kept in one:
        yield from ((unit, rows, question, kept) for unit, rows in _UNITS)
    own: list[tuple[Any, Callable[[Row], bool]]] = [
        (Count(by="region", max_groups=2, max_rows=2), everything),
        (Sum("income", bounds=(-100, 100), max_rows=1, where=USUAL), usual),
        (Mean("hours", bounds=(0, 60), by="region", max_groups=1, max_rows=2), everything),
        (Histogram("age", edges=[0, 18, 65, 120], max_groups=1, max_rows=4), everything),
        (Quantile("income", "0.25", bounds=(-100, 1000), bins=7, max_rows=4), everything),
    ]
    for question, kept in own:
        yield from ((unit, rows, question, kept) for unit, rows in _UNITS if unit is not None)


_UNITS: tuple[tuple[str | None, int], ...] = ((None, 1), ("person", 1), ("person", 3), ("name", 2))


def protected(given: dict[str, Any], unit: str | None, rows: int) -> ProtectedTable:
    return ln.protect(
        **given, unit=unit, max_rows=None if unit is None else rows, ledger=ln.UNRECORDED
    )


def true_figures(table: ProtectedTable, question: Any) -> tuple[PlannedQuery, Figures]:
    """Ask the engine; return what it says before noise, by group."""
    made = plan_query(question, table.source, table.unit)
    keys = len(made.selection.by)
    rows = fetch(table.source, make_batches([made])[0].expression)
    result = {row[:keys]: row[keys:] for row in rows}
    assert len(result) == len(rows), "a group must be there once"
    assert all(type(figure) is int for row in result.values() for figure in row)
    return made, result


def expected(
    rows: list[Row],
    made: PlannedQuery,
    unit: tuple[str | None, int],
    kept: Callable[[Row], bool] = everything,
    *,
    text: bool = False,
) -> Figures:
    """Return what the rules make of rows."""
    return figures(
        rows,
        made.query,
        unit=unit[0],
        max_rows=unit[1],
        salt=made.selection.salt,
        whole=not text and getattr(made.query, "column", None) in WHOLE,
        kept=kept,
    )


@pytest.mark.parametrize(("kind", "step"), [*SOURCES.items(), *ALL])
def test_every_source_gives_the_integers_of_the_rules(
    kind: str, step: int, request: pytest.FixtureRequest
) -> None:
    rows, text = people(), kind == "csv"
    given = source_of(kind, rows, request)
    if text:  # all of it is read as text
        rows = [{name: written(value) or None for name, value in row.items()} for row in rows]
    tables = {unit: protected(given, *unit) for unit in _UNITS}
    for unit, counted, question, kept in list(asked(text=text))[::step]:
        made, result = true_figures(tables[unit, counted], question)
        wanted = expected(rows, made, (unit, counted), kept, text=text)
        assert result == wanted, (question.title, unit, counted)
        assert any(any(numbers) for numbers in wanted.values()), "the table says too little"


def test_questions_asked_together_give_the_same_integers_as_alone(duck: Any) -> None:
    table = protected({"source": duckdb_of(people(), duck)}, "person", 2)
    questions = [
        question for unit, rows, question, _ in asked(text=False) if (unit, rows) == ("person", 3)
    ]
    # A sum by discovered groups has a count; a count of the same rows shares its query.
    questions += [
        Sum("income", bounds=(0, 1), by="region", max_groups=1),
        Sum("age", bounds=(0, 120)),
    ]
    made = [plan_query(question, table.source, table.unit) for question in questions]
    for one, rows in zip(made, run(table.source, make_batches(made)), strict=True):
        assert sorted(rows) == sorted(fetch(table.source, make_batches([one])[0].expression)), (
            one.query.title
        )


def test_a_sum_fits_its_count_and_other_questions_choose_other_groups(duck: Any) -> None:
    table = protected({"source": duckdb_of(people(), duck)}, "person", 1)

    def salt(question: Any) -> str:
        return plan_query(question, table.source, table.unit).selection.salt

    same = [Count(by="region", max_groups=1), Sum("age", bounds=(0, 9), by="region", max_groups=1)]
    other = [
        Count(by="region", max_groups=1, where="age > 3"),
        Count(by="region", max_groups=2),
        Count(by="grade", max_groups=1),
        Count(by="region", max_groups=1, groups=["north"]),
        Mean("age", bounds=(0, 9), by="region", max_groups=1),
        Mean("grade", bounds=(0, 9), by="region", max_groups=1),
        Quantile("age", "0.5", bounds=(0, 9), by="region", max_groups=1),
        Histogram("age", edges=[0, 9], max_groups=1),
    ]
    known = [
        Count(by="region", max_groups=1, where="age is not null"),
        Mean("age", bounds=(0, 9), by="region", max_groups=1),
        Mean("age", bounds=(0, 8), by="region", max_groups=1, where="age is not null"),
    ]
    assert len({salt(question) for question in same}) == 1
    assert len({salt(question) for question in known}) == 1
    assert len({salt(question) for question in same + other}) == 1 + len(other)


def test_more_keys_than_are_written_into_a_query(duck: Any) -> None:
    """What is not among them is left out of the answer, wherever it was left out."""
    rows = people()
    table = protected({"source": duckdb_of(rows, duck)}, None, 1)
    question = Count(by="grade", max_groups=1, groups=[1, 3, *range(100, 1200)])
    answer = table.ask([question], privacy=ln.Privacy(200))[0]
    assert isinstance(answer, ln.tables.GroupedAnswers)
    wanted = {grade: sum(row["grade"] == grade for row in rows) for grade in (1, 3)}
    assert {key: one.value for key, one in answer if one.value} == wanted
    assert len(answer) == 1102


# ------------------------------------------------------------------- order, threads, partitions


def test_any_order_of_rows_and_any_number_of_threads_give_one_integer(duck: Any) -> None:
    rows, chance = people(4000), random.Random(2)
    table = protected({"source": duckdb_of(rows, duck)}, "person", 2)
    some = [
        question for unit, counted, question, kept in asked(text=False)
        if kept is everything and (unit, counted) == ("person", 3)
    ][2::3]  # fmt: skip
    made = [plan_query(question, table.source, table.unit) for question in some]
    wanted = [expected(rows, one, ("person", 2)) for one in made]
    try:
        for threads in (1, 2, 4):
            duck.con.execute(f"SET threads = {threads}")
            chance.shuffle(rows)
            duckdb_of(rows, duck)
            for one, figure in zip(made, wanted, strict=True):
                keys = len(one.selection.by)
                got = {
                    row[:keys]: row[keys:]
                    for row in fetch(table.source, make_batches([one])[0].expression)
                }
                assert got == figure, (threads, one.query.title)
    finally:
        duck.con.execute("RESET threads")


@pytest.mark.long
def test_any_number_of_partitions_gives_one_integer(spark: Any) -> None:
    rows, chance = people(2000), random.Random(3)
    for partitions in (1, 3, 8):
        chance.shuffle(rows)
        table = protected({"source": spark_of(rows, spark, partitions)}, "person", 3)
        for unit, counted, question, kept in list(asked(text=False))[2::16]:
            assert (unit, counted) == ("person", 3)
            made, result = true_figures(table, question)
            assert result == expected(rows, made, ("person", 3), kept), question.title
