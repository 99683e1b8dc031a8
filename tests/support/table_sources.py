"""One table of people as every kind of source that ``protect`` takes."""

import csv
import math
import random
from collections.abc import Callable, Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

Row = dict[str, Any]

SCHEMA = pa.schema(
    {
        "person": pa.int64(), "name": pa.string(), "region": pa.string(), "grade": pa.int32(),
        "day": pa.date32(), "employed": pa.bool_(), "age": pa.int64(), "hours": pa.int32(),
        "income": pa.float64(), "wage": pa.decimal128(12, 2),
    }.items()
)  # fmt: skip
_DATABASE = (
    "person bigint, name text, region text, grade int, day date, employed boolean, age bigint, "
    "hours int, income {double}, wage decimal(12, 2)"
)
# Columns of integers and truth values; in a CSV file all are text.
WHOLE = ("person", "grade", "employed", "age", "hours")

# Whom nobody gives as a key, and who may be missing.
REGIONS = ("north", "south", "east", 'öst, "x"', "1:2", None)
_INCOMES = (
    None, math.nan, math.inf, -math.inf, 5e-324, -5e-324, 1e308, -1e308, 0.0, -0.0, 0.5, 100.0,
    500.5, -50.0, 999.9999999, 1 / 3,
)  # fmt: skip
_DAYS = (date(2024, 2, 29), date(1970, 1, 1), date(1999, 12, 31), None)


def people(size: int = 240, seed: int = 5) -> list[Row]:
    """Return a table with every special value in it, the same at each call."""
    chance = random.Random(seed)

    def income() -> float | None:
        return chance.choice(_INCOMES) if chance.random() < 0.4 else chance.uniform(-200, 1200)

    rows = []
    for _ in range(size):
        wage = Decimal(chance.randint(0, 99999)) / 100
        person = chance.choice([None, *range(-3, size // 5)])
        rows.append(
            {
                "person": person,
                "name": None if person is None else f"né{person % 17}",
                "region": chance.choice(REGIONS),
                "grade": chance.choice([None, 1, 2, 3, -4]),
                "day": chance.choice(_DAYS),
                "employed": chance.choice([True, False, None]),
                "age": chance.choice([None, 0, 17, 18, 65, 120, 1 << 62, chance.randint(0, 119)]),
                "hours": chance.choice([None, -5, 0, 40, 1 << 30, chance.randint(0, 60)]),
                "income": income(),
                "wage": chance.choice([None, Decimal("-1.50"), wage]),
            }
        )  # fmt: skip
    return rows


def written(value: Any) -> str | None:
    """Return what a CSV file has of a value."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return None
    return repr(value) if isinstance(value, float) else str(value)


def arrow(rows: Sequence[Row]) -> pa.Table:
    """Return rows as an Arrow table."""
    return pa.Table.from_pylist(list(rows), schema=SCHEMA)


def csv_of(rows: Sequence[Row], path: Path) -> str:
    """Write rows to a CSV file."""
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(SCHEMA.names)
        lines.writerows([written(row[name]) for name in SCHEMA.names] for row in rows)
    return str(path)


def parquet_of(rows: Sequence[Row], folder: Path) -> str:
    """Write rows to two Parquet files, in groups of rows; return a pattern for both."""
    from pyarrow import parquet

    for place, part in enumerate((rows[::2], rows[1::2])):
        parquet.write_table(arrow(part), folder / f"people-{place}.parquet", row_group_size=50)
    return str(folder / "people-*.parquet")


def postgres_of(rows: Sequence[Row], connection: Any) -> None:
    """Make the table ``people`` of a PostgreSQL database."""
    with connection.transaction(), connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE people ({_DATABASE.format(double='float8')})")
        with cursor.copy("COPY people FROM STDIN") as copy:
            for row in rows:
                copy.write_row(list(row.values()))


def duckdb_of(rows: Sequence[Row], backend: Any) -> Any:
    """Make the table ``people`` of a DuckDB, and return it."""
    backend.con.register("given", arrow(rows))
    backend.con.execute("CREATE OR REPLACE TABLE people AS FROM given")
    backend.con.unregister("given")
    return backend.table("people")


def spark_of(rows: Sequence[Row], backend: Any, partitions: int = 3) -> Any:
    """Make the view ``people`` of a Spark, and return it."""
    kinds = _DATABASE.format(double="double").replace(" text", " string")
    frame = backend._session.createDataFrame([tuple(row.values()) for row in rows], kinds)
    frame.repartition(partitions).createOrReplaceTempView("people")
    return backend.table("people")


def source_of(kind: str, rows: Sequence[Row], request: pytest.FixtureRequest) -> dict[str, Any]:
    """Return the arguments by which ``protect`` reads these rows from a kind of source."""
    made: dict[str, Callable[[], Any]] = {
        "csv": lambda: csv_of(rows, _folder(request) / "people.csv"),
        "parquet": lambda: parquet_of(rows, _folder(request)),
        "pandas": lambda: _pandas(rows),
        "polars": lambda: _polars(rows),
        "arrow": lambda: arrow(rows),
        "duckdb": lambda: duckdb_of(rows, request.getfixturevalue("duck")),
        "spark": lambda: spark_of(rows, request.getfixturevalue("spark")),
    }
    if kind in made:
        return {"source": made[kind]()}
    backend = request.getfixturevalue("pg")
    postgres_of(rows, backend.con)
    if kind == "postgres":
        return {"source": backend.table("people")}
    return {"source": request.getfixturevalue("pg_address"), "table": "people"}


def _folder(request: pytest.FixtureRequest) -> Path:
    folder: Path = request.getfixturevalue("tmp_path")
    return folder


def _pandas(rows: Sequence[Row]) -> Any:
    import pandas as pd

    return arrow(rows).to_pandas(types_mapper=pd.ArrowDtype)


def _polars(rows: Sequence[Row]) -> Any:
    import polars as pl

    return pl.from_arrow(arrow(rows))
