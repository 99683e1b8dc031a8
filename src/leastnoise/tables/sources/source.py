"""The source of a table: a file, a frame in memory, or a table of a database.

Opening (opening.py) reads names and types only, so a dry run reads no row.
"""

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, cast

from leastnoise.core.exact import quote
from leastnoise.errors import InvalidParameter
from leastnoise.suggestions import find_nearest
from leastnoise.tables.sources import csv_files
from leastnoise.tables.sources.conversions import describe_types, parse_texts
from leastnoise.tables.sources.engine import without_details
from leastnoise.tables.sources.literals import compile_query
from leastnoise.tables.sources.place import Place, derivation
from leastnoise.tables.sources.rowwise import FILTERED
from leastnoise.tables.where import (
    Column,
    Value,
    build_value,
    columns_of,
    find_kind,
    parse_expression,
)

if TYPE_CHECKING:
    import ibis.expr.operations as ops
    import ibis.expr.types as ir


_WILDCARDS = frozenset("*?[")
# Every expression that is not a column alone has one of these.
_COMPUTES = frozenset("()+-*/")


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
        refused: The columns that the card of the table does not allow, each with the reason.
        card: The hash of the card; None without one.
        owned: Whether this package opened the connection, and must close it.
        opened: The table before its columns were converted; None if it is ``table`` itself.
        types: The kind of each column that the caller has converted.
        reading: The format of CSV files as the caller states it, by the names of arguments.
        objects: Whether the rows are JSON lines.
        process: The id of the process that opened it.
    """

    table: "ir.Table"
    engine: str
    name: str
    text: bool
    kinds: Mapping[str, str]
    place: Place | None = None
    version: str | None = None
    refused: Mapping[str, str] = field(default_factory=dict)
    card: str | None = None
    owned: bool = False
    opened: "ir.Table | None" = None
    types: Mapping[str, str] = field(default_factory=dict)
    reading: Mapping[str, str] = field(default_factory=dict)
    objects: bool = False
    process: int = field(default_factory=os.getpid, compare=False)

    def __repr__(self) -> str:
        """Print name and engine only, because the repr of an Ibis table may show rows."""
        return f"Source({self.name!r}, engine={self.engine!r})"

    def kind(self, column: object) -> str:
        """Return the kind of a column or an expression.

        Reject one that does not exist, or that the card of the table does not allow.
        """
        node = self.find(column)
        return self.kinds[node.name] if isinstance(node, Column) else find_kind(node, self)

    def find(self, column: object) -> Value:
        """Return what a text stands for: a column of that name, or else an expression.

        It depends on the names of columns only. A node stands for itself.
        """
        if isinstance(column, str):
            if column in self.kinds or not (_COMPUTES & set(column)):
                return self._find_own(column)
            return self._find_expression(column)
        if isinstance(column, Column):
            return self._find_own(column.name)
        if isinstance(column, Value):
            return column
        raise InvalidParameter(
            "A column must be named by a string", got=quote(column), fix="Pass its name."
        )

    def _find_own(self, name: str) -> Column:
        """Return a column of the table, by its own name."""
        self.check_allowed(name)
        if name in self.kinds:
            return Column(name)
        raise InvalidParameter(
            f"No column {quote(name)} in {self.name}",
            fix=csv_files.advise_column(name, self.kinds),
        )

    def check_allowed(self, column: str) -> None:
        """Reject a column that the card of the table does not allow."""
        if column in self.refused:
            raise InvalidParameter(
                f"Queries must not use the column {quote(column)}: {self.refused[column]}",
                fix="Choose another column.",
            )

    def _find_expression(self, text: str) -> Value:
        """Return the expression that a text is; suggest a column if the text is nearly its name."""
        node = None
        if find_nearest(text, self.kinds) is not None:
            with suppress(InvalidParameter):
                node = parse_expression(text)
            if node is None or not all(name in self.kinds for name in columns_of(node)):
                self._check_quoted(text)
                return self._find_own(text)  # raises
        node = parse_expression(text)
        return self._find_own(node.name) if isinstance(node, Column) else node

    def _check_quoted(self, text: str) -> None:
        """Reject a text with the name of a column that an expression must quote."""
        for name in self.kinds:
            if name in text and not name.isidentifier() and f'"{name}"' not in text:
                raise InvalidParameter(
                    f"No column {quote(text)} in {self.name}",
                    fix=f'If it is an expression, write "{name}" in double quotes.',
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

    def is_text(self, column: str | Value) -> bool:
        """Return whether a column holds strings that are parsed as the kind that a query needs.

        An expression never does: its columns are parsed as it needs them.
        """
        node = self.find(column)
        return self.text and isinstance(node, Column) and node.name not in self.types

    def value(self, column: str | Value, table: "ir.Table | None" = None) -> "ir.Value":
        """Return a column or an expression as an Ibis value, of this table or of some of its rows.

        The text of an expression is resolved as by :meth:`find`.
        """
        node = self.find(column)
        if isinstance(node, Column):
            return (self.table if table is None else table)[node.name]
        return build_value(node, self, table)

    def number(self, column: str | Value) -> "ir.NumericValue":
        """Return a column as numbers; strings are parsed, and NULL where they are no number."""
        value = self.parse(column, "number") if self.is_text(column) else self.value(column)
        return cast("ir.NumericValue", value)

    def parse(self, column: str | Value, kind: str, table: "ir.Table | None" = None) -> "ir.Value":
        """Return a column of strings as numbers, booleans, dates or timestamps, else NULL."""
        texts = self.value(column, table)
        return parse_texts(texts, kind, comma="decimal" in self.reading)

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
        omitted = csv_files.OMITTED_OBJECTS if self.objects else csv_files.OMITTED
        return (*([omitted] if self.text else []), *([FILTERED] if filtered else []))

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about how rows are read."""
        lines = self.text and not self.objects
        return (*([csv_files.NOTE] if lines else []), *describe_types(self.types))

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
        stated = [[*words.items()] for words in (self.types, self.reading) if words]
        return _digest([*known, derived, *stated])

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
        if self.types or self.reading:
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


def _digest(known: Sequence[object]) -> str:
    return hashlib.sha256(json.dumps(known).encode()).hexdigest()[:32]
