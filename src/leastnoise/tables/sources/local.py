"""Files of CSV, JSON lines and Parquet, which a DuckDB in memory reads."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from glob import glob, has_magic
from os.path import exists, isdir, isfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from leastnoise.core.exact import quote
from leastnoise.errors import InvalidParameter, Unsupported, Words
from leastnoise.suggestions import find_nearest_file
from leastnoise.tables.sources.connections import in_memory
from leastnoise.tables.sources.csv_files import (
    DELIMITERS,
    Dialect,
    check_names,
    read_names,
    view_of_lines,
    view_of_objects,
    view_of_parquet,
)
from leastnoise.tables.sources.engine import without_details
from leastnoise.tables.sources.folders import find_files
from leastnoise.tables.sources.place import locate
from leastnoise.tables.sources.transcode import parse_encoding, transcode

if TYPE_CHECKING:
    import ibis.expr.types as ir

_Read = TypeVar("_Read")
_COMPRESSED = ".gz"
_CSV, _OBJECTS, _PARQUET = ("csv", "tsv"), ("jsonl", "ndjson"), ("parquet", "pq")
_SUFFIXES = (".csv", ".parquet", ".pq", ".tsv", ".csv.gz", ".jsonl")
OPTIONS = Words("delimiter=, encoding= and decimal=", "--delimiter, --encoding and --decimal")
_NAME = "records"  # of the table, in a query


@dataclass(frozen=True)
class Reading:
    """How the caller says that files are written.

    Attributes:
        delimiter: The delimiter of CSV files; None for that of their name.
        encoding: The encoding of CSV files; None for UTF-8.
        decimal: "," if numbers in CSV files have decimal commas; None for points.
        names: The converted columns, which are those of JSON lines.
    """

    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    names: tuple[str, ...] = ()

    @property
    def words(self) -> dict[str, str]:
        """What the caller has stated, for the identity of the table."""
        named = ("delimiter", "encoding", "decimal")
        stated = {name: getattr(self, name) for name in named}
        return {name: text for name, text in stated.items() if text is not None}


@dataclass(frozen=True, repr=False)
class Opened:
    """A table in files.

    Attributes:
        table: The table.
        text: Whether all its columns are strings that are parsed as the kind that a query needs.
        objects: Whether its lines are JSON objects.
    """

    table: "ir.Table"
    text: bool = False
    objects: bool = False


def parse_reading(
    delimiter: object, encoding: object, decimal: object, names: Iterable[str]
) -> Reading:
    """Return how the caller says that files are written."""
    written = {"tab": "\t", "\\t": "\t"}
    chosen = written.get(delimiter, delimiter) if isinstance(delimiter, str) else delimiter
    if chosen is not None and chosen not in DELIMITERS:
        raise InvalidParameter(
            Words("delimiter", "--delimiter") + " must be a comma, a semicolon, a tab or |",
            got=quote(delimiter),
            fix="Write, for example, " + Words('delimiter=";"', "--delimiter ';'") + ".",
        )
    if decimal not in (None, ".", ","):
        raise InvalidParameter(
            Words("decimal", "--decimal") + " must be a point or a comma",
            got=quote(decimal),
            fix="Write " + Words('decimal=","', "--decimal ,") + " for numbers like 3,14.",
        )
    return Reading(
        delimiter=None if chosen is None else str(chosen),
        encoding=None if encoding is None else parse_encoding(encoding),
        decimal="," if decimal == "," else None,
        names=tuple(names),
    )


def read(place: str | bytes, reading: Reading) -> Opened:
    """Return the table in one file or several."""
    place = _check_path(place)
    if not (has_magic(place) or exists(place)):
        raise _missing(place)
    if isdir(place):
        return _read_files(*find_files(place), "parquet", reading)
    return _read_files(_files(place), [], _format(place), reading)


def read_several(places: Sequence[str | bytes], reading: Reading) -> Opened:
    """Return the table in files that the caller lists."""
    paths = [_check_path(place) for place in places]
    formats = {_format(path) for path in paths}
    if len(formats) != 1 or len(set(map(locate, paths))) < len(paths):
        raise InvalidParameter(
            "A list of files must name one or more files of one format, each once",
            got=f"{len(formats)} formats" if len(formats) != 1 else "a file twice",
            fix="List, for example, ['2023.csv', '2024.csv'].",
        )
    for path in paths:
        if not isfile(path):
            raise _missing(path)
    return _read_files([locate(path) for path in paths], [], formats.pop(), reading)


def _check_path(place: str | bytes) -> str:
    """Return a path; reject one that cannot be of a file."""
    if isinstance(place, bytes) or "\0" in place:
        raise InvalidParameter(
            "A path must be a string without NUL",
            got="bytes" if isinstance(place, bytes) else "a string with NUL",
            fix="Give it as str, for instance 'people.csv'.",
        )
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", place):
        raise Unsupported(
            "A file must be on this machine",
            got="a URL",
            fix="Download the file, and give its path.",
        )
    return place


def _format(place: str) -> str:
    """Return the ending of a path in lower case, with ".gz" if it is compressed."""
    name = place.lower()
    compressed = name.endswith(_COMPRESSED)
    ending = name.removesuffix(_COMPRESSED).rpartition(".")[2]
    if ending in (*_CSV, *_OBJECTS) or (ending in _PARQUET and not compressed):
        return ending + _COMPRESSED * compressed
    if not (has_magic(place) or exists(place)):
        raise _missing(place)
    raise Unsupported(
        "A file must be CSV or Parquet, and end in .csv, .tsv, .parquet or .pq, or be JSON lines, "
        "and end in .jsonl or .ndjson; files of lines may be compressed, and then end in .gz, too",
        got=repr(place),
        fix="Convert or rename the file.",
    )


def _read_files(files: list[str], keys: list[str], format_: str, reading: Reading) -> Opened:
    compressed = format_.endswith(_COMPRESSED)
    ending = format_.removesuffix(_COMPRESSED)
    if ending not in _CSV and reading.words:
        raise InvalidParameter(
            OPTIONS + " are of CSV files",
            got="another source",
            fix="Omit them.",
        )
    if ending in _OBJECTS:
        return _objects(files, reading.names, compressed=compressed)
    if ending in _PARQUET:
        return _parquet(files, keys)
    return _csv(
        files,
        Dialect(reading.delimiter or ("\t" if ending == "tsv" else ","), compressed),
        reading.encoding or "utf-8",
    )


def _files(place: str) -> list[str]:
    """Return the files of a path or a pattern, as sorted absolute paths."""
    if isfile(place):
        return [locate(place)]
    files = sorted(locate(file) for file in glob(place, recursive=True) if isfile(file))
    if files:
        return files
    raise _missing(place)


def _missing(place: str) -> InvalidParameter:
    if has_magic(place):
        return InvalidParameter(f"No file matches {place!r}", fix="Check the spelling.")
    near = find_nearest_file(Path(place), _SUFFIXES)
    fix = f"Did you mean {near!r}?" if near else "Check the spelling."
    return InvalidParameter(f"No file at {place!r}", fix=fix)


def _csv(files: list[str], dialect: Dialect, encoding: str) -> Opened:
    """Return the table in CSV files, every column as strings."""
    backend = in_memory()
    if encoding != "utf-8":
        files = _read_quietly(
            lambda: transcode(files, encoding, compressed=dialect.compressed, backend=backend)
        )
        dialect = replace(dialect, compressed=False)
    names = _header(files[0], dialect)
    if any(_header(file, dialect) != names for file in files[1:]):
        raise _unlike()
    paths = list(map(_escape_pattern, files))

    def create_view() -> "ir.Table":
        backend.con.execute(view_of_lines(paths, names, _NAME, dialect))
        return _texts(backend, names)

    return Opened(_read_quietly(create_view), text=True)


def _objects(files: list[str], names: tuple[str, ...], *, compressed: bool) -> Opened:
    """Return the table in JSON lines: the named columns, as strings.

    The names in a file are those of persons' rows, so the caller must state them.
    """
    if not names:
        raise InvalidParameter(
            "JSON lines have no line of names, so "
            + Words("types=", "--type")
            + " must name the columns",
            got="none",
            fix="Write, for example, "
            + Words("types={'age': int, 'region': str}", "--type Age=integer --type Region=text")
            + ".",
        )
    check_names(list(names), "types=")
    backend = in_memory()
    paths = list(map(_escape_pattern, files))

    def create_view() -> "ir.Table":
        backend.con.execute(view_of_objects(paths, list(names), _NAME, compressed=compressed))
        return _texts(backend, names)

    return Opened(_read_quietly(create_view), text=True, objects=True)


def _texts(backend: Any, names: Iterable[str]) -> "ir.Table":
    """Return the view of strings as Ibis's own method does, which would load pyarrow and numpy."""
    import ibis
    import ibis.expr.operations as ops

    schema = ibis.schema(dict.fromkeys(names, "string"))
    return ops.DatabaseTable(
        _NAME, schema=schema, source=backend, namespace=ops.Namespace()
    ).to_expr()


def _parquet(files: list[str], keys: list[str]) -> Opened:
    """Return the table in Parquet files, whose schemas must agree.

    Otherwise a type would be cast to that of the first file, which could fail for a row.

    Args:
        files: The files.
        keys: The names of the partitions in which they lie, which are columns of strings.
    """
    backend = in_memory()
    paths = [_escape_pattern(file) for file in files]
    options = {"hive_partitioning": False, "union_by_name": False}
    schemas = _read_quietly(
        lambda: {backend.read_parquet([path], **options).schema() for path in paths}
    )
    if len(schemas) > 1:
        raise _unlike()
    names = {name.lower() for name in schemas.pop()}
    if names.intersection(map(str.lower, keys)):
        raise InvalidParameter(
            "A partition must have another name than the columns in its files",
            got="a folder that is named like a column",
            fix="Rename the folders, or write the files without that column.",
        )
    if keys:
        options |= {"hive_partitioning": True, "hive_types_autocast": False}
    table = _read_quietly(lambda: backend.read_parquet(paths, table_name=_NAME, **options))
    unread = _read_quietly(lambda: _find_overflowing(backend, paths[0]))
    if not unread:
        return Opened(table)

    def create_view() -> "ir.Table":
        sql = view_of_parquet(paths, table.columns, unread, _NAME, partitioned=bool(keys))
        backend.con.execute(sql)
        return backend.table(_NAME)

    return Opened(_read_quietly(create_view))


def _find_overflowing(backend: Any, path: str) -> frozenset[str]:
    """Return the columns of timestamps in milliseconds, at some of which DuckDB fails."""
    sql = "SELECT name FROM parquet_schema($path) WHERE converted_type = 'TIMESTAMP_MILLIS'"
    return frozenset(name for (name,) in backend.con.execute(sql, {"path": path}).fetchall())


def _header(file: str, dialect: Dialect) -> list[str]:
    """Return the names in the first line of a CSV file; no error quotes the file."""
    return check_names(_read_quietly(lambda: read_names(file, dialect)))


def _escape_pattern(file: str) -> str:
    """Escape a path so that DuckDB does not take it for a pattern."""
    return re.sub(r"[*?[]", lambda match: f"[{match[0]}]", file)


def _unlike() -> InvalidParameter:
    return InvalidParameter(
        "Files that are read together must have the same columns, of the same types and in the "
        "same order",
        got="files that differ",
        fix="Give a pattern for fewer files.",
    )


def _read_quietly(read_file: Callable[[], _Read]) -> _Read:
    """Return the result of reading a file; the error quotes nothing of it."""
    content = without_details(read_file)
    if content is None:
        raise InvalidParameter(
            "The file cannot be read: it is not of the format that its name ends in, it is "
            "damaged, or you have no permission to read it",
            fix="Check its contents and its permissions. If a CSV file is not in UTF-8, state its "
            "encoding, as in " + Words('encoding="cp1252"', "--encoding cp1252") + ".",
        )
    return content
