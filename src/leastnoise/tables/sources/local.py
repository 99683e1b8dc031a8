"""CSV and Parquet files, which a DuckDB in memory reads."""

import re
from collections.abc import Callable
from glob import glob, has_magic
from os.path import exists, isdir, isfile
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from leastnoise.errors import InvalidParameter, Unsupported
from leastnoise.suggestions import find_nearest_file
from leastnoise.tables.sources.connections import in_memory
from leastnoise.tables.sources.csv_files import check_names, read_names, view_of_lines
from leastnoise.tables.sources.engine import without_details
from leastnoise.tables.sources.place import locate

if TYPE_CHECKING:
    import ibis.expr.types as ir

_Read = TypeVar("_Read")
_SUFFIXES = (".csv", ".parquet", ".pq")
_NAME = "records"  # of the table, in a query


def read(place: str | bytes) -> tuple["ir.Table", bool]:
    """Return the table in one file or several, and whether all its columns are strings."""
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
    ending = place.lower().rpartition(".")[2]
    if not (has_magic(place) or exists(place)):
        raise _missing(place)
    if ending not in ("csv", "parquet", "pq"):
        raise Unsupported(
            "A file must be CSV or Parquet, and end in .csv, .parquet or .pq",
            got=repr(place),
            fix="Convert or rename the file.",
        )
    files = _files(place)
    return (_csv(files), True) if ending == "csv" else (_parquet(files), False)


def _files(place: str) -> list[str]:
    """Return the files of a path or a pattern, as sorted absolute paths."""
    if isfile(place):
        return [locate(place)]
    if isdir(place):
        raise InvalidParameter(
            f"{place!r} is a folder",
            fix="Pass a pattern for the files in it, such as 'people/*.csv'.",
        )
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


def _csv(files: list[str]) -> "ir.Table":
    """Return the table in CSV files, every column as strings."""
    names = _header(files[0])
    if any(_header(file) != names for file in files[1:]):
        raise _unlike()
    backend = in_memory()

    def create_view() -> "ir.Table":
        backend.con.execute(view_of_lines(list(map(_escape_pattern, files)), names, _NAME))
        return backend.table(_NAME)

    return _read_quietly(create_view)


def _parquet(files: list[str]) -> "ir.Table":
    """Return the table in Parquet files, whose schemas must agree.

    Otherwise a type would be cast to that of the first file, which could fail for a row.
    """
    backend = in_memory()
    paths = [_escape_pattern(file) for file in files]
    options = {"hive_partitioning": False, "union_by_name": False}
    schemas = _read_quietly(
        lambda: {backend.read_parquet([path], **options).schema() for path in paths}
    )
    if len(schemas) > 1:
        raise _unlike()
    return _read_quietly(lambda: backend.read_parquet(paths, table_name=_NAME, **options))


def _header(file: str) -> list[str]:
    """Return the names in the first line of a CSV file; no error quotes the file."""
    return check_names(_read_quietly(lambda: read_names(file)))


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
            fix="Check its contents and its permissions.",
        )
    return content


# ---------------------------------------------------------------- a sample


def census() -> Path:
    """Return the path of an invented census, a CSV file that comes with the package.

    It has about 8,000 persons and a row for each of their jobs (one row for a person without a
    job): ``person_id``, ``region``, ``household``, ``age``, ``sex``, ``born``, ``occupation``,
    ``income`` per year, ``hours`` per week. Some fields are empty. ``examples/make_census.py``
    makes it from a seed.

    >>> census().name
    'people.csv'
    """
    return Path(__file__).parents[1] / "samples" / "people.csv"
