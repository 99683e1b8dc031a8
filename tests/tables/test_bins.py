"""Every value lies in the bin that its answer prints: exact comparisons with the edges."""

import math
from bisect import bisect_right
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from leastnoise.tables.bounding import Bins, divide

LARGE = 1 << 53
ENGINES = ["duck", "pg", pytest.param("spark", marks=pytest.mark.long)]
# Bounds, and how many bins: edges that are doubles and such that are not, around 0 and far off.
GRIDS: list[tuple[tuple[Any, Any], int]] = [
    ((0, 10**6), 100),
    ((0, 1), 10),
    ((-1, 2), 7),
    ((-2, 1), 3 << 9),
    ((-1, 1), 1 << 16),
    (("0.1", 3), 1000),
    ((0, 120), 1024),
    ((-LARGE, LARGE), (1 << 16) - 1),
    ((-LARGE, LARGE), 3),
    ((LARGE - 1, LARGE), 3),
    ((LARGE - 4096, LARGE - 1), 1000),
    (("123456789.25", "123456789.5"), 60_000),
    ((-(1 << 40), 3 - (1 << 40)), 11),
    ((0, "1e-15"), 999),
    (("1e-10", "2e-10"), 77),
    (("-1.5", -1), 1000),
]
# Integers stay exact on all engines, and decimals of up to 18 digits after the point.
TYPES: dict[str, dict[str, int | None]] = {
    "duck": {"double": None, "float": None, "bigint": 0, "hugeint": 0, "decimal(12, 2)": 2,
             "decimal(38, 9)": 9, "decimal(38, 18)": 18, "decimal(9, 1)": 1,
             "decimal(12, 10)": 10, "decimal(18, 14)": 14, "decimal(17, 17)": 17,
             "decimal(9, 9)": 9},
    "pg": {"float8": None, "float4": None, "bigint": 0, "numeric": 40, "numeric(12, 2)": 2,
           "numeric(38, 18)": 18, "numeric(38, 25)": 25},
    "spark": {"double": None, "float": None, "bigint": 0, "decimal(12, 2)": 2, "decimal(38, 9)": 9,
              "decimal(38, 18)": 18, "decimal(12, 10)": 10, "decimal(9, 9)": 9},
}  # fmt: skip


@cache
def edges_of(grid: Bins) -> list[Fraction]:
    """Return the lower edge of each bin, as it is printed."""
    return [grid.ends(place)[0] for place in range(grid.count)]


def near(edges: list[Fraction], kind: str, digits: int | None) -> list[Any]:
    """Return values of a type at some edges and beside them, extremes, and what is no number."""
    places = sorted({*range(3), *range(len(edges) // 2 - 2, len(edges) // 2 + 3), len(edges) - 1})
    some = [edges[place] for place in places if 0 <= place < len(edges)]
    some += [edge for edge in edges if edge == 0] + [2 * edges[-1] - edges[-2], edges[0] - 1]
    if digits is None:
        exact = [float(edge) for edge in some]
        beside = [math.nextafter(x, way) for x in exact for way in (-math.inf, math.inf)]
        twice = [math.nextafter(x, math.inf) for x in beside]
        extremes = [math.nan, math.inf, -math.inf, 5e-324, -5e-324, 1e308, -0.0, None, 9999.99]
        if kind in ("float", "float4"):
            import numpy as np

            some_doubles = [x for x in exact + beside + extremes if x is None or x != 1e308]
            with np.errstate(all="ignore"):
                return [None if x is None else float(np.float32(x)) for x in some_doubles]
        return exact + beside + twice + extremes
    unit = Fraction(1, 10**digits)
    whole = [edge // unit + more for edge in some for more in (-1, 0, 1, 2)]
    if digits == 0:
        most = (1 << 127) - 1 if kind == "hugeint" else (1 << 63) - 1
        return [*whole, most, -most, None]
    limit = 10 ** (int(kind.partition("(")[2].partition(",")[0]) if "(" in kind else 60)
    kept = [Decimal(x).scaleb(-digits) for x in whole if abs(x) < limit]
    strange = [Decimal("NaN"), Decimal("Infinity"), Decimal("1e-400"), Decimal("-1e-400")]
    return kept + [None] + (strange if kind == "numeric" else [])


def bin_of(value: Any, grid: Bins, edges: list[Fraction], found: int) -> int:
    """Return the last bin whose lower edge is not above the value, by exact comparison.

    Rows without a number are omitted before: any bin will do for them.
    """
    if value is None or math.isnan(value):
        return min(max(0, found), grid.count - 1)
    if math.isinf(value):
        return grid.count - 1 if value > 0 else 0
    return max(0, bisect_right(edges, Fraction(value)) - 1)


@pytest.mark.parametrize("name", ENGINES)
def test_every_value_lies_in_its_bin(name: str, request: pytest.FixtureRequest) -> None:
    import decimal

    import ibis

    backend = request.getfixturevalue(name)
    session = backend._session if name == "spark" else None
    with decimal.localcontext(decimal.Context(prec=100)):
        for table, (kind, digits) in enumerate(TYPES[name].items()):
            for number, ((lower, upper), bins) in enumerate(GRIDS):
                bounds = Fraction(lower), Fraction(upper)
                view = f"t{table}_{number}"
                if session is not None:
                    session.createDataFrame([], f"i int, x {kind}").createOrReplaceTempView(view)
                else:
                    backend.con.execute(f"CREATE TABLE {view} (i int, x {kind})")
                empty = backend.table(view)
                grid, _ = divide(empty.x, bounds, bins, backend.name)
                edges = edges_of(grid)
                values = near(edges, kind, digits)
                rows = list(enumerate(values))
                if session is not None:
                    frame = session.createDataFrame(rows, f"i int, x {kind}")
                    frame.createOrReplaceTempView(view)
                else:
                    sign = "%s" if name == "pg" else "?"
                    backend.con.cursor().executemany(
                        f"INSERT INTO {view} VALUES ({sign}, {sign})", rows
                    )
                people = backend.table(view)
                _, index = divide(people.x, bounds, bins, backend.name)
                sql = str(ibis.to_sql(people.select(i=people.i, bin=index), dialect=backend.name))
                found = (
                    [tuple(row) for row in session.sql(sql).collect()]
                    if session is not None
                    else backend.con.execute(sql).fetchall()
                )
                got = [place for _, place in sorted(found)]
                pairs = zip(values, got, strict=True)
                wanted = [bin_of(value, grid, edges, place) for value, place in pairs]
                off = [v for v, a, b in zip(values, got, wanted, strict=True) if a != b]
                assert got == wanted, (kind, bounds, bins, off[:5])


@pytest.mark.parametrize("digits", [0, 2, 9, 18])
def test_edges_of_decimals_are_evenly_spaced(digits: int) -> None:
    """All widths are equal unless the unit of the type is finer than 10¹⁸ parts of the bounds."""
    import ibis

    column = ibis.table({"x": f"decimal(38, {digits})"}, name="t").x
    grid, _ = divide(column, (Fraction(0), Fraction(150_000)), 7, "duckdb")
    widths = {high - low for low, high in map(grid.ends, range(7))}
    if digits <= 9:
        assert widths == {Fraction(150_000, 7)}
    else:
        assert max(widths) - min(widths) <= Fraction(1, 10**12)
    assert grid.low == 0
    assert grid.high == 150_000
