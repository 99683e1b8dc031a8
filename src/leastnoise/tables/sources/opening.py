"""Open a source of a table without reading a row."""

from collections.abc import Mapping
from dataclasses import replace
from os import PathLike, fspath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from leastnoise.errors import InvalidParameter, Words
from leastnoise.tables.sources.calendar import known_times
from leastnoise.tables.sources.connections import ADDRESS, connect, engine_of
from leastnoise.tables.sources.conversions import (
    Types,
    check_conversions,
    convert,
    parse_types,
    swap_decimals,
)
from leastnoise.tables.sources.duckdb_tables import (
    connect_duckdb_file,
    is_duckdb,
    is_duckdb_file,
    read_duckdb,
)
from leastnoise.tables.sources.frames import frame_name, frame_table
from leastnoise.tables.sources.local import (
    OPTIONS,
    Opened,
    Reading,
    parse_reading,
    read,
    read_several,
)
from leastnoise.tables.sources.place import Place, file_place, files_place, named, table_place
from leastnoise.tables.sources.rowwise import check_rowwise, find_non_numbers, find_zoned
from leastnoise.tables.sources.source import Source
from leastnoise.tables.sources.spark_frames import is_spark_frame, spark_table

if TYPE_CHECKING:
    import ibis.expr.datatypes as dt
    import ibis.expr.types as ir


_NUMBERS = ("integer", "real", "decimal")


def open_source(
    source: object,
    table: str | None = None,
    *,
    name: str | None = None,
    version: str | None = None,
    types: Types | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
) -> Source:
    """Open a source without reading a row.

    Args:
        source: The path of a file of CSV, JSON lines or Parquet, a pattern such as "people-*.csv"
            or a list for several with the same columns, or a folder of Parquet files; a pandas or
            polars frame or an Arrow table; a Spark DataFrame; an Ibis table on DuckDB, PostgreSQL
            or Spark, also with some of its rows and columns; the path of a DuckDB database or a
            connection to one; or the connection string of a PostgreSQL database.
        table: With a database, the name of the table, with its schema if need be.
        name: What the data is called; it replaces the place of the source.
        version: The version of the data.
        types: The type of each column to convert, such as ``{"month": int, "joined": "date"}``.
        delimiter: The delimiter of CSV files, a tab for .tsv: ``","``, ``";"``, ``"|"`` or a tab.
        encoding: The encoding of CSV files; UTF-8 if it is omitted.
        decimal: The sign before the fraction of numbers in CSV files: ``"."`` or ``","``.

    In a CSV file every line is one record, and the first line names the columns. Fields are
    separated by the delimiter and may be in double quotes, lines end with a line feed, a carriage
    return or both, and the encoding is UTF-8 unless stated. Reading never fails, and no line
    changes how another is read. Omitted are lines with too few fields, with a quoted field that is
    not closed or goes on after its closing quote, of more than 2,000,000 bytes, or with bytes that
    are not of the encoding. A quoted field cannot contain a line break: what follows the break is
    read as another line, and is a record if it has enough fields. Fields without a name are
    ignored, and an empty field is NULL. In JSON lines every line is one object.

    Raises:
        InvalidParameter: If there is no such file or table, or it cannot be read.
        Unsupported: If this version cannot read such a source, or a library is missing.
    """
    kinds = parse_types({} if types is None else types)
    opened = _open(source, table, parse_reading(delimiter, encoding, decimal, kinds))
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
        if to in _NUMBERS and "decimal" in source.reading:
            value = swap_decimals(value)
        if of == "timestamp" or of != to:
            columns[name] = convert(value, of, to, source.engine)
    if not columns:
        return replace(source, types=types)
    kinds = MappingProxyType({**source.kinds, **types})
    table = source.table.mutate(**columns)
    return replace(source, table=table, opened=source.table, kinds=kinds, types=types)


def _open(source: object, table: str | None, reading: Reading) -> Source:
    if isinstance(source, str) and source.startswith(ADDRESS):
        _check_reading(reading)
        opened, name = connect(source, table)
        return _source(opened, "postgres", name, _table_place(opened, "postgres"), owned=True)
    if isinstance(source, str | PathLike) and is_duckdb_file(fspath(source)):
        _check_reading(reading)
        opened, name = connect_duckdb_file(str(fspath(source)), table)
        return _source(opened, "duckdb", name, _table_place(opened, "duckdb"), owned=True)
    if is_duckdb(source):
        _check_reading(reading)
        opened, name = read_duckdb(source, table)
        return _source(opened, "duckdb", name, _table_place(opened, "duckdb"))
    if table is not None:
        raise InvalidParameter(
            Words("table=", "--table")
            + " names a table of a database, so it needs a connection string or a DuckDB database",
            got="another source",
            fix="Omit it.",
        )
    if isinstance(source, list | tuple) and all(isinstance(x, str | PathLike) for x in source):
        paths = [fspath(path) for path in source]
        place = files_place(paths)
        return _from_files(read_several(paths, reading), place.text, place, reading)
    if isinstance(source, str | PathLike):
        path = fspath(source)
        return _from_files(read(path, reading), str(path), file_place(str(path)), reading)
    _check_reading(reading)
    if is_spark_frame(source):
        return _source(spark_table(source), "pyspark", "a Spark DataFrame", None)
    frame = frame_name(source)
    if frame is not None:
        return _source(frame_table(source, frame), "duckdb", frame, None, owned=True)
    engine = engine_of(source)
    chosen, name = check_rowwise(source)
    return _source(chosen, engine, name, _table_place(chosen, engine))


def _check_reading(reading: Reading) -> None:
    """Reject options of CSV files for another source."""
    if reading.words:
        raise InvalidParameter(
            OPTIONS + " are of CSV files",
            got="another source",
            fix="Omit them.",
        )


def _from_files(opened: Opened, name: str, place: Place, reading: Reading) -> Source:
    source = _source(opened.table, "duckdb", name, place, text=opened.text, owned=True)
    return replace(source, reading=reading.words, objects=opened.objects)


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
