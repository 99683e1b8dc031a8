"""The source of a table: a file, a frame in memory, or a table of a database.

Opening reads names and types alone, so explaining a question reads no row.
"""

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property, lru_cache
from os import PathLike, fspath
from types import MappingProxyType
from typing import TYPE_CHECKING

from leastnoise.core.exact import quote
from leastnoise.errors import InvalidParameter, Words
from leastnoise.tables.sources.connections import ADDRESS, check_rowwise, connect, engine_of
from leastnoise.tables.sources.engine import without_details
from leastnoise.tables.sources.local import frame_name, frame_table, read

if TYPE_CHECKING:
    import ibis.expr.datatypes as dt
    import ibis.expr.operations as ops
    import ibis.expr.types as ir


@dataclass(frozen=True)
class Source:
    """A table, and what is publicly known about it.

    Attributes:
        table: The table, as an Ibis expression.
        engine: Its engine: "duckdb", "postgres" or "pyspark".
        name: Its name in explanations: the path as given, the table's name, "a pandas frame".
            Stored in ledgers: it must never change.
        text: Whether every column holds strings, as in a CSV file.
        kinds: The kind of each column: "integer", "real", "decimal", "text", "boolean", "date" or
            "other".
        opened: Whether the connection was opened here, and is to be closed here.
        process: The number of the process that opened it.
    """

    table: "ir.Table"
    engine: str
    name: str
    text: bool
    kinds: Mapping[str, str]
    opened: bool = False
    process: int = field(default_factory=os.getpid, compare=False)

    def __repr__(self) -> str:
        """Print name and engine, and no data: Ibis might show records."""
        return f"Source({self.name!r}, engine={self.engine!r})"

    def kind(self, column: object, what: str) -> str:
        """Return the kind of a column; reject one that does not exist.

        Args:
            column: The column's name.
            what: What the column is for, such as "a unit", for the error.
        """
        if isinstance(column, str) and column in self.kinds:
            return self.kinds[column]
        near = get_close_matches(column, self.kinds, n=1) if isinstance(column, str) else []
        advice = f"Did you mean {near[0]!r}?" if near else "Look at the names of its columns."
        raise InvalidParameter(
            f"{what} must be a column of {self.name}; got {quote(column)}. {advice}"
        )

    def check_process(self) -> None:
        """Reject a connection inherited by a fork, because two processes would share one socket.

        Each could receive the result of the other's query, to which its noise does not fit.
        """
        if self.engine != "duckdb" and os.getpid() != self.process:
            raise InvalidParameter(
                "a table of a database must be asked by the process that opened it; got it in "
                "another, after a fork. Protect it again there."
            )

    def number(self, column: str) -> "ir.NumericValue":
        """Return a column as numbers; strings are parsed, and NULL where they are no number."""
        value = self.table[column]
        return value.try_cast("float64") if self.text else value

    @property
    def identity(self) -> str:
        """A digest of what is known of the table without reading it, stored in ledgers.

        For a file its name as given and its columns; for a table of a database also the database,
        and the rows that were left out and the columns that were computed; for a frame its columns.
        """
        known = [self.engine, self.name, dict(self.kinds)]
        if not self.opened:
            known.append(self.sql(self.table))
        if self.engine == "postgres":
            place = self.table.get_backend().con.info
            known.append([place.host, place.port, place.dbname])
        return hashlib.sha256(json.dumps(known).encode()).hexdigest()[:32]

    def close(self) -> None:
        """Close the connection if it was opened here."""
        if self.opened and self.process == os.getpid():  # not one inherited by a fork
            without_details(self.table.get_backend().disconnect)

    def compile(self, expression: "ir.Expr") -> str:
        """Return a query as the engine reads it; the same expression is compiled once."""
        return self._compile(expression.op())

    @cached_property
    def _compile(self) -> "Callable[[ops.Node], str]":
        backend = self.table.get_backend()
        return lru_cache(maxsize=64)(lambda node: str(backend.compile(node.to_expr())))

    def sql(self, expression: "ir.Expr") -> str:
        """Return a query as people read it."""
        import ibis

        return str(ibis.to_sql(expression, dialect=self.engine))


def open_source(source: object, table: str | None = None) -> Source:
    """Open a source without reading a row.

    Args:
        source: The path of a CSV or Parquet file, or a pattern such as "people-*.csv" for several
            with the same columns; a pandas or polars frame or an Arrow table; an Ibis table on
            DuckDB, PostgreSQL or Spark, also with some of its rows and columns; or the connection
            string of a PostgreSQL database.
        table: With a connection string, the name of the table, with its schema if need be.

    In a CSV file the first line names the columns. Fields are separated by commas and may be in
    double quotes, lines end with a line feed, the encoding is UTF-8. Reading the other lines never
    fails: lines with too few fields, of more than 2 MB or with bytes that are not UTF-8 in a column
    that is read are left out, fields without a name are ignored, and an empty field is NULL. Quotes
    must be balanced: a quote that opens a field and is never closed swallows the lines after it.

    Raises:
        InvalidParameter: If there is no such file or table, or it cannot be read.
        Unsupported: If this version cannot read such a source, or a library is missing.
    """
    if isinstance(source, str) and source.startswith(ADDRESS):
        found, name = connect(source, table)
        return _source(found, "postgres", name)
    if table is not None:
        raise InvalidParameter(
            Words("table=", "--table")
            + " must come with a connection string, of whose database it names a table",
            got="it with another source",
            fix="Leave it out.",
        )
    if isinstance(source, str | PathLike):
        read_table, text = read(fspath(source))
        return _source(read_table, "duckdb", str(fspath(source)), text=text)
    frame = frame_name(source)
    if frame is not None:
        return _source(frame_table(source, frame), "duckdb", frame)
    engine = engine_of(source)
    chosen, name = check_rowwise(source)
    return _source(chosen, engine, name)


def _source(table: "ir.Table", engine: str, name: str, *, text: bool = False) -> Source:
    kinds = {column: _kind(type_) for column, type_ in table.schema().items()}
    return Source(table, engine, name, text, MappingProxyType(kinds))


def _kind(type_: "dt.DataType") -> str:
    """Return the kind of a type; values of kind "other" can be neither added nor grouped by."""
    kinds = {
        "integer": type_.is_integer(),
        "real": type_.is_floating(),
        "decimal": type_.is_decimal(),
        "text": type_.is_string(),
        "boolean": type_.is_boolean(),
        "date": type_.is_date(),
    }
    return next((kind for kind, fits in kinds.items() if fits), "other")
