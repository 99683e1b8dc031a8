"""What one unit can move: on every engine no more than is declared, and as much."""

import hashlib
import math
import random
from datetime import date
from decimal import Decimal
from itertools import product
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leastnoise import UNRECORDED, Count, Privacy, protect
from leastnoise.errors import InvalidParameter
from leastnoise.tables.bounding import ADD_REMOVE, REPLACE, Contribution, Selection
from leastnoise.tables.execute import run
from leastnoise.tables.queries.planned_query import Unit
from leastnoise.tables.release import prepare
from tests.support.small_tables import (
    CASES,
    COLUMNS,
    DAYS,
    DECIMALS,
    GROUPS,
    NAMES,
    REALS,
    UNITS,
    WHOLES,
    Case,
    Engine,
    Row,
    floats,
)

Figures = dict[tuple[Any, ...], tuple[int, int]]
ENGINES = ["duck", "pg", pytest.param("spark", marks=pytest.mark.long)]
_NAMES = {"duck": "duckdb", "pg": "postgres", "spark": "pyspark"}


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Engine:
    """Each engine in turn."""
    return Engine(_NAMES[request.param], request.getfixturevalue(request.param))


@pytest.fixture
def embedded(duck: Any) -> Engine:
    """The engine that is always there."""
    return Engine("duckdb", duck)


def row(**values: Any) -> Row:
    """Return a row that holds the given values, and else those of an ordinary one."""
    usual: dict[str, Any] = {
        "id": 1, "name": "a", "g": "a", "h": 1, "day": date(2024, 2, 29),
        "x": 0.5, "r": 0.5, "i": 1, "d": Decimal(1), "b": True,
    }  # fmt: skip
    return tuple((usual | values).values())


_DRAWN: dict[str, st.SearchStrategy[Any]] = {
    "id": st.sampled_from(UNITS),
    "name": st.sampled_from(NAMES),
    "g": st.sampled_from(GROUPS),
    "h": st.sampled_from((0, 1, None)),
    "day": st.sampled_from(DAYS),
    "x": st.sampled_from(REALS) | st.floats(),
    "r": st.sampled_from(REALS).map(floats) | st.floats(width=32),
    "i": st.sampled_from(WHOLES) | st.integers(-(1 << 63), (1 << 63) - 1),
    "d": st.sampled_from(DECIMALS),
    "b": st.sampled_from((True, False, None)),
}


def rows(case: Case, **fixed: Any) -> st.SearchStrategy[Row]:
    """Draw any row: what a question looks at, with some of it given."""
    names = sorted({*case.by, case.column, *([case.unit] if case.unit else [])} - {*fixed})
    return st.tuples(*(_DRAWN[name] for name in names)).map(
        lambda drawn: row(**dict(zip(names, drawn, strict=True)) | fixed)
    )


@st.composite
def neighbours(draw: st.DrawFn, case: Case, kind: str) -> tuple[list[Row], list[Row]]:
    """Draw two tables that differ in one unit: added, removed, or replaced by any other."""
    if case.unit is None:
        base = draw(st.lists(rows(case), max_size=8))
        before, after = [draw(rows(case))], [draw(rows(case))] if kind == REPLACE else []
    else:
        place = ("id", "name").index(case.unit)
        one = draw(st.sampled_from((UNITS, NAMES)[place]))
        base = [r for r in draw(st.lists(rows(case), max_size=8)) if r[place] != one]
        own = st.lists(rows(case, **{case.unit: one}), max_size=6)
        before, after = draw(own), draw(own) if kind == REPLACE else []
    return draw(st.sampled_from([(base + before, base + after), (after + base, before + base)]))


def figures(engine: Engine, sql: str, table: list[Row]) -> Figures:
    engine.fill(table)
    return {row[:-2]: (row[-2], row[-1]) for row in engine.ask(sql)}


def check_moves(
    engine: Engine, sql: str, case: Case, kind: str, tables: tuple[list[Row], list[Row]]
) -> tuple[int, int, int]:
    """Check that two neighbouring tables are no farther apart than declared; return how far."""
    reach, lattice = case.reach(kind), case.lattice
    before, after = (figures(engine, sql, table) for table in tables)
    moves = [
        tuple(abs(a - b) for a, b in zip(before.get(g, (0, 0)), after.get(g, (0, 0)), strict=True))
        for g in before | after
    ]
    groups = sum(move != (0, 0) for move in moves)
    counts, sums = (max((move[i] for move in moves), default=0) for i in (0, 1))
    assert groups <= reach.touched, "too many groups moved"
    assert counts <= reach.count, "a count moved too far"
    assert sums <= reach.sum(lattice.low, lattice.high), "a sum moved too far"
    return groups, counts, sums


@pytest.mark.parametrize(
    ("name", "examples"),
    [
        ("duck", 80),
        ("pg", 60),
        pytest.param("duck", 3000, marks=pytest.mark.long),
        pytest.param("pg", 3000, marks=pytest.mark.long),
        pytest.param("spark", 60, marks=pytest.mark.long),
    ],
)
def test_one_unit_moves_no_figure_farther_than_is_declared(
    name: str, examples: int, request: pytest.FixtureRequest
) -> None:
    engine = Engine(_NAMES[name], request.getfixturevalue(name))
    queries = {case: case.sql(engine) for case in CASES}

    @settings(max_examples=examples, suppress_health_check=list(HealthCheck))
    @given(st.data(), st.sampled_from(CASES), st.sampled_from([ADD_REMOVE, REPLACE]))
    def on_any_tables(data: st.DataObject, case: Case, kind: str) -> None:
        tables = data.draw(neighbours(case, kind))
        check_moves(engine, queries[case], case, kind, tables)

    on_any_tables()


def test_the_check_above_catches_a_sum_without_bounds(embedded: Engine) -> None:
    case = Case(None, 1, 1, (), "x", (0, 1))
    tables: tuple[list[Row], list[Row]] = [row(x=0.5)], [row(x=0.5), row(x=2.0**40)]
    check_moves(embedded, case.sql(embedded), case, ADD_REMOVE, tables)
    naive = f"SELECT count(*), sum(x / {float(case.lattice.step)})::HUGEINT FROM people"
    with pytest.raises(AssertionError, match="a sum moved too far"):
        check_moves(embedded, naive, case, ADD_REMOVE, tables)


def test_a_sum_of_floats_depends_on_the_order_of_rows(embedded: Engine) -> None:
    """What integers are for: the same rows, and another float; ours is one."""
    large = 2.0**53
    rows = [row(x=large), *[row(x=1.0)] * 1000, row(x=-large)]
    case = Case(None, 1, 1, (), "x", (-(1 << 53), 1 << 53))
    embedded.backend.con.execute("SET threads = 1")  # so that rows are added in order
    naive = "SELECT count(*), sum(x)::HUGEINT FROM people"
    orders = rows, rows[::-1][1:] + rows[-1:]
    assert len({figures(embedded, naive, order)[()] for order in orders}) == 2
    assert len({figures(embedded, case.sql(embedded), order)[()] for order in orders}) == 1
    embedded.backend.con.execute("RESET threads")


def test_the_check_above_catches_units_without_bounds(embedded: Engine) -> None:
    case = Case("id", 2, 1, ("g",), "i", (0, 1))
    tables: tuple[list[Row], list[Row]] = [row()] * 3, []
    with pytest.raises(AssertionError, match="a count moved too far"):
        check_moves(
            embedded, "SELECT g, count(*), 0 FROM people GROUP BY g", case, ADD_REMOVE, tables
        )
    tables = [row(g="a"), row(g="b")], []
    with pytest.raises(AssertionError, match="too many groups moved"):
        check_moves(
            embedded, "SELECT g, count(*), 0 FROM people GROUP BY g", case, ADD_REMOVE, tables
        )


# ------------------------------------------------------------------------------- declared, reached


@pytest.mark.parametrize("bounds", [(-3, 5), (2, 5), (-5, -2), (-5, 3)])
@pytest.mark.parametrize("rows_counted", [1, 3])
def test_sums_and_counts_reach_what_is_declared(
    embedded: Engine, bounds: tuple[int, int], rows_counted: int
) -> None:
    case = Case("id", rows_counted, 1, ("g",), "i", bounds)
    sql, others = case.sql(embedded), [row(id=2), row(id=3, g="b")]
    low, high = ([row(i=end)] * (rows_counted + 1) for end in bounds)
    one = max(low, high, key=lambda table: abs(table[0][7] or 0))
    _, count, total = check_moves(embedded, sql, case, ADD_REMOVE, (others, others + one))
    assert (count, total) == (rows_counted, rows_counted * max(map(abs, bounds)))
    pairs = [(low, high), (low, []), (high, [])]
    moved = [
        check_moves(embedded, sql, case, REPLACE, (others + a, others + b))[2] for a, b in pairs
    ]
    assert max(moved) == case.reach(REPLACE).sum(*bounds)


_HELD: dict[str, list[Any]] = {
    "x": [None, math.nan, -math.inf, -4.5, 0.0, 2.5, math.inf],
    "i": [None, -9, -3, 0, 3, 9],
    "d": [None, Decimal(-9), Decimal("-2.5"), Decimal(0), Decimal("2.5"), Decimal(9)],
    "b": [None, False, True],
}


def shares(engine: Engine, case: Case, missing: int) -> set[int]:
    """Return what every possible unit adds to a sum: each one is alone in a group of its own."""
    most = 1 if case.unit is None else case.rows + 1
    sizes = range(0 if case.unit else 1, most + 1)
    held = [each for size in sizes for each in product(_HELD[case.column], repeat=size)]
    table = [
        row(id=unit, h=unit, **{case.column: value})
        for unit, values in enumerate(held)
        for value in values
    ]
    found = figures(engine, case.sql(engine, missing=missing), table)
    return {total for _, total in found.values()} | {0}


@pytest.mark.parametrize("bounds", [(2, 5), (-5, -2), (1, 3), (-3, 5)])
@pytest.mark.parametrize("column", _HELD)
def test_with_nulls_every_possible_unit_adds_what_is_declared(
    engine: Engine, column: str, bounds: tuple[int, int]
) -> None:
    """NULL adds 0 also if the bounds exclude it; all pairs of units are neighboring tables."""
    for unit, counted in ((None, 1), ("id", 1), ("id", 2)):
        case = Case(unit, counted, 1, ("h",), column, bounds)
        found, lattice = shares(engine, case, 0), case.lattice
        assert max(map(abs, found)) <= case.reach(ADD_REMOVE).sum(lattice.low, lattice.high)
        assert max(found) - min(found) <= case.reach(REPLACE).sum(lattice.low, lattice.high)
        if column == "x":  # its values reach all bounds
            assert max(map(abs, found)) == case.reach(ADD_REMOVE).sum(lattice.low, lattice.high)


def test_the_check_above_catches_a_null_that_adds_more(embedded: Engine) -> None:
    case = Case(None, 1, 1, ("h",), "i", (2, 5))
    found = shares(embedded, case, -1)
    assert max(found) - min(found) > case.reach(REPLACE).sum(2, 5)


@pytest.mark.parametrize("groups", [1, 2, 3])
def test_as_many_groups_move_as_are_declared(embedded: Engine, groups: int) -> None:
    case = Case("id", 1, groups, ("h",), "i", (0, 1))
    some, others = ([row(h=start + i) for i in range(5)] for start in (0, 10))
    sql = case.sql(embedded)
    assert check_moves(embedded, sql, case, ADD_REMOVE, (some, []))[0] == groups
    assert check_moves(embedded, sql, case, REPLACE, (some, others))[0] == 2 * groups
    assert case.reach(REPLACE).touched == 2 * groups


@pytest.mark.parametrize(("part", "whole"), [(1, 2), (1, 4), (9, 10), (0, 1), (1, 1)])
@pytest.mark.parametrize("counted", [1, 4])
def test_ranks_reach_what_is_declared(part: int, whole: int, counted: int) -> None:
    # A unit has any rows below and above, of which at most c count together.
    held = [(b, a) for b in range(counted + 1) for a in range(counted + 1 - b)]
    ranks = [whole * below - part * (below + above) for below, above in held]
    added, replaced = (
        Contribution(counted, kind, 1, grouped=False).rank(part, whole)
        for kind in (ADD_REMOVE, REPLACE)
    )
    assert added == max(map(abs, ranks))
    assert replaced == max(ranks) - min(ranks)


@pytest.mark.parametrize(
    ("rows", "neighbours", "message"),
    [(0, REPLACE, "max_rows must be an integer of at least 1"), (1, "both", "neighbors must")],
)
def test_a_unit_without_a_sensitivity_is_refused(rows: int, neighbours: str, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        Unit("id", rows, neighbours)


def test_more_rows_than_doubles_count_are_refused(embedded: Engine) -> None:
    with pytest.raises(InvalidParameter, match="at most 2⁵³"):
        Case("id", (1 << 53) + 1, 1, (), "i", (0, 1)).sql(embedded)


# ------------------------------------------------------------------------------ one value, anywhere


def seeded(size: int) -> list[Row]:
    """Return a table with every special value, the same at each call."""
    chance = random.Random(7)
    columns: list[Any] = [
        UNITS, NAMES, GROUPS, (0, 1, None), DAYS, (*REALS, 1 / 3), tuple(map(floats, REALS)),
        WHOLES, DECIMALS, (True, False, None),
    ]  # fmt: skip
    return [tuple(map(chance.choice, columns)) for _ in range(size)]


@pytest.mark.parametrize("other", [name for name in ENGINES if name != "duck"])
def test_all_engines_find_the_same_integers(
    embedded: Engine, other: str, request: pytest.FixtureRequest
) -> None:
    engine = Engine(_NAMES[other], request.getfixturevalue(other))
    table = seeded(400)
    for case in CASES:
        found = figures(engine, case.sql(engine), table)
        assert found == figures(embedded, case.sql(embedded), table)
        assert len(found) > 1 or not case.by
        assert all(type(figure) is int for row in found.values() for figure in row)


def test_order_and_threads_do_not_matter(embedded: Engine) -> None:
    table, chance = seeded(3000), random.Random(8)
    queries = {case: case.sql(embedded) for case in CASES}
    first: dict[Case, Figures] = {}
    for threads in (1, 2, 3):
        embedded.backend.con.execute(f"SET threads = {threads}")
        chance.shuffle(table)
        for case, sql in queries.items():
            found = figures(embedded, sql, table)
            assert found == first.setdefault(case, found)
    embedded.backend.con.execute("RESET threads")


@pytest.mark.parametrize(("column", "groups"), [("id", 1), ("name", 2), ("id", 9)])
def test_a_unit_counts_in_the_groups_whose_hash_comes_first(
    engine: Engine, column: str, groups: int
) -> None:
    # A unit's rows are worth a power of two of its own, so that sums tell who counts where.
    held = {unit: {f"é{(7 * unit + i * i) % 23}" for i in range(unit % 7)} for unit in range(40)}
    table = [
        row(id=unit, name=str(unit), g=group, i=1 << unit)
        for unit, names in held.items()
        for group in names
    ]
    random.Random(groups).shuffle(table)
    case = Case(column, 1, groups, ("g",), "i", (0, 1 << 53))
    found = figures(engine, case.sql(engine), table)
    for unit, names in held.items():
        first = sorted(names, key=lambda name: _hash("salt", str(unit), name))[:groups]
        counted = {group for (group,), (_, total) in found.items() if total >> unit & 1}
        assert counted == set(first)


def test_groups_of_several_columns_are_told_apart(engine: Engine) -> None:
    # Joined as they are, the names of these groups would be one text.
    pairs = [("a", 11), ("a1", 1), ("", 0), ("2:😀", 0)]
    dates = [date(1, 2, 3), date(2024, 2, 29)]
    held = [(name, number, day) for name, number in pairs for day in dates]
    case = Case("id", 1, 3, ("g", "h", "day"), "i", (0, 1))
    found = figures(engine, case.sql(engine), [row(g=g, h=h, day=day) for g, h, day in held])

    def place(key: tuple[str, int, date]) -> str:
        name, number, day = key
        parts = [name, str(number), str(day.year * 10_000 + day.month * 100 + day.day)]
        return _hash("salt", "1", *parts)

    assert set(found) == set(sorted(held, key=place)[:3])


def _hash(*parts: str) -> str:
    *before, last = parts
    text = "".join(f"{len(part)}:{part}" for part in before) + last
    return hashlib.md5(text.encode()).hexdigest()


def test_with_keys_it_is_as_if_there_were_no_other_rows(engine: Engine) -> None:
    table = seeded(300)
    for case in CASES:
        if not case.by:
            continue
        places = [COLUMNS.index(name) for name in case.by]
        there = [key for r in table if None not in (key := tuple(r[place] for place in places))]
        keys = sorted(set(there), key=str)[::2]
        chosen = [r for r in table if tuple(r[place] for place in places) in keys]
        with_keys = figures(engine, case.sql(engine, keys), table)
        assert with_keys == figures(engine, case.sql(engine), chosen)
        assert set() != set(with_keys) <= set(keys)


@pytest.mark.long
def test_a_thousand_keys_of_two_columns_are_not_too_deep(engine: Engine) -> None:
    case = Case("id", 1, 1, ("g", "h"), "i", (0, 1))
    keys = [(f"g{i}", i) for i in range(998)] + [("a", 1), ("a", 2)]
    assert figures(engine, case.sql(engine, keys), [row()]) == {("a", 1): (1, 1)}


@pytest.mark.parametrize("unit", [None, "id"])
def test_sums_beyond_64_bits_are_exact(engine: Engine, unit: str | None) -> None:
    large, size = 1 << 53, 3000
    table = [row(id=number % 2, i=large) for number in range(size)]
    for by in ((), ("g",)):
        case = Case(unit, size if unit else 1, 1, by, "i", (-large, large))
        found = figures(engine, case.sql(engine), table)
        assert list(found.values()) == [(size, size * large)]
        assert size * large > 1 << 64


def test_an_empty_table_has_one_answer_without_groups_and_none_with(engine: Engine) -> None:
    for case in CASES:
        assert figures(engine, case.sql(engine), []) == ({} if case.by else {(): (0, 0)})


def test_units_and_groups_without_a_name_count_nowhere(engine: Engine) -> None:
    case = Case("id", 1, 1, ("g",), "i", (0, 1))
    assert figures(engine, case.sql(engine), [row(id=None), row(g=None)]) == {}
    ungrouped = Case("id", 1, 1, (), "i", (0, 1))
    assert figures(engine, ungrouped.sql(engine), [row(id=None), row(g=None)]) == {(): (1, 1)}


def test_blanks_of_fixed_width_are_no_part_of_a_name(pg: Any) -> None:
    with pg.con.cursor() as cursor:
        cursor.execute("CREATE TABLE codes (code char(5), id char(3))")
        cursor.execute("INSERT INTO codes VALUES ('ab', 'x'), ('ab ', 'x'), ('cd', 'y')")
    pg.con.commit()
    codes = pg.table("codes")
    selection = Selection(
        table=codes,
        by={"leastnoise_g0": codes.code},
        keys=[("ab",)],
        unit="id",
        rows=1,
        groups=1,
        salt="salt",
        engine="postgres",
    )
    query = selection.query()
    with pg.con.cursor() as cursor:
        assert cursor.execute(pg.compile(query)).fetchall() == [("ab", 1)]


# ------------------------------------------------------------------------------ very long names


def _chosen_groups(source: Any) -> list[Any]:
    """Return the groups of two columns in which each unit counts, one of four, and given ones."""
    table = protect(source, unit="u", max_rows=1, ledger=UNRECORDED)
    discovered = Count(by=("g", "h"), max_groups=1)
    keys = [(g, h) for g in ("a", "b" * 2_000) for h in ("a", "b")][1:]
    given = Count(by=("g", "h"), groups=keys, max_groups=1)
    prepared = prepare([discovered, given], table.source, table.unit, Privacy(1, "1e-6"))
    return [sorted(rows) for rows in run(table.source, prepared.batches)]


def test_long_names_are_chosen_alike_on_all_engines(duck: Any, pg: Any) -> None:
    """Names above 1000 characters are hashed before they are joined."""
    rows = [
        (f"{unit}" + "é" * (length - 2), g, h)
        for unit in range(10, 40)
        for length in (2, 999, 1_000, 1_001, 3_000)
        for g in ("a", "b" * 2_000, "b" * 2_001)
        for h in ("a", "b")
    ]
    pg.con.execute("CREATE TABLE long_names (u text, g text, h text)")
    with pg.con.cursor() as cursor, cursor.copy("COPY long_names FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)
    names = pa.table(dict(zip("ugh", zip(*rows, strict=True), strict=True)))
    duck.con.register("given", names)
    duck.con.execute("CREATE TABLE long_names AS FROM given")
    one, two = _chosen_groups(duck.table("long_names")), _chosen_groups(pg.table("long_names"))
    assert one == two
    assert [sum(row[-1] for row in rows) for rows in one] == [150, 150]
    assert [len(rows) for rows in one] == [6, 3]


@pytest.mark.long
def test_a_row_with_two_huge_strings_does_not_fail(pg: Any) -> None:
    """PostgreSQL's strings end at 1 GB, which these two would pass if joined, or kept in a row."""
    pg.con.execute("CREATE TABLE huge (u text, g text)")
    pg.con.execute("INSERT INTO huge SELECT 'u' || i, 'g' FROM generate_series(1, 100) i")
    pg.con.execute("INSERT INTO huge VALUES (repeat('x', 550000000), 'h')")
    pg.con.execute("UPDATE huge SET g = repeat('y', 550000000) WHERE g = 'h'")
    table = protect(pg.table("huge"), unit="u", max_rows=1, ledger=UNRECORDED)
    discovered = Count(by="g", max_groups=1)
    prepared = prepare([discovered], table.source, table.unit, Privacy(1, "1e-6"))
    ((one, two),) = run(table.source, prepared.batches)
    assert sorted([one[1], two[1]]) == [1, 100]
