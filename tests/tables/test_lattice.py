"""Every record's index: the nearest between the bounds, in exact arithmetic, in every type."""

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leastnoise.errors import InvalidParameter
from leastnoise.tables.bounding import Lattice

ENGINES = ["duck", "pg", pytest.param("spark", marks=pytest.mark.long)]
LARGE = 1 << 53
WHOLE = [(-LARGE, LARGE), (0, 10), (-7, -3), (3, 7), (0, LARGE), (-1, 200), (100, 100_000)]
REAL = [(0, 1), (-1, 1), ("0.1", 3), (-3, "-0.3"), (-LARGE, LARGE), (LARGE - 1, LARGE),
        ("1e-10", "2e-10"), (0, "1e-15"), (0, 200_000), (-1 << 20, 1 << 20)]  # fmt: skip

FLOATS = [
    None, math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324, -5e-324, 2.2e-308, 1e308, -1e308,
    0.5, -0.5, 0.49999999999999994, -0.49999999999999994, 1.0, 1.5, -1.5, 2.5, -2.5, 1 / 3,
    0.3, 3.0, float(LARGE), LARGE - 1.0, LARGE + 2.0, 4503599627370495.5, 1.5e-10, 5e-16,
    123456.789, 0.5 / (1 << 20), 1.5 / (1 << 20), -0.5 / (1 << 19), 2.0**-73, 3 * 2.0**-71,
]  # fmt: skip
SINGLES = [None, math.nan, math.inf, -math.inf, 0.0, 1e-45, -1e-45, 0.5, -0.5, 1.5, 3e38, 0.25]
CENTS = ["0", "0.5", "-0.5", "-2.5", "1.5", "-1.5", "2.49", "-2.51", "3.5", "6.99", "-7.01",
         "9007199254740991.50", "-9007199254740991.50", "-9007199254740991.51",
         "9" * 36 + ".99", "-" + "9" * 36 + ".99"]  # fmt: skip
TINY = ["0.499999999999999999", "-0.500000000000000001", "-0.500000000000000000", "7.5"]


def integers(bits: int, *, signed: bool = True) -> list[int | None]:
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    near = {0, 1, 3, 5, 9, 10, 11, 100, LARGE - 1, LARGE, LARGE + 1, high - 1, high, low, low + 1}
    return [None, *sorted({v for v in near | {-v for v in near} if low <= v <= high})]


# Of each engine: a type, and the values of a column of it.
_COMMON: list[tuple[str, list[Any]]] = [
    ("smallint", integers(16)),
    ("int", integers(32)),
    ("bigint", integers(64)),
    ("boolean", [None, True, False]),
    ("decimal(38, 2)", [None, *map(Decimal, CENTS)]),
    ("decimal(9, 1)", [None, *map(Decimal, CENTS[:2]), Decimal("99999999.9"), Decimal("-3.5")]),
    ("decimal(30, 18)", [None, *map(Decimal, TINY)]),
    ("decimal(38, 0)", [None, *map(Decimal, (10**38 - 1, 1 - 10**38, 0, 5, LARGE + 1))]),
    ("decimal(2, 2)", [None, Decimal("0.99"), Decimal("-0.5"), Decimal("0.49")]),
]  # fmt: skip
_DUCK: list[tuple[str, list[Any]]] = [
    ("double", FLOATS),
    ("float", SINGLES),
    ("tinyint", integers(8)),
    ("utinyint", integers(8, signed=False)),
    ("usmallint", integers(16, signed=False)),
    ("uinteger", integers(32, signed=False)),
    ("ubigint", integers(64, signed=False)),
    ("hugeint", integers(128)),
]
_POSTGRES: list[tuple[str, list[Any]]] = [
    ("float8", FLOATS),
    ("float4", SINGLES),
    ("numeric", [None, *map(Decimal, ["NaN", "Infinity", "-Infinity", "1e400", "-1e400", "1e-400",
                 "-1e-400", "1e30", *CENTS, *TINY])]),
    ("numeric(9, 1)", [Decimal("NaN"), Decimal("2.5")]),
    ("numeric(60, 30)", [Decimal("NaN"), Decimal("0." + "4" + "9" * 29), Decimal("1e29")]),
]  # fmt: skip
_SPARK: list[tuple[str, list[Any]]] = [
    ("double", FLOATS), ("float", SINGLES), ("tinyint", integers(8))
]  # fmt: skip
_FINE = ("double", "float", "float8", "float4", "bigint", "boolean", "numeric")
COLUMNS = {"duck": _COMMON + _DUCK, "pg": _COMMON + _POSTGRES, "spark": _COMMON + _SPARK}


def index(value: Any, lattice: Lattice, missing: int | None) -> int:
    """Return the index of a value, in exact arithmetic."""
    if value is None or math.isnan(value):
        return min(max(0, lattice.low), lattice.high) if missing is None else missing
    if math.isinf(value):
        return lattice.high if value > 0 else lattice.low
    # Of two that are equally near Python, too, takes the even one.
    return min(max(round(Fraction(value) / lattice.step), lattice.low), lattice.high)


def loaded(name: str, backend: Any) -> Any:
    """Make a table with a column for each type, as long as the longest needs; return it."""
    columns = COLUMNS[name]
    length = max(len(values) for _, values in columns)
    kinds = ["int", *(kind for kind, _ in columns)]
    padded = [values + [None] * (length - len(values)) for _, values in columns]
    rows = list(zip(range(length), *padded, strict=True))
    words = ", ".join(f"c{i} {kind}" for i, kind in enumerate(kinds))
    if name == "spark":
        backend._session.createDataFrame(rows, words).createOrReplaceTempView("places")
    else:
        connection = backend.con
        connection.execute(f"CREATE TABLE places ({words})")
        sign = "%s" if name == "pg" else "?"
        cursor = connection.cursor()
        cursor.executemany(f"INSERT INTO places VALUES ({', '.join([sign] * len(kinds))})", rows)
    return backend.table("places")


def asked(name: str, backend: Any, expression: Any) -> list[tuple[Any, ...]]:
    sql = str(backend.compile(expression))
    if name == "spark":
        return [tuple(row) for row in backend._session.sql(sql).collect()]
    found: list[tuple[Any, ...]] = backend.con.execute(sql).fetchall()
    return found


@pytest.mark.parametrize("missing", [None, 0], ids=["within the bounds", "0"])
@pytest.mark.parametrize("name", ENGINES)
def test_indices_are_those_of_exact_arithmetic(
    name: str, missing: int | None, request: pytest.FixtureRequest
) -> None:
    backend = request.getfixturevalue(name)
    table = loaded(name, backend)
    length = max(len(values) for _, values in COLUMNS[name])
    for bounds in WHOLE + REAL:
        wanted: dict[str, tuple[Any, Lattice]] = {}
        for i, (kind, values) in enumerate(COLUMNS[name], start=1):
            whole = kind not in ("double", "float", "float8", "float4")
            # On a finer lattice a decimal of limited length counts as the nearest double.
            if bounds in REAL and kind not in _FINE:
                continue
            lattice = Lattice.between(bounds, whole=whole)
            padded = [*values, *[None] * (length - len(values))]
            wanted[f"c{i}"] = [index(value, lattice, missing) for value in padded], lattice
        query = table.select(
            place=table.c0,
            **{
                column: lattice.index(table[column], backend.name, missing=missing)
                for column, (_, lattice) in wanted.items()
            },
        )
        rows = sorted(asked(name, backend, query))
        for position, (column, (expected, _)) in enumerate(wanted.items(), start=1):
            found = [row[position] for row in rows]
            assert found == expected, (COLUMNS[name][int(column[1:]) - 1][0], bounds)
            assert all(type(value) is int for value in found)


@given(st.fractions(-LARGE, LARGE), st.fractions(-LARGE, LARGE), st.booleans())
def test_a_lattice_holds_its_bounds_in_doubles(one: Fraction, other: Fraction, whole: bool) -> None:
    lower, upper = sorted((one, other))
    if upper - lower < Fraction(1, LARGE):
        return
    lattice = Lattice.between((lower, upper), whole=whole)
    low, high, step = lattice.low, lattice.high, lattice.step
    assert low * step <= lower < (low + 1) * step
    assert (high - 1) * step < upper <= high * step
    assert step.numerator & (step.numerator - 1) == step.denominator & (step.denominator - 1) == 0
    assert max(abs(low), abs(high)) <= LARGE
    assert Fraction(float(low * step)) == low * step
    assert Fraction(float(high * step)) == high * step
    assert low <= lattice.nearest_to_zero <= high
    assert abs(lattice.nearest_to_zero) == (0 if low <= 0 <= high else min(abs(low), abs(high)))
    assert 0 <= low + high - 2 * lattice.middle <= 1


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        (5, "two numbers"),
        ((1, 2, 3), "two numbers"),
        ((2, 1), "must be below"),
        ((1, 1), "must be below"),
        ((0, LARGE + 1), "within ±2⁵³"),
        ((0, Fraction(1, LARGE + 1)), "at least 2⁻⁵³ apart"),
        ((0, math.inf), "finite number"),
        (("a", 1), "finite number"),
    ],
)
def test_other_bounds_are_refused(bounds: object, words: str) -> None:
    with pytest.raises(InvalidParameter, match=words):
        Lattice.between(bounds, whole=False)
