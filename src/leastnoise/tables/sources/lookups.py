"""Lookups: columns of a public table, joined to the rows of a protected table.

**A lookup changes no sensitivity.** Inside the query the lookup is grouped by its key, each other
column reduced to its minimum, and rows without a key omitted. So it has at most one row for each
key, whatever it contains when the query runs. A left join with such a table returns each row of the
protected table exactly once: with the columns of the one row whose key is equal, or with NULLs. No
row is added, lost or duplicated, and the new columns of a row depend on its own key and on the
lookup only. The lookup is the same for neighboring tables, so tables that differ in the rows of one
unit still do after the join, and a unit has as many rows as before.

The lookup is public: it is read when it is joined, and errors may quote its content. It is
then rejected if a key repeats, because the minimum of two rows would be an arbitrary answer.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import count
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from leastnoise.core.exact import quote
from leastnoise.errors import InvalidParameter, Unsupported
from leastnoise.tables.sources.engine import fetch, without_details
from leastnoise.tables.sources.opening import open_source
from leastnoise.tables.sources.source import Source
from leastnoise.tables.where import Column, Value, align

if TYPE_CHECKING:
    import ibis.expr.types as ir

_KEYS = ("integer", "text", "date", "boolean")
# The names of columns in a query. They must differ from those of tables.
_KEY = "leastnoise_k"
_numbers = count()


@dataclass(frozen=True, repr=False)
class JoinedSource(Source):
    """A source with the columns of a lookup; made by :func:`join_lookup`.

    Attributes:
        base: The source.
        lookup: The lookup, on the same engine.
        on: The key, a column of both.
        content: A digest of a lookup in memory, which no place identifies; else None.
    """

    base: Source = None  # type: ignore[assignment]  # after fields with defaults
    lookup: Source = None  # type: ignore[assignment]  # as above
    on: str = ""
    content: str | None = None

    def _home(self, name: str) -> Source:
        return self.base if name in self.base.kinds else self.lookup

    def is_text(self, column: str | Value) -> bool:
        """Return whether a column holds strings that are parsed as the kind that is needed."""
        node = self.find(column)
        return isinstance(node, Column) and self._home(node.name).is_text(node)

    def value(self, column: str | Value, table: "ir.Table | None" = None) -> "ir.Value":
        """Return a column or an expression as an Ibis value."""
        node = self.find(column)
        if isinstance(node, Column):
            return self._home(node.name).value(node, self.table if table is None else table)
        return super().value(node, table)

    def parse(self, column: str | Value, kind: str, table: "ir.Table | None" = None) -> "ir.Value":
        """Return a column of strings as numbers, booleans, dates or timestamps, else NULL."""
        node = self.find(column)
        if isinstance(node, Column):
            table = self.table if table is None else table
            return self._home(node.name).parse(node, kind, table)
        return super().parse(node, kind, table)

    @property
    def omitted(self) -> tuple[str, ...]:
        """A phrase for each rule that omits rows."""
        return self.base.omitted

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about how rows are read."""
        names = ", ".join(name for name in self.kinds if name not in self.base.kinds)
        joined = f"From the lookup {self.lookup.short_name} on {self.on}: {names}."
        return (*self.base.notes, joined)

    @cached_property
    def _identity(self) -> str:
        names = [name for name in self.kinds if name not in self.base.kinds]
        lookup = self.lookup.words["table"], self.content
        known = [self.base.words["table"], "lookup", lookup, self.on, names]
        return hashlib.sha256(json.dumps(known).encode()).hexdigest()[:32]

    @cached_property
    def former_words(self) -> dict[str, str | None] | None:
        """None: version 0.5.0 had no lookups."""
        return None

    def check_process(self) -> None:
        """Reject a table inherited by a fork."""
        self.base.check_process()

    def close(self) -> None:
        """Close the connection if it was opened here."""
        self.base.close()


def join_lookup(
    source: Source, lookup: object, on: str, columns: Sequence[str] | None
) -> JoinedSource:
    """Return a source with the columns of a lookup, which is read once to check its key.

    Raises:
        InvalidParameter: If the key is missing, of another kind or not unique, or names collide.
        Unsupported: If the lookup is on another engine.
    """
    kind = source.kind(Column(on))
    opened, content = _open_lookup(source, lookup)
    _check_key(source, opened, on, kind)
    names = _choose_columns(source, opened, on, columns)
    _check_unique(opened, on)
    unique = _make_unique(opened, on, names)
    left, right = align(source.value(Column(on)), unique[_KEY], source.engine)
    joined = source.table.left_join(unique, left == right)
    table = joined.select(*source.table.columns, *names)
    kinds = dict(source.kinds) | {name: opened.kinds[name] for name in names}
    # All else is as in the source, also which columns a card does not allow.
    same = {each.name: getattr(source, each.name) for each in fields(Source)}
    same |= {"table": table, "kinds": MappingProxyType(kinds)}
    return JoinedSource(**same, base=source, lookup=opened, on=on, content=content)


def _open_lookup(source: Source, lookup: object) -> tuple[Source, str | None]:
    """Return a lookup on the engine of a source, and a digest of its rows if it is in memory."""
    backend = source.table.get_backend()
    if isinstance(lookup, str) and source.engine != "duckdb":
        schema, _, name = lookup.rpartition(".")
        named = without_details(lambda: backend.table(name, database=schema or None))
        if named is None:
            raise InvalidParameter(
                "A lookup must be a table of the database that its user may read",
                got=quote(lookup),
                fix="Check the spelling, case and schema, as in 'public.regions'.",
            )
        lookup = named
    opened = open_source(lookup)
    if opened.place is not None and opened.place == source.place:
        raise InvalidParameter(
            "A lookup must be a public table",
            got="the protected table itself",
            fix="Join another table.",
        )
    if opened.table.get_backend() is backend:
        return opened, None
    if source.engine != "duckdb" or opened.engine != "duckdb":
        raise Unsupported(
            "A lookup must be on the connection of the protected table",
            got="a table of another one",
            fix="Pass a table of the same connection, or the name of one in the same database.",
        )
    return _copy(source, opened)


def _copy(source: Source, lookup: Source) -> tuple[Source, str | None]:
    """Copy a lookup to the DuckDB of a source; digest its rows if no place identifies them."""
    backend = source.table.get_backend()
    known = [name for name, kind in lookup.kinds.items() if kind != "other"]
    called = f"leastnoise_lookup_{next(_numbers)}"

    def load() -> "tuple[ir.Table, str]":
        sql = lookup.compile(lookup.table.select(*known))
        relation = lookup.table.get_backend().con.sql(sql)
        rows = relation.arrow()
        content = rows.read_all() if hasattr(rows, "read_all") else rows
        backend.con.register(called, content)
        written = repr(sorted(map(repr, content.to_pylist())))
        return backend.table(called), hashlib.sha256(written.encode()).hexdigest()[:32]

    loaded = without_details(load)
    lookup.close()
    if loaded is None:
        raise InvalidParameter(
            "The lookup cannot be read",
            fix="Check its contents, or write it to a Parquet file.",
        )
    table, content = loaded
    kinds = MappingProxyType({name: lookup.kinds[name] for name in known})
    copied = replace(lookup, table=table, kinds=kinds, owned=False)
    return copied, content if lookup.place is None else None


def _check_key(source: Source, lookup: Source, on: str, kind: str) -> None:
    other = lookup.kind(Column(on))
    types = source.value(Column(on)).type(), lookup.value(Column(on)).type()
    wide = [each.is_unsigned_integer() and each.nbytes == 8 for each in types]
    if kind not in _KEYS or kind != other or wide[0] != wide[1]:
        raise InvalidParameter(
            "The key of a lookup must hold integers, strings, booleans or dates, of one kind on "
            "both sides",
            got=f"{quote(on)}, of kind {kind} in the table and of kind {other} in the lookup",
            fix="Convert one of them. CSV columns are read as text.",
        )


def _choose_columns(
    source: Source, lookup: Source, on: str, columns: Sequence[str] | None
) -> list[str]:
    """Return the columns to add; reject one that does not exist or collides."""
    if columns is None:
        names = [name for name, kind in lookup.kinds.items() if name != on and kind != "other"]
    elif isinstance(columns, tuple | list):
        names = [str(name) for name in columns]
    else:
        raise InvalidParameter(
            "columns must be a list of names",
            got=quote(columns),
            fix='Write, for example, columns=["region"].',
        )
    if not names:
        raise InvalidParameter(
            "A lookup must have a column besides its key",
            got="none",
            fix="Name the columns to add.",
        )
    for name in names:
        if lookup.kind(Column(name)) == "other" or name == on:
            raise InvalidParameter(
                "A column of a lookup must hold numbers, strings, booleans or dates, and not be "
                "its key",
                got=quote(name),
                fix="Name other columns.",
            )
    taken = {name.lower() for name in source.table.columns} | {_KEY}
    repeated = [
        name for place, name in enumerate(names) if name.lower() in taken or name in names[:place]
    ]
    if repeated:
        raise InvalidParameter(
            "The columns of a lookup must have names that the table does not have",
            got=quote(repeated[0]),
            fix="Rename the column, or omit it by columns=[…].",
        )
    return names


def _check_unique(lookup: Source, on: str) -> None:
    key: Any = lookup.value(Column(on))
    keys = lookup.table.select(**{_KEY: key})
    keys = keys.filter(keys[_KEY].notnull())
    repeated = keys.group_by(_KEY).aggregate(leastnoise_n=keys.count())
    repeated = repeated.filter(repeated.leastnoise_n > 1)
    if fetch(lookup, repeated.aggregate(leastnoise_n=repeated.count())) != [(0,)]:
        raise InvalidParameter(
            f"The key {quote(on)} of a lookup must be unique",
            got="a key in several rows",
            fix="Remove the repeated rows, or join on another column.",
        )


def _make_unique(lookup: Source, on: str, names: Sequence[str]) -> "ir.Table":
    """Return the lookup with one row for each key, even if it has several."""
    table = lookup.table.select(**{_KEY: lookup.value(Column(on))}, **{n: n for n in names})
    table = table.filter(table[_KEY].notnull())

    def reduce(name: str) -> Any:
        column: Any = table[name]  # PostgreSQL has no minimum of booleans
        return column.all() if column.type().is_boolean() else column.min()

    return table.group_by(_KEY).aggregate(**{name: reduce(name) for name in names})
