"""What one unit can move, asked as questions are: through prepared queries, on any two neighbours.

Of any table and any change of one unit, special values included: the numbers that a question
releases move by at most the sensitivity that their noise was made for, and at most so many of them
move as the guarantee was shared among.
"""

from itertools import accumulate
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import leastnoise as ln
from leastnoise.tables import (
    ClippedShare,
    Count,
    EstimateBounds,
    Histogram,
    Max,
    Mean,
    Min,
    Quantile,
    Std,
    Sum,
    Variance,
)
from leastnoise.tables.bounding import ADD_REMOVE, REPLACE
from leastnoise.tables.execute import make_batches
from leastnoise.tables.queries.plan import plan_query
from leastnoise.tables.queries.planned_query import PlannedQuery
from tests.support.small_tables import (
    DAYS,
    GROUPS,
    NAMES,
    REALS,
    UNITS,
    WHOLES,
    Engine,
    Row,
    floats,
)

Tables = tuple[list[Row], list[Row]]

QUESTIONS: tuple[Any, ...] = (
    Count(),
    Count(where="i >= -1 and g != 'a'"),
    Count(by="g", max_groups=1),
    Count(by=["g", "h"], max_groups=2, where="not x > 0.5 or b = true"),
    Count(by="day", max_groups=1, groups=[d for d in DAYS if d][:2]),
    Sum("x", bounds=(-1, "0.7")),
    Sum("x", bounds=(-1, "0.7"), where="i is not null"),
    Sum("i", bounds=(-7, 3), by="g", max_groups=2),
    Sum("i", bounds=(2, 5), by="g", max_groups=1, groups=["a", "b"], where="h in (0, 1)"),
    Sum("b", bounds=(0, 1)),
    Sum("x", bounds=(20, 30)),
    Sum("i", bounds=(-9, -2), by="g", max_groups=2),
    Mean("x", bounds=(-3, 2)),
    Mean("r", bounds=(1, 5), by="g", max_groups=2),
    Mean("i", bounds=(-9, 9), by=["g", "b"], max_groups=1, groups=[("a", True), ("b", False)]),
    Histogram("x", edges=[-1, 0, "0.5", 3], max_groups=1),
    Histogram("i", edges=[-7, 0, 7], by="g", groups=["a", "b"], max_groups=3),
    Quantile("x", "0.25", bounds=(-1, 3), bins=4),
    Quantile("i", "0.9", bounds=(-7, 7), bins=5, by="g", max_groups=1, where="x < 3"),
    Quantile("i", "0.5", bounds=(-7, 7), bins=3, by="g", max_groups=2),
    Quantile("x", "0.25", bounds=(-1, 3), bins=4, by="g", groups=["a", "b"], max_groups=3),
    Count(where="i - h > 0 or g like '%a%' or x < r or name = g"),
    Count(by="i - h", max_groups=2, groups=[0, 1, 7]),
    Sum("i * h - 2", bounds=(-7, 3), by="weekday(day)", max_groups=2),
    Count(where="day >= '1970-01-01' or day between '0001-01-01' and '0001-01-02'"),
    Sum("year(day)", bounds=(0, 2024), where="month(day) != 2"),
    Mean("x * r - i", bounds=(-3, 2), by="month(day)", max_groups=1),
    Quantile("(x + r) / 3", "0.5", bounds=(-1, 3), bins=4),
    Variance("x", bounds=(-3, 2)),
    Variance("r", bounds=(1, 5), by="g", max_groups=2),
    Variance("i", bounds=(-9, 9), by=["g", "b"], max_groups=1, groups=[("a", True)]),
    Variance("i", bounds=(-(1 << 53), 1 << 53)),
    Std("x * r - i", bounds=(-3, 2), by="month(day)", max_groups=1),
    Min("x", bounds=(-1, 3), bins=4),
    Max("i", bounds=(-7, 7), bins=5, by="g", max_groups=2),
    Min("x", bounds=(-1, 3), bins=4, by="g", groups=["a", "b"], max_groups=3),
    EstimateBounds("x", bounds=(-9, 1e6)),
    EstimateBounds("i", bounds=(-(1 << 53), 1 << 53), by="g", max_groups=2),
    Count(of="units"),
    Count(of="units", by="g", max_groups=2, where="i >= -1"),
    ClippedShare("x", bounds=(-1, "0.7")),
    ClippedShare("r", bounds=(1, 5), by="g", max_groups=2),
    ClippedShare("x * r - i", bounds=(-3, 2), by="g", groups=["a", "b"], max_groups=1),
)
# With a max_rows of their own, for tables with units.
OWN_ROWS: tuple[Any, ...] = (
    Count(max_rows=1),
    Count(by="g", max_groups=2, max_rows=4),
    Sum("x", bounds=(-1, "0.7"), max_rows=2),
    Mean("i", bounds=(-9, 9), by="g", max_groups=1, max_rows=4),
    ClippedShare("i", bounds=(-3, 3), max_rows=4),
    Histogram("i", edges=[-7, 0, 7], max_groups=1, max_rows=2),
    Quantile("x", "0.25", bounds=(-1, 3), bins=4, by="g", max_groups=2, max_rows=1),
    Variance("i", bounds=(-9, 9), by="g", max_groups=1, max_rows=4),
    Std("x", bounds=(-3, 2), max_rows=1),
    Min("x", bounds=(-1, 3), bins=4, by="g", max_groups=2, max_rows=4),
    Max("i", bounds=(-7, 7), bins=5, max_rows=1),
    EstimateBounds("i", bounds=(-(1 << 53), 1 << 53), by="g", max_groups=2, max_rows=4),
)
# By the columns of a lookup, whose key is "h".
LOOKED_UP: tuple[Any, ...] = (
    Count(where="side = 'n'"),
    Count(by="side", max_groups=1),
    Sum("size - i", bounds=(-7, 3), by="side", max_groups=2),
    Mean("size", bounds=(0, 9)),
)
LOOKUP = pa.table(
    {
        "h": pa.array([0, 1, 2], pa.int32()),
        "side": ["n", "s", "n"],
        "size": [5, None, 7],
    }
)
# Of "name", converted to a decimal; it is then no column of units.
CONVERTED: tuple[Any, ...] = (
    Sum("name", bounds=(-3, 7)),
    Mean("name - x", bounds=(-3, 13), where="name != 12.5"),
    Quantile("name", "0.5", bounds=(-4, 16), bins=5),
)
_UNITS: tuple[tuple[str | None, int], ...] = ((None, 1), ("id", 1), ("id", 2), ("name", 3))

_FIELDS = st.tuples(
    st.sampled_from(UNITS),
    st.sampled_from((*NAMES, "-2.5", " 12.50", "+7.000000000000000001", "1e3")),
    st.sampled_from(GROUPS),
    st.sampled_from((0, 1, None)),
    st.sampled_from(DAYS),
    st.sampled_from(REALS) | st.floats(),
    st.sampled_from(REALS).map(floats),
    st.sampled_from(WHOLES) | st.integers(-9, 9),
    st.none(),
    st.sampled_from((True, False, None)),
)


@st.composite
def neighbours(draw: st.DrawFn, unit: str | None, kind: str) -> Tables:
    """Draw two tables that differ in one unit: added, removed, or replaced by any other."""
    base = draw(st.lists(_FIELDS, max_size=8))
    if unit is None:
        before, after = [draw(_FIELDS)], [draw(_FIELDS)] if kind == REPLACE else []
    else:
        place = ("id", "name").index(unit)
        one = draw(st.sampled_from((UNITS, NAMES)[place]))
        base = [row for row in base if row[place] != one]

        def own() -> list[Row]:
            rows = draw(st.lists(_FIELDS, max_size=6))
            return [(*row[:place], one, *row[place + 1 :]) for row in rows]

        before, after = own(), own() if kind == REPLACE else []
    tables = base + before, after + base
    return tables if draw(st.booleans()) else tables[::-1]


def numbers(made: PlannedQuery, rows: list[tuple[Any, ...]]) -> list[dict[Any, Any]]:
    """Return, of each kind of number that is released, all of them: by group, or where compared."""
    keys = len(made.selection.by)
    question = made.query
    if isinstance(question, Min | Max | EstimateBounds):
        return tails(made, rows)
    if not isinstance(question, Quantile):
        return [
            {row[:keys]: row[keys + place] * number.step for row in rows}
            for place, number in enumerate(made.numbers)
        ]
    bins: dict[Any, list[int]] = {}
    for row in rows:
        bins.setdefault(row[: keys - 1], [0] * question.grid.count)[row[keys - 1]] = row[keys]
    part, whole = question.q.as_integer_ratio()
    ranks = {
        (group, edge): whole * below - part * sum(counts)
        for group, counts in bins.items()
        for edge, below in enumerate(accumulate(counts))
    }
    totals = {group: sum(counts) for group, counts in bins.items()}
    return [totals, ranks] if len(made.numbers) == 2 else [ranks]


def tails(made: PlannedQuery, rows: list[tuple[Any, ...]]) -> list[dict[Any, Any]]:
    """Return the rows of each group, if groups are discovered, and those on each side of edges."""
    keys, question = len(made.selection.by), made.query
    assert isinstance(question, Min | Max | EstimateBounds)
    bins: dict[Any, list[int]] = {}
    for row in rows:
        bins.setdefault(row[: keys - 1], [0] * question.grid.count)[row[keys - 1]] = row[keys]
    totals = {group: sum(counts) for group, counts in bins.items()}
    below = {
        (group, "below", edge): rows_below
        for group, counts in bins.items()
        for edge, rows_below in enumerate(accumulate(counts[:-1]))
    }
    above = {
        (group, "above", edge): totals[group] - rows_below
        for (group, _, edge), rows_below in below.items()
    }
    sides = {Min: below, Max: above, EstimateBounds: below | above}[type(question)]
    return [totals, sides] if len(made.numbers) == 2 else [sides]


def check_moves(made: PlannedQuery, results: list[list[tuple[Any, ...]]]) -> None:
    """Check that two results are no farther apart than the noise was made for."""
    before, after = (numbers(made, rows) for rows in results)
    for number, one, other in zip(made.numbers, before, after, strict=True):
        moves = {key: abs(one.get(key, 0) - other.get(key, 0)) for key in one | other}
        assert max(moves.values(), default=0) <= number.sensitivity, "moved too far"
        moved = {key for key, move in moves.items() if move}
        if number.candidates is not None:  # selected by the ranks of all edges of a group
            moved = {key[:-1] for key in moved}
        assert len(moved) <= number.touched, "too many moved"


def prepare(engine: Engine, question: Any, unit: tuple[str | None, int], kind: str) -> PlannedQuery:
    people = ln.protect(
        engine.people,
        unit=unit[0],
        max_rows=None if unit[0] is None else unit[1],
        neighbors=kind,
        ledger=ln.UNRECORDED,
        types={"name": "decimal"} if question in CONVERTED else None,
    )
    if question in LOOKED_UP:
        people = people.join(LOOKUP, on="h")
    return plan_query(question, people.source, people.unit)


def results(engine: Engine, sql: str, tables: Tables) -> list[list[tuple[Any, ...]]]:
    found = []
    for table in tables:
        engine.fill(table)
        found.append(engine.ask(sql))
    return found


@pytest.mark.parametrize("examples", [60, pytest.param(2000, marks=pytest.mark.long)])
def test_one_unit_moves_no_number_farther_than_its_noise_is_made_for(
    examples: int, duck: Any
) -> None:
    engine = Engine("duckdb", duck)
    # Each question with a unit and a kind of neighbours in turn, or with all of them.
    every = [(unit, kind) for kind in (ADD_REMOVE, REPLACE) for unit in _UNITS]
    cases = [
        (question, *case)
        for place, question in enumerate(QUESTIONS + LOOKED_UP + CONVERTED)
        for case in (every if examples > 1000 else every[place % 8 : place % 8 + 1])
        if not (question in CONVERTED and case[0][0] == "name")
    ]
    of_units = [case for case in every if case[0][0] is not None]
    cases += [
        (question, *case)
        for place, question in enumerate(OWN_ROWS)
        for case in (of_units if examples > 1000 else of_units[place % 6 : place % 6 + 1])
    ]
    made = [prepare(engine, *case) for case in cases]
    sql = [engine.sql(make_batches([one])[0].expression) for one in made]

    @settings(max_examples=examples, suppress_health_check=list(HealthCheck))
    @given(st.data(), st.sampled_from(range(len(cases))))
    def on_any_tables(data: st.DataObject, at: int) -> None:
        _, unit, kind = cases[at]
        tables = data.draw(neighbours(unit[0], kind))
        check_moves(made[at], results(engine, sql[at], tables))

    on_any_tables()


def row(unit: int, group: str = "a", x: float = 1.0) -> Row:
    return (unit, "n", group, 1, None, x, 0.0, 1, None, True)


@pytest.mark.parametrize(
    ("question", "naive", "tables", "wrong"),
    [
        (Count(), "SELECT count(*) FROM people", ([row(1)] * 2, []), "too far"),
        (
            Count(by="g", max_groups=1),
            "SELECT g, count(DISTINCT id) FROM people GROUP BY g",
            ([row(1, "a"), row(1, "b")], []),
            "too many",
        ),
        (
            Sum("x", bounds=(0, 1)),
            f"SELECT sum(least(greatest(x, 0), 1)) * {1 << 40} FROM people",
            ([row(1)] * 2 + [row(2)], [row(2)]),
            "too far",
        ),
        (
            Mean("x", bounds=(0, 1)),
            f"SELECT count(DISTINCT id), sum(x - 0.5) * {1 << 20} FROM people",
            ([row(1, x=9.0), row(2)], [row(2)]),
            "too far",
        ),
        (
            Variance("x", bounds=(0, 1)),
            f"SELECT count(DISTINCT id), 0, sum(4 * (x - 0.5)^2 - 0.5) * {1 << 20} FROM people",
            ([row(1, x=1.0), row(1, x=1.0), row(2)], [row(2)]),
            "too far",
        ),
        (
            Variance("x", bounds=(0, 1)),
            f"SELECT count(DISTINCT id), 0, sum((x - 0.5)^2) * {1 << 22} FROM people",
            ([row(1, x=1.0), row(2)], [row(2)]),
            "too far",
        ),
        (
            Min("x", bounds=(0, 1), bins=2),
            "SELECT (x >= 0.5)::int, count(*) FROM people GROUP BY 1",
            ([row(1, x=0.0)] * 2 + [row(2)], [row(2)]),
            "too far",
        ),
        (
            EstimateBounds("x", bounds=(-1, 1)),
            "SELECT (x > 0.5)::int, count(*) FROM people GROUP BY 1",
            ([row(1, x=1.0)] * 2 + [row(2)], [row(2)]),
            "too far",
        ),
        (
            Quantile("x", "0.5", bounds=(0, 1), bins=2),
            "SELECT (x >= 0.5)::int, count(*) FROM people GROUP BY 1",
            ([row(1)] * 2 + [row(2)], [row(2)]),
            "too far",
        ),
        (
            Quantile("x", "0.5", bounds=(0, 1), bins=2, by="g", groups=["a", "b"], max_groups=2),
            "SELECT DISTINCT g, (x >= 0.5)::int, 1 FROM people",
            ([row(1, x=0.0), row(1, x=0.1), row(1, x=1.0)], []),
            "too far",
        ),
        (
            Histogram("x", edges=[0, 1, 2], max_groups=1),
            "SELECT floor(x)::int, count(DISTINCT id) FROM people GROUP BY 1",
            ([row(1, x=0.0), row(1, x=1.0)], []),
            "too many",
        ),
    ],
    ids=[
        "count",
        "count by",
        "sum",
        "mean",
        "variance",
        "squares not from their middle",
        "min",
        "bounds",
        "quantile",
        "quantile by",
        "histogram",
    ],
)
def test_the_check_above_catches_queries_without_bounds(
    duck: Any, question: Any, naive: str, tables: Tables, wrong: str
) -> None:
    engine = Engine("duckdb", duck)
    made = prepare(engine, question, ("id", 1), ADD_REMOVE)
    check_moves(made, results(engine, engine.sql(make_batches([made])[0].expression), tables))
    with pytest.raises(AssertionError, match=wrong):
        check_moves(made, results(engine, naive, tables))


def test_a_replaced_row_that_a_condition_of_the_table_itself_leaves_out(duck: Any) -> None:
    """A sum moves by a whole row then, not only from one bound to the other."""
    engine = Engine("duckdb", duck)
    question, tables = Sum("x", bounds=(2, 5)), ([row(1, x=9.0)], [row(1, x=-9.0)])
    for source, moved in ((engine.people, 5), (engine.people.filter(engine.people.x > 0), 5)):
        people = ln.protect(source, unit=None, neighbors=REPLACE, ledger=ln.UNRECORDED)
        made = plan_query(question, people.source, people.unit)
        check_moves(made, results(engine, engine.sql(make_batches([made])[0].expression), tables))
        assert made.numbers[0].sensitivity == moved
