"""CSV and Parquet files, asked by a DuckDB in memory."""

import csv
import re
from collections.abc import Iterator
from glob import glob, has_magic
from os.path import abspath, isdir, isfile
from typing import TYPE_CHECKING, BinaryIO

from leastnoise.errors import InvalidParameter, Unsupported
from leastnoise.tables.sources.connections import in_memory
from leastnoise.tables.sources.engine import without_details

if TYPE_CHECKING:
    import ibis.expr.types as ir


_NAME = "records"  # of the table, in a query
_LONGEST = 1 << 20  # bytes in the line of names
# Nothing is guessed, so how a file is read does not depend on its content. Not strict, with lines
# that are not understood left out, so no line makes reading fail.
_DIALECT = {
    "header": True,
    "delim": ",",
    "quote": '"',
    "escape": '"',
    "nullstr": "",
    "encoding": "utf-8",
    "compression": "none",
    "ignore_errors": True,
    "strict_mode": False,
    "parallel": False,  # in parallel, the state at the start of a piece would have to be guessed
    "max_line_size": 2_000_000,
    "hive_partitioning": False,
}


def read(place: str | bytes) -> tuple["ir.Table", bool]:
    """Return the table in one file or several, and whether all its columns are strings."""
    if isinstance(place, bytes) or "\0" in place:
        raise InvalidParameter("a path must be a text without NUL; got another. Give it as str.")
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", place):
        raise Unsupported(
            "a file must be on this machine; got an address. Download it, and give its path."
        )
    ending = place.lower().rpartition(".")[2]
    if ending not in ("csv", "parquet", "pq"):
        raise Unsupported(
            f"a file must be CSV or Parquet, and end in .csv, .parquet or .pq; got {place!r}. "
            "Convert or rename it."
        )
    files = _files(place)
    return (_csv(files), True) if ending == "csv" else (_parquet(files), False)


def _files(place: str) -> list[str]:
    """Return the files of a path or a pattern, as sorted absolute paths."""
    if isfile(place):
        return [abspath(place)]
    if isdir(place):
        raise InvalidParameter(
            f"a path must be that of a file; got {place!r}, a folder. Give a pattern for the "
            "files in it, such as 'people/*.csv'."
        )
    files = sorted(abspath(file) for file in glob(place, recursive=True) if isfile(file))
    if files:
        return files
    got = "which no file matches" if has_magic(place) else "where there is none"
    raise InvalidParameter(f"a path must lead to a file; got {place!r}, {got}. Look at its name.")


def _csv(files: list[str]) -> "ir.Table":
    """Return the table in CSV files, every column as strings."""
    names = _header(files[0])
    if any(_header(file) != names for file in files[1:]):
        raise _unlike()
    backend = in_memory()
    paths = [_literally(file) for file in files]
    columns = dict.fromkeys(names, "VARCHAR")

    def viewed() -> "ir.Table":
        lines = backend.read_csv(paths, table_name="lines", columns=columns, **_DIALECT)
        # DuckDB casts a bare column while it reads, and leaves out the lines where that fails; an
        # expression is cast where it stands.
        fields = {name: lines[name].nullif("") for name in names}
        return backend.create_view(_NAME, lines.select(**fields))

    table = without_details(viewed)
    if table is None:
        raise _unreadable()
    return table


def _parquet(files: list[str]) -> "ir.Table":
    """Return the table in Parquet files, whose schemas must agree.

    Otherwise a type would be cast to that of the first file, which could fail for a row.
    """
    backend = in_memory()
    paths = [_literally(file) for file in files]
    options = {"hive_partitioning": False, "union_by_name": False}
    schemas = without_details(
        lambda: {backend.read_parquet([path], **options).schema() for path in paths}
    )
    if schemas is None:
        raise _unreadable()
    if len(schemas) > 1:
        raise _unlike()
    table = without_details(lambda: backend.read_parquet(paths, table_name=_NAME, **options))
    if table is None:
        raise _unreadable()
    return table


def _header(file: str) -> list[str]:
    """Return the names in the first line of a CSV file; no error quotes the file."""
    names = without_details(lambda: _names(file))
    if names is None:
        raise _unreadable()
    if not names or not all(names) or len({name.lower() for name in names}) < len(names):
        raise InvalidParameter(
            "the first line of a CSV file must name its columns, each differently, also where "
            "small and capital letters count as the same; got one that does not. Add such a line."
        )
    return names


def _names(file: str) -> list[str]:
    with open(file, "rb") as lines:
        # Quoted names may span several lines.
        return next(csv.reader(_first(lines), strict=True), [])


def _first(lines: BinaryIO) -> Iterator[str]:
    """Yield the beginning of a file line by line, but no more than a header can have.

    Lines are decoded one by one, because those after the header need not be UTF-8.
    """
    left, encoding = _LONGEST, "utf-8-sig"
    while left > 0 and (line := lines.readline(left)):
        yield line.decode(encoding)
        left, encoding = left - len(line), "utf-8"


def _literally(file: str) -> str:
    """Escape a path so that DuckDB does not take it for a pattern."""
    return re.sub(r"[*?[]", lambda sign: f"[{sign[0]}]", file)


def _unlike() -> InvalidParameter:
    return InvalidParameter(
        "files that are read together must have the same columns, of the same types and in the "
        "same order; these have not. Give a pattern for fewer of them."
    )


def _unreadable() -> InvalidParameter:
    return InvalidParameter(
        "a file must be one that its ending says and that this user may read; this one is not, or "
        "its beginning is damaged. Look at it, and at the rights to it."
    )
