"""``protect``: wrap a table so that only differentially private answers can be read from it."""

from os import PathLike
from types import EllipsisType
from typing import Any, overload

from leastnoise.deprecation import take_renamed
from leastnoise.errors import InvalidParameter, parameter
from leastnoise.ledger import Ledger, Unrecorded, check_ledger, check_name
from leastnoise.tables.bounding import ADD_REMOVE
from leastnoise.tables.card import (
    Card,
    check_given,
    find_ledger,
    make_unit,
    open_table,
    read_card,
)
from leastnoise.tables.protected import ProtectedTable
from leastnoise.tables.queries.planned_query import TableUnit, check_groupable, parse_max_rows
from leastnoise.tables.sources import Types, open_source
from leastnoise.tables.where import Column


@overload
def protect(
    source: object,
    *,
    unit: str | None,
    ledger: Ledger | Unrecorded,
    max_rows: int | None = None,
    neighbors: str | None = None,
    table: str | None = None,
    name: str | None = None,
    version: str | None = None,
    types: Types | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    neighbours: str | None = None,
) -> ProtectedTable: ...


@overload
def protect(
    *,
    card: str | PathLike[str] | Card,
    analyst: str | None = None,
    ledger: Ledger | Unrecorded | None = None,
    max_rows: int | None = None,
    name: str | None = None,
    version: str | None = None,
) -> ProtectedTable: ...


def protect(
    source: object = None,
    *,
    unit: str | EllipsisType | None = ...,
    ledger: Ledger | Unrecorded | None = None,
    max_rows: int | None = None,
    neighbors: str | None = None,
    table: str | None = None,
    name: str | None = None,
    version: str | None = None,
    types: Types | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    neighbours: str | None = None,
    card: str | PathLike[str] | Card | None = None,
    analyst: str | None = None,
) -> ProtectedTable:
    """Wrap a table so that only differentially private answers can be read from it.

    No data is read: columns are looked up in its schema.

    In a CSV file, one line is one row, even inside quotes. If quoted fields can contain line
    breaks, convert the file first, for instance to Parquet: a person who writes free text could
    otherwise write lines that count as other units.

    Args:
        source: A path, glob or list of CSV, JSON lines or Parquet files, or a folder of Parquet
            files; a pandas or polars frame or an Arrow table; a Spark DataFrame; an Ibis table on
            DuckDB, PostgreSQL or Spark; or, with ``table``, ``"postgresql://…"``, ``"a.duckdb"`` or
            a DuckDB connection.
        unit: The column that names the privacy unit, for instance a person. None declares that
            every row is a unit: then each person must have exactly one row.
        ledger: Where releases are charged and stored; ``UNRECORDED`` to go without.
        max_rows: The maximum rows per unit per group. If a unit has more, a count uses ``max_rows``
            of them. A sum adds up all of them and clips the total to what ``max_rows`` rows can
            add. A mean uses ``max_rows`` rows, each with the average of all of them. Every answer
            says so. A query may state its own; without one here, every query states it. Omit it
            without a column of units.
        neighbors: Which tables are neighboring: ``"add_remove"`` if one unit is added or removed,
            ``"replace"`` if one unit is replaced. Default: ``"add_remove"``.
        table: The name of the table, with a database.
        name: What the data is called. Answers print it. A ledger returns a stored answer only for
            the same name and version. Data in memory must have a name if there is a ledger.
            Default: for a file its absolute path; for a database table its server, database, schema
            and name. Answers show only the last part.
        version: The version of the data, such as ``"2026-11"``. Give a new one when the data at the
            same place has changed, for answers about the new data. Default: none.
        types: Columns to convert, such as ``{"month": int, "joined": "date"}``. A type is ``int``,
            ``float``, ``"decimal"``, ``bool``, ``str``, ``"date"`` or ``"timestamp"``. A value
            that does not convert is NULL (docs/row-rules.md states the accepted syntax). Default:
            none.
        delimiter: The delimiter of CSV files: a comma (the default; for .tsv a tab), ``";"``,
            ``"|"`` or a tab. It is never guessed.
        encoding: The encoding of CSV files, such as ``"cp1252"``. Default: UTF-8.
        decimal: ``","`` for CSV files with decimal commas, as in 3,14. Default: a point.
        neighbours: The old name of ``neighbors``; deprecated.
        card: The path of a dataset card, which states all of the above (docs/card.md). Give beside
            it only what the card leaves open. Default: none.
        analyst: With ``card``: the analyst, if the card lists analysts or names the ledger.

    Raises:
        InvalidParameter: If an argument breaks a rule, or data in memory has a ledger and no name.
        Unsupported: If this version cannot read such a source, or a library is missing.
    """
    if neighbours is not None:  # no decorator: its frame would hold the data
        replaced = neighbors is not None
        neighbors = take_renamed("neighbours", neighbours, "neighbors", given=replaced)
    if card is not None:
        named = {"source": source, "neighbors": neighbors, "table": table, "ledger": ledger}
        named |= {"name": name, "version": version}
        named |= {"types": types, "delimiter": delimiter, "encoding": encoding}
        named |= {"decimal": decimal}
        stated = {what: value for what, value in named.items() if value is not None}
        stated |= {} if unit is ... else {"unit": unit}
        return _protect_by_card(card, stated, max_rows=max_rows, analyst=analyst)
    if unit is ...:
        raise InvalidParameter(
            "unit= or card= must be given",
            got="neither",
            fix="Write unit='person_id' for the column that identifies a person, unit=None if "
            "every row is a different person, or card='people.toml'.",
        )
    if analyst is not None:
        raise InvalidParameter(
            parameter("analyst") + " needs a card",
            fix="Open the ledger with Ledger(path, analyst=…).",
        )
    recorded = check_ledger(
        ledger,
        "Pass Ledger('people.ledger') to charge a ledger, or leastnoise.UNRECORDED to track the "
        "budget yourself.",
    )
    who = TableUnit(unit, parse_max_rows(unit, max_rows), neighbors or ADD_REMOVE)
    for what, text in (("name", name), ("version", version)):
        if text is not None:
            check_name(text, what)
    opened = open_source(
        source,
        table,
        name=name,
        version=version,
        types=types,
        delimiter=delimiter,
        encoding=encoding,
        decimal=decimal,
    )
    try:
        if unit is not None:
            check_groupable(unit, opened.kind(Column(unit)), "the column of units")
        if opened.place is None and isinstance(recorded, Ledger):
            raise InvalidParameter(
                "In-memory data needs name= when a ledger is used",
                fix="Stored answers are found by it. Write, for example, name='people'.",
            )
    except BaseException:
        opened.close()
        raise
    return ProtectedTable(opened, who, recorded)


def _protect_by_card(
    card: str | PathLike[str] | Card,
    given: dict[str, Any],
    *,
    max_rows: int | None,
    analyst: str | None,
) -> ProtectedTable:
    """Open the table and the ledger of a card; reject arguments other than the card's."""
    stated = card if isinstance(card, Card) else read_card(card)
    check_given(stated, given)
    unit = make_unit(stated, max_rows)
    opened = open_table(stated, name=given.get("name"), version=given.get("version"))
    try:
        ledger = find_ledger(stated, given.get("ledger"), analyst)
    except BaseException:
        opened.close()
        raise
    return ProtectedTable(opened, unit, ledger, stated.defaults, stated)
