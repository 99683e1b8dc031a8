"""The groups in which a unit counts: the first by a hash, the same on all engines.

The hash is computed again in plain Python (reference_answers.py).
"""

import random
from datetime import date
from itertools import product
from math import sqrt
from typing import Any

import pytest

from leastnoise.tables.bounding import Selection
from leastnoise.tables.sources import fetch, open_source
from tests.support.reference_answers import order_of_group

ENGINES = ["duck", "pg", pytest.param("spark", marks=pytest.mark.long)]
# Two names with this difference have the same hash.
PERIOD = 2147483659
UNITS = (0, 1, -1, 7, 2**31 - 1, -(2**31), PERIOD, 2**62 + 5, 2**63 - 1, -(2**63))
# The type of a column of groups, and names in it.
GROUPS: dict[str, tuple[Any, ...]] = {
    "smallint": (-32768, -2, 0, 1, 5, 32767),
    "int": (-(2**31), -7, 0, 1, 2, 2**31 - 1),
    "bigint": (-(2**63), -PERIOD, 0, 3, 3 + PERIOD, 3 + 2 * PERIOD, 2**63 - 1),
    "boolean": (True, False),
    "date": (date(1, 1, 1), date(1970, 1, 1), date(2024, 2, 29), date(9999, 12, 31)),
}


def fill(backend: Any, kinds: tuple[str, ...], rows: list[tuple[Any, ...]]) -> Any:
    """Return a table of units u and groups in columns c0, c1, …"""
    types = ("bigint", *kinds)
    names = ["u", *(f"c{place}" for place in range(len(kinds)))]
    columns = [f"CAST({{}} AS {kind}) AS {name}" for name, kind in zip(names, types, strict=True)]
    lines = (
        "SELECT " + ", ".join(c.format(_literal(v)) for c, v in zip(columns, row, strict=True))
        for row in rows
    )
    sql = " UNION ALL ".join(lines)
    if hasattr(backend, "_session"):
        backend._session.sql(sql).createOrReplaceTempView("chosen")
    else:
        backend.con.execute(f"CREATE TABLE chosen AS {sql}")
    return backend.table("chosen")


def _literal(value: Any) -> str:
    return str(value) if isinstance(value, bool) else f"'{value}'"


def choose(table: Any, groups: int, keys: list[tuple[Any, ...]] | None) -> list[tuple[Any, ...]]:
    source = open_source(table)
    by = {name: table[name] for name in table.columns if name != "u"}
    how: dict[str, Any] = {"unit": "u", "rows": 1, "groups": groups, "salt": "salt"}
    return fetch(
        source, Selection(table=table, by=by, keys=keys, engine=source.engine, **how).query()
    )


@pytest.mark.parametrize("backend", ENGINES)
@pytest.mark.parametrize(
    "kinds",
    [*((kind,) for kind in GROUPS), ("boolean", "date"), ("int", "bigint")],
    ids=" and ".join,
)
def test_integers_booleans_and_dates_are_chosen_alike(
    backend: str, kinds: tuple[str, ...], request: pytest.FixtureRequest
) -> None:
    chance = random.Random(3)
    names = list(product(*(GROUPS[kind] for kind in kinds)))
    held = {unit: chance.sample(names, min(len(names), 5)) for unit in UNITS}
    rows = [(unit, *group) for unit, own in held.items() for group in own]
    chance.shuffle(rows)
    table = fill(request.getfixturevalue(backend), kinds, rows)
    near = [group for group in names if all(part in (0, 1, 2, 3, 5) for part in group)]
    for groups, keys in [(1, None), (2, None), (1, names[1:]), (1, near or names), (3, names[1:])]:
        expected: dict[Any, int] = {}
        for unit, own in held.items():
            known = [group for group in own if keys is None or group in keys]
            first = sorted(known, key=lambda group: order_of_group("salt", unit, *group))
            for group in first[:groups]:
                expected[group] = expected.get(group, 0) + 1
        assert {row[:-1]: row[-1] for row in choose(table, groups, keys)} == expected


@pytest.mark.parametrize("backend", ENGINES)
@pytest.mark.parametrize("public", [False, True])
def test_the_smaller_of_two_names_with_one_hash_comes_first(
    backend: str, public: bool, request: pytest.FixtureRequest
) -> None:
    pair = [(4 + PERIOD,), (4,)]
    assert len({order_of_group("salt", 1, *name)[0] for name in pair}) == 1
    rows = [(unit, *name) for unit in range(20) for name in pair]
    table = fill(request.getfixturevalue(backend), ("bigint",), rows)
    keys = [*pair, (0,)] if public else None
    assert choose(table, 1, keys) == [(4, 20)]


@pytest.mark.parametrize("spread", [1, 1000, 1 << 40])
@pytest.mark.parametrize(
    "groups",
    [
        (0, 1),
        (0, 1, 2),
        (-5, 0, 5),
        (-100_000, 100_000),
        (-(2**31), -1, 2**31 - 1),
        tuple(range(20240101, 20240113)),
    ],
)
def test_no_group_is_preferred_and_units_choose_independently(
    duck: Any, spread: int, groups: tuple[int, ...]
) -> None:
    """A fair choice lies outside of these bounds, of 7 standard deviations, with less than 1e-9."""
    units, fair = 20_000, 1 / len(groups)
    duck.con.execute("CREATE TABLE chosen (u bigint, c0 int, place int)")
    duck.con.execute(
        "INSERT INTO chosen SELECT i * $1, c, i FROM range($2) AS t(i), unnest($3) AS g(c)",
        [spread, units, list(groups)],
    )
    people = duck.table("chosen")
    width = 7 * sqrt(units * fair * (1 - fair))
    for salt in ("a", "b", "c"):
        how: dict[str, Any] = {"by": {"c0": people.c0}, "keys": None, "unit": "u", "rows": 1}
        whole = Selection(table=people, groups=1, salt=salt, engine="duckdb", **how)
        counts = dict(fetch(open_source(people), whole.query()))
        assert sum(counts.values()) == units
        assert all(abs(counts.get(group, 0) - units * fair) < width for group in groups)
        # Units in turn choose the same group as often as any two.
        own = how | {"by": {"c0": people.c0, "pair": people.place // 2}}
        pairs = Selection(table=people, groups=1, salt=salt, engine="duckdb", **own)
        chosen = fetch(open_source(people), pairs.query())
        same = sum(count == 2 for *_, count in chosen)
        half = units / 2
        assert abs(same - half * fair) < 7 * sqrt(half * fair * (1 - fair))
