"""What a table is read from: a file, a frame in memory, or a database's table.

Opening reads names and types alone. A question that is only explained has touched no record.
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
from leastnoise.tables.sources.connections import ADDRESS, connected, engine_of, kept_rows
from leastnoise.tables.sources.engine import attempted
from leastnoise.tables.sources.files import read
from leastnoise.tables.sources.frames import frame_name, held

if TYPE_CHECKING:
    import ibis.expr.datatypes as dt
    import ibis.expr.operations as ops
    import ibis.expr.types as ir


def _kind(type_: "dt.DataType") -> str:
    """Sort a type; a value of those that are "other" can be neither added up nor told apart."""
    kinds = {
        "integer": type_.is_integer(),
        "real": type_.is_floating(),
        "decimal": type_.is_decimal(),
        "text": type_.is_string(),
        "boolean": type_.is_boolean(),
        "date": type_.is_date(),
    }
    return next((kind for kind, fits in kinds.items() if fits), "other")


@dataclass(frozen=True)
class Source:
    """A table that can be asked, and what is publicly known of it.

    Attributes:
        table: The table, as an Ibis expression.
        engine: Where it is asked: "duckdb", "postgres" or "pyspark".
        name: What it is called in explanations: its path as given, its name, "a pandas frame".
        text: Whether every column is text, as in a CSV file.
        kinds: Of each column, "integer", "real", "decimal", "text", "boolean", "date" or "other".
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
        """Say what it is; Ibis, asked for its own, might show records."""
        return f"Source({self.name!r}, engine={self.engine!r})"

    def kind(self, column: object, what: str) -> str:
        """Return the kind of a column, which must be there.

        Args:
            column: The column's name.
            what: What it is wanted for, such as "a unit" or "a column to add up".
        """
        if isinstance(column, str) and column in self.kinds:
            return self.kinds[column]
        near = get_close_matches(column, self.kinds, n=1) if isinstance(column, str) else []
        advice = f"Did you mean {near[0]!r}?" if near else "Look at the names of its columns."
        raise InvalidParameter(
            f"{what} must be a column of {self.name}; got {quote(column)}. {advice}"
        )

    def check_process(self) -> None:
        """Refuse a connection that a fork has handed on: two processes would read of one socket.

        Each could be given the figures of the other's question, for which its noise is not made.
        """
        if self.engine != "duckdb" and os.getpid() != self.process:
            raise InvalidParameter(
                "a table of a database must be asked by the process that opened it; got it in "
                "another, after a fork. Protect it again there."
            )

    def number(self, column: str) -> "ir.NumericValue":
        """Return a column as numbers: itself, or what its texts say, NULL where they say none."""
        value = self.table[column]
        return value.try_cast("float64") if self.text else value

    @property
    def identity(self) -> str:
        """A digest of which table it is, as far as is known without reading it.

        Of a file its name as given and its columns; of a database's table the database and what was
        left out and computed; of a frame its columns.
        """
        known = [self.engine, self.name, dict(self.kinds)]
        if not self.opened:
            known.append(self.sql(self.table))
        if self.engine == "postgres":
            place = self.table.get_backend().con.info
            known.append([place.host, place.port, place.dbname])
        return hashlib.sha256(json.dumps(known).encode()).hexdigest()[:32]

    def close(self) -> None:
        """Close the connection, if it was opened here; then nothing can be asked any more."""
        if self.opened and self.process == os.getpid():  # not one that a fork has handed on
            attempted(self.table.get_backend().disconnect)

    def compiled(self, expression: "ir.Expr") -> str:
        """Return a query as the engine will read it; the same expression is compiled once."""
        return self._compiled(expression.op())

    @cached_property
    def _compiled(self) -> "Callable[[ops.Node], str]":
        backend = self.table.get_backend()
        return lru_cache(maxsize=64)(lambda node: str(backend.compile(node.to_expr())))

    def sql(self, expression: "ir.Expr") -> str:
        """Return a query as people read it."""
        import ibis

        return str(ibis.to_sql(expression, dialect=self.engine))


def opened(source: object, table: str | None = None) -> Source:
    """Open a source of records without reading one.

    Args:
        source: The path of a CSV or Parquet file, or a pattern such as "people-*.csv" for several
            with the same columns; a pandas or polars frame or an Arrow table; an Ibis table on
            DuckDB, PostgreSQL or Spark, with rows and columns chosen or not; or the connection
            string of a PostgreSQL database.
        table: With a connection string, the name of the table, or of its schema and it.

    In a CSV file the first line names the columns. Fields are parted by commas and may stand in
    double quotes, lines end with a line feed, texts are in UTF-8. Whatever the other lines hold,
    reading them does not fail: lines with too few fields, of more than 2 MB or with bytes that
    are not UTF-8 where they are read are left out, fields without a name are passed over, and an
    empty field is NULL. That quotes are balanced is for whoever wrote the file to see to: a quote
    that opens a field and is never closed takes the lines after it with it.

    Raises:
        InvalidParameter: If there is no such file or table, or it cannot be read.
        Unsupported: If this version cannot ask such a source, or a library is missing.
    """
    if isinstance(source, str) and source.startswith(ADDRESS):
        found, name = connected(source, table)
        return _described(found, "postgres", name)
    if table is not None:
        raise InvalidParameter(
            Words("table=", "--table")
            + " must come with a connection string, of whose database it names a table",
            got="it with another source",
            fix="Leave it out.",
        )
    if isinstance(source, str | PathLike):
        read_table, text = read(fspath(source))
        return _described(read_table, "duckdb", str(fspath(source)), text=text)
    frame = frame_name(source)
    if frame is not None:
        return _described(held(source, frame), "duckdb", frame)
    engine = engine_of(source)
    chosen, name = kept_rows(source)
    return _described(chosen, engine, name)


def _described(
    table: "ir.Table", engine: str, name: str, *, text: bool = False, opened: bool = False
) -> Source:
    """Note what the schema says."""
    kinds = {column: _kind(type_) for column, type_ in table.schema().items()}
    return Source(table, engine, name, text, MappingProxyType(kinds), opened)
