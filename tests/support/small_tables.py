"""Small tables for tests of bounded queries: the same columns on every engine, filled anew often.

A query is compiled once and asked of many contents, as Ibis takes longer to compile one than an
engine to answer it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

import pyarrow as pa

from leastnoise.tables.bounding import Contribution, Lattice
from leastnoise.tables.bounding.bounding import COUNT, SUM, Selection, Summed

# id, name: of a unit. g, h, day: groups. x, r, i, d, b: to be added up.
Row = tuple[
    int | None, str | None, str | None, int | None, date | None,
    float | None, float | None, int | None, Decimal | None, bool | None,
]  # fmt: skip
COLUMNS = ("id", "name", "g", "h", "day", "x", "r", "i", "d", "b")
_TYPES = {
    "duckdb": ("bigint", "text", "text", "int", "date", "double", "float", "bigint",
               "decimal(38, 2)", "boolean"),
    "postgres": ("bigint", "text", "text", "int", "date", "float8", "float4", "bigint",
                 "numeric(38, 2)", "boolean"),
    "pyspark": ("bigint", "string", "string", "int", "date", "double", "float", "bigint",
                "decimal(38, 2)", "boolean"),
}  # fmt: skip
_ARROW = pa.schema(
    list(
        zip(
            COLUMNS,
            (pa.int64(), pa.string(), pa.string(), pa.int32(), pa.date32(), pa.float64(),
             pa.float32(), pa.int64(), pa.decimal128(38, 2), pa.bool_()),
            strict=True,
        )
    )
)  # fmt: skip

UNITS = (1, 2, 3, -(1 << 63), None)
NAMES = ("", "a", "b", "A", "12", "1:2", "né😀", None)
GROUPS = ("a", "b", "", "1:a", "é😀", None)
DAYS = (date(1, 1, 1), date(1970, 1, 1), date(2024, 2, 29), date(9999, 12, 31), None)
REALS = (
    None, math.nan, math.inf, -math.inf, 5e-324, -5e-324, 1e308, -1e308, 0.0, -0.0, 0.5, -0.5,
    0.49999999999999994, 1.0, -1.0, 2.5, 3.0, -7.25,
)  # fmt: skip
WHOLES = (None, 0, 1, -1, 7, -7, 1 << 53, -(1 << 53), (1 << 63) - 1, -(1 << 63))
DECIMALS = tuple(
    None if text is None else Decimal(text)
    for text in (None, "0", "0.5", "-0.5", "-2.51", "2.49", "9" * 36 + ".99", "-" + "9" * 36)
)


def floats(value: float | None) -> float | None:
    """Return what a column of single precision holds of a value."""
    single = None if value is None else pa.scalar(value, pa.float32()).as_py()
    return single if single is None or not isinstance(single, Decimal) else float(single)


class Engine:
    """An engine with the table ``people``, whose contents can be replaced."""

    def __init__(self, name: str, backend: Any) -> None:
        self.name, self.backend = name, backend
        self.fill([])
        self.people = backend.table("people")

    def fill(self, rows: Sequence[Row]) -> None:
        """Replace the contents of the table."""
        kinds = ", ".join(
            f"{column} {kind}" for column, kind in zip(COLUMNS, _TYPES[self.name], strict=True)
        )
        if self.name == "duckdb":
            columns = list(zip(*rows, strict=True)) or [()] * len(COLUMNS)
            given = pa.table([list(column) for column in columns], schema=_ARROW)
            self.backend.con.register("given", given)
            self.backend.con.execute("CREATE OR REPLACE TABLE people AS FROM given")
        elif self.name == "postgres":
            with self.backend.con.transaction(), self.backend.con.cursor() as cursor:
                cursor.execute(f"CREATE TABLE IF NOT EXISTS people ({kinds})")
                cursor.execute("DELETE FROM people")
                with cursor.copy("COPY people FROM STDIN") as copy:
                    for row in rows:
                        copy.write_row(row)
        else:
            session = self.backend._session
            session.createDataFrame(list(rows), kinds).createOrReplaceTempView("people")

    def sql(self, expression: Any) -> str:
        """Return a query as this engine reads it."""
        return str(self.backend.compile(expression))

    def ask(self, sql: str) -> list[tuple[Any, ...]]:
        """Return the rows of a result, integers as int."""
        if self.name == "duckdb":
            rows = self.backend.con.execute(sql).fetchall()
        elif self.name == "postgres":
            with self.backend.con.transaction(), self.backend.con.cursor() as cursor:
                rows = cursor.execute(sql).fetchall()
        else:
            rows = self.backend._session.sql(sql).collect()
        return [tuple(int(v) if isinstance(v, Decimal) else v for v in row) for row in rows]


@dataclass(frozen=True)
class Case:
    """A question: of whom, by what, of which column between which bounds."""

    unit: str | None
    rows: int
    groups: int
    by: tuple[str, ...]
    column: str
    bounds: tuple[Any, Any]

    @property
    def lattice(self) -> Lattice:
        return Lattice.between(self.bounds, whole=self.column in ("i", "d", "b"))

    def reach(self, neighbours: str) -> Contribution:
        return Contribution(self.rows, neighbours, self.groups, grouped=bool(self.by))

    def sql(self, engine: Engine, keys: Any = None, missing: int = 0) -> str:
        """Return the query on an engine."""
        people, lattice = engine.people, self.lattice
        selection = Selection(
            table=people,
            by={f"leastnoise_g{i}": people[name] for i, name in enumerate(self.by)},
            keys=keys,
            unit=self.unit,
            rows=self.rows,
            groups=self.groups,
            salt="salt",
            engine=engine.name,
        )
        index = lattice.index(people[self.column], engine.name, missing=missing)
        query = selection.query(sums=[Summed(index, lattice.low, lattice.high)])
        assert query.columns[-2:] == (COUNT, f"{SUM}0")
        return engine.sql(query)


CASES = (
    Case(None, 1, 1, (), "x", (-1, 1)),
    Case(None, 1, 1, ("g",), "x", ("0.1", 3)),
    Case(None, 1, 1, ("g", "day"), "i", (-(1 << 53), 1 << 53)),
    Case("id", 1, 1, (), "x", (-3, -2)),
    Case("id", 2, 1, ("g",), "x", (-1, "0.7")),
    Case("id", 3, 2, ("g",), "i", (-(1 << 53), 5)),
    Case("name", 1, 2, ("g", "h"), "d", (-2, 1 << 53)),
    Case("name", 2, 1, ("day",), "r", (-5, 5)),
    Case("id", 1 << 40, 1, ("g",), "i", (1, 1 << 53)),
    Case("name", 2, 1, ("b", "g"), "b", (-3, 1)),
    # Bounds that exclude 0, which a missing value adds.
    Case(None, 1, 1, (), "b", (2, 3)),
    Case(None, 1, 1, ("g",), "i", (-(1 << 53), -(1 << 52))),
    Case(None, 1, 1, (), "d", (20, 30)),
    Case("id", 2, 1, ("g",), "r", ("0.3", 4)),
)
