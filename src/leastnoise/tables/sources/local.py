"""CSV and Parquet files, and frames of pandas, polars and Arrow, asked by a DuckDB in memory."""

import csv
import re
import sys
from collections.abc import Callable, Iterator
from glob import glob, has_magic
from os.path import abspath, isdir, isfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

from leastnoise.errors import InvalidParameter, Unsupported
from leastnoise.tables.sources.connections import in_memory
from leastnoise.tables.sources.engine import without_details

if TYPE_CHECKING:
    import ibis.expr.types as ir

_Read = TypeVar("_Read")
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

    return _readable(viewed)


def _parquet(files: list[str]) -> "ir.Table":
    """Return the table in Parquet files, whose schemas must agree.

    Otherwise a type would be cast to that of the first file, which could fail for a row.
    """
    backend = in_memory()
    paths = [_literally(file) for file in files]
    options = {"hive_partitioning": False, "union_by_name": False}
    schemas = _readable(
        lambda: {backend.read_parquet([path], **options).schema() for path in paths}
    )
    if len(schemas) > 1:
        raise _unlike()
    return _readable(lambda: backend.read_parquet(paths, table_name=_NAME, **options))


def _header(file: str) -> list[str]:
    """Return the names in the first line of a CSV file; no error quotes the file."""
    names = _readable(lambda: _names(file))
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


def _readable(read_file: Callable[[], _Read]) -> _Read:
    """Return what is read of a file; the error quotes nothing of it."""
    found = without_details(read_file)
    if found is None:
        raise InvalidParameter(
            "a file must be one that its ending says and that this user may read; this one is not, "
            "or its beginning is damaged. Look at it, and at the rights to it."
        )
    return found


# ---------------------------------------------------------------- frames

_FRAMES = {
    ("pandas", "DataFrame"): "a pandas frame",
    ("polars", "DataFrame"): "a polars frame",
    ("pyarrow", "Table"): "an Arrow table",
}


def frame_name(source: object) -> str | None:
    """Return the name of a frame's kind; None if the object is no frame."""
    for (module, kind), name in _FRAMES.items():
        # If there is a frame, its library is loaded.
        type_ = getattr(sys.modules.get(module), kind, None)
        if type_ is not None and isinstance(source, type_):
            return name
    return None


def frame_table(frame: Any, name: str) -> "ir.Table":
    """Return a frame as a table of a DuckDB of our own.

    A pandas column of Python objects can hold anything, and is not read: it has no kind, and must
    be converted before it can be queried.
    """
    _check_names(list(frame.column_names if name == "an Arrow table" else frame.columns))
    backend = in_memory()

    def registered() -> "ir.Table":
        backend.con.register(_NAME, _arrow(frame, name))
        return backend.table(_NAME)

    table = without_details(registered)
    if table is None:
        raise Unsupported(
            f"{name} must have columns that Arrow and DuckDB can hold; this one has others. "
            "Convert them to numbers, texts, truth values or dates, or leave them out."
        )
    return table


def _check_names(names: list[object]) -> None:
    """Reject names that do not identify a column."""
    texts = [name for name in names if isinstance(name, str) and name]
    if not names or len({text.lower() for text in texts}) < len(names):
        raise InvalidParameter(
            "the columns of a frame must be named by texts, each differently, also where small and "
            "capital letters count as the same; these are not. Rename them."
        )


def _arrow(frame: Any, name: str) -> Any:
    """Return a frame as an Arrow table, with categories decoded."""
    import pyarrow as pa

    if name == "a pandas frame":
        frame = pa.table({column: _pandas_column(frame[column]) for column in frame.columns})
    elif name == "a polars frame":
        frame = frame.to_arrow()
    for place, field in enumerate(frame.schema):
        if pa.types.is_dictionary(field.type):
            decoded = frame.column(place).cast(field.type.value_type)
            frame = frame.set_column(place, field.name, decoded)
    return frame


def _pandas_column(column: Any) -> Any:
    import pyarrow as pa

    if column.dtype != object:
        return pa.Array.from_pandas(column)
    return pa.nulls(len(column), pa.binary())


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
