"""The source of a table: a file, a frame in memory, or a table of a database.

Opening reads names and types only, so a dry run reads no row.
"""

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from os import PathLike, fspath
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from leastnoise.core.exact import quote
from leastnoise.errors import InvalidParameter, Words
from leastnoise.suggestions import find_nearest
from leastnoise.tables.sources import csv_files
from leastnoise.tables.sources.calendar import known_times
from leastnoise.tables.sources.connections import ADDRESS, connect, engine_of
from leastnoise.tables.sources.conversions import (
    Types,
    check_conversions,
    convert,
    describe_types,
    parse_types,
)
from leastnoise.tables.sources.engine import without_details
from leastnoise.tables.sources.frames import frame_name, frame_table
from leastnoise.tables.sources.literals import compile_query
from leastnoise.tables.sources.local import read
from leastnoise.tables.sources.place import Place, derivation, file_place, named, table_place
from leastnoise.tables.sources.rowwise import (
    FILTERED,
    check_rowwise,
    find_non_numbers,
    find_zoned,
)

if TYPE_CHECKING:
    import ibis.expr.datatypes as dt
    import ibis.expr.operations as ops
    import ibis.expr.types as ir


_WILDCARDS = frozenset("*?[")


@dataclass(frozen=True)
class Source:
    """A table with its public properties.

    Attributes:
        table: The table, as an Ibis expression. Its timestamps are those that Python has.
        engine: Its engine: "duckdb", "postgres" or "pyspark".
        name: Its name in explanations: the caller's, or else the path as given, the table's name,
            "a pandas frame". 0.5.0 stored it in ledgers: it must never change.
        text: Whether every column holds strings, as in a CSV file.
        kinds: The kind of each column: "integer", "real", "decimal", "text", "boolean", "date",
            "timestamp" (without a time zone) or "other".
        place: Where it is, or the name that the caller gave it; None for data in memory.
        version: The version of the data that the caller passed; None if there is none.
        owned: Whether this package opened the connection, and must close it.
        opened: The table before its columns were converted; None if it is ``table`` itself.
        types: The kind of each column that the caller has converted.
        process: The id of the process that opened it.
    """

    table: "ir.Table"
    engine: str
    name: str
    text: bool
    kinds: Mapping[str, str]
    place: Place | None = None
    version: str | None = None
    owned: bool = False
    opened: "ir.Table | None" = None
    types: Mapping[str, str] = field(default_factory=dict)
    process: int = field(default_factory=os.getpid, compare=False)

    def __repr__(self) -> str:
        """Print name and engine only, because the repr of an Ibis table may show rows."""
        return f"Source({self.name!r}, engine={self.engine!r})"

    def kind(self, column: object) -> str:
        """Return the kind of a column; reject one that does not exist."""
        if not isinstance(column, str):
            raise InvalidParameter(
                "A column must be named by a string", got=quote(column), fix="Pass its name."
            )
        if column in self.kinds:
            return self.kinds[column]
        near = find_nearest(column, self.kinds)
        raise InvalidParameter(
            f"No column {quote(column)} in {self.name}",
            fix=f"Did you mean {near!r}?" if near else "Check the names of its columns.",
        )

    def check_process(self) -> None:
        """Reject a table inherited by a fork.

        Two processes would share the socket of a database: each could receive the result of the
        other's query, to which its noise does not fit. The threads of an embedded DuckDB do not
        exist in the new process, so a query there can wait for them forever.
        """
        if os.getpid() != self.process:
            raise InvalidParameter(
                "A protected table must be queried by the process that opened it",
                got="a query from another process, after a fork",
                fix="Call protect() again in the new process.",
            )

    def is_text(self, column: str) -> bool:
        """Return whether a column holds strings that are parsed as the kind that a query needs."""
        return self.text and column not in self.types

    def value(self, column: str, table: "ir.Table | None" = None) -> "ir.Value":
        """Return a column as an Ibis value, of this table or of some of its rows."""
        return (self.table if table is None else table)[column]

    def number(self, column: str) -> "ir.NumericValue":
        """Return a column as numbers; strings are parsed, and NULL where they are no number."""
        value: ir.NumericValue = self.value(column)
        return value.try_cast("float64") if self.is_text(column) else value

    @property
    def short_name(self) -> str:
        """Its name in answers, which may be published: a path without the folders it lies in.

        A pattern begins with the first folder that has a wildcard.
        """
        if self.place is None or self.place.parts[0] != "file":
            return self.name
        *folders, last = Path(self.name).parts
        while folders and not _WILDCARDS.intersection(folders[0]):
            folders.pop(0)
        return "/".join([*folders, last])

    @property
    def omitted(self) -> tuple[str, ...]:
        """A phrase for each rule that omits rows."""
        import ibis.expr.operations as ops

        filtered = bool(self.table.op().find(ops.Filter))
        return (*([csv_files.OMITTED] if self.text else []), *([FILTERED] if filtered else []))

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about how rows are read."""
        return (*([csv_files.NOTE] if self.text else []), *describe_types(self.types))

    @property
    def words(self) -> dict[str, str | None]:
        """The public properties of the table, as JSON.

        Ledgers store them: they must never change. "table" is a digest of place, version, columns
        and, for an Ibis table, filters.
        """
        of = self.name if self.place is None else self.place.text
        return {"of": of, "table": self._identity, "version": self.version}

    @cached_property
    def _identity(self) -> str:
        place = ("memory", self.name) if self.place is None else self.place.parts
        known = [place, self.version, [*self._stored_kinds.items()], self.text]
        derived = derivation((self.table if self.opened is None else self.opened).op())
        return _digest([*known, derived, *([[*self.types.items()]] if self.types else [])])

    @property
    def _stored_kinds(self) -> dict[str, str]:
        """The kinds as ledgers have them, in which timestamps were "other" before version 0.6.0."""
        return {
            name: "other" if kind == "timestamp" and name not in self.types else kind
            for name, kind in self.kinds.items()
        }

    @cached_property
    def former_words(self) -> dict[str, str | None] | None:
        """The words of version 0.5.0; None if they would not identify the data.

        Version 0.5.0 had no names and versions of data, and one name for all data in memory.
        """
        if self.place is None or self.place.parts[0] == "name" or self.version is not None:
            return None
        if self.types:
            return None
        table = self.table if self.opened is None else self.opened
        known = [self.engine, self.name, self._stored_kinds, self.sql(table)]
        if self.engine == "postgres":
            server = self.table.get_backend().con.info
            known.append([server.host, server.port, server.dbname])
        return {"of": self.name, "table": _digest(known)}

    def close(self) -> None:
        """Close the connection if it was opened here."""
        if self.owned and self.process == os.getpid():  # not one inherited by a fork
            without_details(self.table.get_backend().disconnect)

    def compile(self, expression: "ir.Expr") -> str:
        """Return a query as the engine reads it; the same expression is compiled once."""
        return self._compile(expression.op())

    @cached_property
    def _compile(self) -> "Callable[[ops.Node], str]":
        backend = self.table.get_backend()
        return lru_cache(maxsize=64)(lambda node: compile_query(backend, self.engine, node))

    def sql(self, expression: "ir.Expr") -> str:
        """Return a query as people read it."""
        import ibis

        return str(ibis.to_sql(expression, dialect=self.engine))


def open_source(
    source: object,
    table: str | None = None,
    *,
    name: str | None = None,
    version: str | None = None,
    types: Types | None = None,
) -> Source:
    """Open a source without reading a row.

    Args:
        source: The path of a CSV or Parquet file, or a pattern such as "people-*.csv" for several
            with the same columns; a pandas or polars frame or an Arrow table; an Ibis table on
            DuckDB, PostgreSQL or Spark, also with some of its rows and columns; or the connection
            string of a PostgreSQL database.
        table: With a connection string, the name of the table, with its schema if need be.
        name: What the data is called; it replaces the place of the source.
        version: The version of the data.
        types: The type of each column to convert, such as ``{"month": int, "joined": "date"}``.

    In a CSV file every line is one record, and the first line names the columns. Fields are
    separated by commas and may be in double quotes, lines end with a line feed, a carriage return
    or both, and the encoding is UTF-8. Reading never fails, and no line changes how another is
    read. Omitted are lines with too few fields, with a quoted field that is not closed or goes on
    after its closing quote, of more than 2,000,000 bytes, or with bytes that are not UTF-8. A
    quoted field cannot contain a line break: what follows the break is read as another line, and is
    a record if it has enough fields. Fields without a name are ignored, and an empty field is NULL.

    Raises:
        InvalidParameter: If there is no such file or table, or it cannot be read.
        Unsupported: If this version cannot read such a source, or a library is missing.
    """
    kinds = parse_types({} if types is None else types)
    opened = _open(source, table)
    if name is not None:
        opened = replace(opened, name=name, place=named(name))
    try:
        return _convert(replace(opened, version=version), kinds)
    except BaseException:
        opened.close()
        raise


def _convert(source: Source, types: Mapping[str, str]) -> Source:
    """Return a source with converted columns, and with the timestamps that Python has."""
    zoned = find_zoned(source.table, source.engine)
    check_conversions(source.kinds, zoned, types)
    columns = dict[str, Any]()
    for name, kind in source.kinds.items():
        value, of = source.table[name], "zoned" if name in zoned else kind
        to = types.get(name, of)
        if of == "timestamp":
            value = known_times(value, source.engine)
        if of == "timestamp" or of != to:
            columns[name] = convert(value, of, to, source.engine)
    if not columns:
        return replace(source, types=types)
    kinds = MappingProxyType({**source.kinds, **types})
    table = source.table.mutate(**columns)
    return replace(source, table=table, opened=source.table, kinds=kinds, types=types)


def _open(source: object, table: str | None) -> Source:
    if isinstance(source, str) and source.startswith(ADDRESS):
        opened, name = connect(source, table)
        return _source(opened, "postgres", name, _table_place(opened, "postgres"), owned=True)
    if table is not None:
        raise InvalidParameter(
            Words("table=", "--table")
            + " must come with a connection string, of whose database it names a table",
            got="it with another source",
            fix="Omit it.",
        )
    if isinstance(source, str | PathLike):
        path = fspath(source)
        read_table, text = read(path)
        place = file_place(str(path))
        return _source(read_table, "duckdb", str(path), place, text=text, owned=True)
    frame = frame_name(source)
    if frame is not None:
        return _source(frame_table(source, frame), "duckdb", frame, None, owned=True)
    engine = engine_of(source)
    chosen, name = check_rowwise(source)
    return _source(chosen, engine, name, _table_place(chosen, engine))


def _table_place(table: "ir.Table", engine: str) -> Place | None:
    """Return the place of the one database table that an Ibis table is computed from."""
    import ibis.expr.operations as ops

    (origin,) = table.op().find(ops.PhysicalTable)
    return table_place(origin, table.get_backend(), engine)


def _source(
    table: "ir.Table",
    engine: str,
    name: str,
    place: Place | None,
    *,
    text: bool = False,
    owned: bool = False,
) -> Source:
    kinds = {column: _kind(type_) for column, type_ in table.schema().items()}
    kinds |= dict.fromkeys(find_non_numbers(table, engine), "other")
    kinds |= dict.fromkeys(find_zoned(table, engine), "other")
    return Source(table, engine, name, text, MappingProxyType(kinds), place, owned=owned)


def _digest(known: Sequence[object]) -> str:
    return hashlib.sha256(json.dumps(known).encode()).hexdigest()[:32]


def _kind(type_: "dt.DataType") -> str:
    """Return the kind of a type; values of kind "other" can be neither added nor grouped by."""
    kinds = {
        "integer": type_.is_integer(),
        "real": type_.is_floating(),
        "decimal": type_.is_decimal(),
        "text": type_.is_string(),
        "boolean": type_.is_boolean(),
        "date": type_.is_date(),
        "timestamp": type_.is_timestamp() and type_.timezone is None,
    }
    return next((kind for kind, fits in kinds.items() if fits), "other")
