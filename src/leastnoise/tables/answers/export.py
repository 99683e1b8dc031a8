"""Export of answers by group to Arrow, pandas, polars, numpy, CSV and Parquet.

The columns are the group keys, then the figures of the layout. For counts and sums these are
``value``, ``low`` and ``high`` (95%) and ``max_error`` (null if infinite). The last two columns are
the same in every row, because a CSV file has no other place for them. ``quantity`` states the
subject of the figures. ``reused`` is the day of a stored answer, and null for a new answer. If a
key column has the name of another column, it is renamed: ``value`` becomes ``value_key``.

Integers are exact. They have 64 bits if the whole column fits. Otherwise they are decimals of 38
digits (Arrow, Parquet), 128-bit integers (polars) or Python integers (pandas). Reals are the
nearest floats. Interval ends are rounded outward. Maximum errors are rounded up, and include the
rounding of the value, so they hold for the exported numbers. Libraries are loaded on first use.
"""

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from importlib import import_module
from itertools import islice
from operator import floordiv
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol, runtime_checkable

from leastnoise.errors import InvalidParameter, Unsupported, Words
from leastnoise.files import write_table
from leastnoise.mechanism import USE_ROWS, Figure, json_text
from leastnoise.rendering import printable
from leastnoise.tables.answers.layout import TableAnswer, layout_of

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow
    from numpy.typing import NDArray

    from leastnoise.tables.answers.grouped import GroupedAnswers

INTEGER, REAL, TEXT, BOOLEAN = "integer", "real", "text", "boolean"
DATE, TIMESTAMP = "date", "timestamp"
_ORDER = INTEGER, REAL, TEXT, BOOLEAN, DATE, TIMESTAMP
_KINDS: dict[type, str] = {
    int: INTEGER,
    str: TEXT,
    bool: BOOLEAN,
    date: DATE,
    datetime: TIMESTAMP,
}
_SHORTEST, _LONGEST = 1 << 63, 10**38
# Spreadsheets run a text that begins with one of these as a formula.
_FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n")
_ROWS_AT_ONCE = 10_000
# The columns that are the same in every row.
CONSTANTS = ("quantity", "reused")


@dataclass(frozen=True, slots=True)
class Column:
    """An exported column.

    Attributes:
        name: Its name.
        kind: INTEGER, REAL, TEXT, BOOLEAN, DATE or TIMESTAMP.
        values: Its values; None for null.
        long: Whether an integer does not fit into 64 bits.
    """

    name: str
    kind: str
    values: list[Any]
    long: bool = False


@runtime_checkable
class WithColumns(Protocol):
    """Answers of several queries, with columns of their own."""

    def exported_columns(self) -> list[Column]:
        """Return the exported columns."""


def export_columns(answers: "GroupedAnswers[TableAnswer]") -> list[Column]:
    """Return the columns of a table.

    Raises:
        Unsupported: If a number is too long for the types that other programs have.
    """
    if isinstance(answers, WithColumns):
        return answers.exported_columns()
    names = key_names(answers.names, (*layout_of(answers.answers).names, *CONSTANTS))
    keys = [make_keys(name, [key[i] for key in answers.keys]) for i, name in enumerate(names)]
    same = zip(CONSTANTS, (TEXT, DATE), find_constants(answers), strict=True)
    return [
        *keys,
        *figure_columns(answers.answers),
        *(Column(name, kind, [value] * len(answers)) for name, kind, value in same),
    ]


def figure_columns(answers: Sequence[TableAnswer]) -> list[Column]:
    """Return the columns of figures of answers of one class, the value first.

    Raises:
        Unsupported: If a number is too long for the types that other programs have.
    """
    layout = layout_of(answers)
    whole = layout.whole(answers)
    convert = [floordiv if figure.name in whole else figure.to_float for figure in layout.columns]
    lists: list[list[Any]] = [[] for _ in layout.columns]
    rows = layout.figures(answers)
    while block := list(islice(rows, _ROWS_AT_ONCE)):  # a million rows at once take a GB
        for i, (values, to_number) in enumerate(zip(lists, convert, strict=True)):
            column = (row[i] for row in block)
            values += [None if figure is None else to_number(*figure) for figure in column]
    return [
        _make_integers(figure.name, values)
        if figure.name in whole
        else _make_reals(figure, values, lists[0])
        for figure, values in zip(layout.columns, lists, strict=True)
    ]


def find_constants(answers: "GroupedAnswers[TableAnswer]") -> tuple[str, date | None]:
    """Return the values of the columns :data:`CONSTANTS`."""
    receipt = answers.receipt
    reused = None if receipt is None or not receipt.reused else date.fromisoformat(receipt.at[:10])
    return printable(answers.subject.statement), reused


def key_names(names: Sequence[str], figures: Sequence[str]) -> list[str]:
    """Return the names of the key columns beside those of the figures.

    ``value`` becomes ``value_key``. So does ``VALUE``: many programs ignore case.
    """
    taken = {name.casefold() for name in (*figures, *names)}
    clashing = {name.casefold() for name in figures}
    free_names = []
    for name in names:
        free = name
        while free.casefold() in clashing or (free != name and free.casefold() in taken):
            free = f"{free}_key"
        taken.add(free.casefold())
        free_names.append(free)
    return free_names


def name_figures(
    labels: Sequence[str], figures: Sequence[Sequence[str]], others: Sequence[str]
) -> list[list[str]]:
    """Return the names of the figures of several answers: ``n`` for a value, ``n_low`` for ``low``.

    Labels come first: a figure whose name is already that of another column, in any case, gets
    ``_`` at its end. So no column replaces another.

    >>> name_figures(["n", "n_low"], [["value", "low"]] * 2, ["N_low_low"])
    [['n', 'n_low_'], ['n_low', 'n_low_low_']]
    """
    taken = {name.casefold() for name in others}
    values = [find_free_name(label, taken) for label in labels]
    return [
        [
            value if figure == "value" else find_free_name(f"{value}_{figure}", taken)
            for figure in own
        ]
        for value, own in zip(values, figures, strict=True)
    ]


def find_free_name(name: str, taken: set[str]) -> str:
    """Return a name that is not taken, in any case, and take it."""
    while name.casefold() in taken:
        name += "_"
    taken.add(name.casefold())
    return name


def make_keys(name: str, values: Sequence[Any]) -> Column:
    """Return an exported column of group keys."""
    kind = _KINDS[type(values[0])] if values else TEXT
    return (
        _make_integers(name, list(values)) if kind == INTEGER else Column(name, kind, list(values))
    )


def _make_integers(name: str, values: list[Any]) -> Column:
    numbers = [number for number in values if number is not None]
    least, most = min(numbers, default=0), max(numbers, default=0)
    if max(-least, most) >= _LONGEST:
        raise Unsupported(
            "Exported integers must have at most 38 digits",
            got="an integer with more",
            fix=USE_ROWS,
        )
    return Column(name, INTEGER, values, long=least < -_SHORTEST or most >= _SHORTEST)


def _make_reals(figure: Figure, numbers: list[Any], values: list[float]) -> Column:
    """Return a column of floats; errors grow by half an ulp of the largest value."""
    if figure.widened:
        rounding = math.ulp(max(map(abs, values), default=0.0)) / 2
        numbers = [
            error if error is None else math.nextafter(error + rounding, math.inf)
            for error in numbers
        ]
    return Column(figure.name, REAL, numbers)


def _add_types(
    answers: "GroupedAnswers[TableAnswer]", *types: Any, long: Any
) -> list[tuple[Column, Any]]:
    by_kind = dict(zip(_ORDER, types, strict=True))
    columns = export_columns(answers)
    return [(column, long if column.long else by_kind[column.kind]) for column in columns]


def to_arrow(answers: "GroupedAnswers[TableAnswer]") -> "pyarrow.Table":
    """Return an Arrow table, with subject and guarantee as JSON in the metadata ``leastnoise``."""
    arrow = _load_library("pyarrow", "a table of Arrow")
    plain = arrow.int64(), arrow.float64(), arrow.string(), arrow.bool_()
    types = *plain, arrow.date32(), arrow.timestamp("us")
    columns = _add_types(answers, *types, long=arrow.decimal128(38, 0))
    from leastnoise.tables.answers.document import describe

    about = json_text(describe(answers))
    fields = [(column.name, kind) for column, kind in columns]
    return arrow.table(
        [arrow.array(column.values, type=kind) for column, kind in columns],
        schema=arrow.schema(fields, metadata={"leastnoise": about}),
    )


def to_arrow_stream(
    answers: "GroupedAnswers[TableAnswer]", requested_schema: object = None
) -> object:
    """Return the table of :func:`to_arrow` as a stream, by which other libraries read it.

    ``pyarrow.table(answers)``, ``polars.DataFrame(answers)`` and DuckDB call it. It needs pyarrow.
    """
    return to_arrow(answers).__arrow_c_stream__(requested_schema)


def to_array(
    answers: "GroupedAnswers[TableAnswer]", dtype: object = None, copy: bool | None = None
) -> "NDArray[Any]":
    """Return the values for ``np.asarray``, in the order of the groups.

    They are 64-bit integers or the nearest floats; Python integers if 64 bits are too few.
    """
    import numpy as np

    (values, *_) = figure_columns(answers.answers)
    kind = {INTEGER: np.int64, REAL: np.float64}[values.kind]
    array = np.array(values.values, dtype=object if values.long else kind)
    as_type: Any = array.dtype if dtype is None else dtype
    if copy is False:
        raise ValueError("The values of answers are copied. Omit copy=False.")
    return array.astype(as_type, copy=False)


def to_pandas(answers: "GroupedAnswers[TableAnswer]") -> "pandas.DataFrame":
    """Return a pandas frame; dates become datetimes, because pandas has no date type."""
    library = _load_library("pandas", "a frame of pandas")
    types = "int64", "float64", "str", "bool", "datetime64[s]", "datetime64[us]"
    frame = {}
    for column, kind in _add_types(answers, *types, long="object"):
        nullable = "Int64" if kind == "int64" and None in column.values else kind
        frame[column.name] = library.Series(column.values, dtype=nullable)
    return library.DataFrame(frame)


def to_polars(answers: "GroupedAnswers[TableAnswer]") -> "polars.DataFrame":
    """Return a polars frame."""
    library = _load_library("polars", "a frame of polars")
    plain = library.Int64, library.Float64, library.String, library.Boolean
    types = *plain, library.Date, library.Datetime("us")
    columns = _add_types(answers, *types, long=library.Int128)
    frame: polars.DataFrame = library.DataFrame(
        [library.Series(column.name, column.values, dtype=kind) for column, kind in columns]
    )
    return frame


def to_csv(
    answers: "GroupedAnswers[TableAnswer]",
    path: str | Path,
    *,
    overwrite: bool = False,
    formulas: bool = False,
) -> Path:
    """Write a CSV file in UTF-8: a header, a line for each group, dates as 2024-12-31.

    Spreadsheets run a text that begins with = + - @ as a formula. Keys can come from the data, so
    such texts are rejected.

    Args:
        answers: The answers.
        path: The file.
        overwrite: Replace an existing file. Default: raise an error.
        formulas: Write texts that spreadsheets run as formulas, unchanged. Default: reject them.
    """
    columns = export_columns(answers)
    names = [column.name for column in columns]
    if not formulas:
        texts = (value for column in columns if column.kind == TEXT for value in column.values)
        if any(text.startswith(_FORMULAS) for source in (names, texts) for text in source):
            raise InvalidParameter(
                "Strings in a CSV file must not begin with = + - @, a tab or a line break, because "
                "spreadsheets run them as formulas",
                got="a string that does",
                # No option of the command line writes formulas.
                fix="Write Parquet or JSON"
                + Words(", or pass formulas=True and warn the readers of the file", "")
                + ".",
            )

    def write(file: IO[bytes]) -> None:
        lines = io.TextIOWrapper(file, encoding="utf-8", newline="")
        writer = csv.writer(lines)  # lines end with \r\n (RFC 4180), so it quotes either
        writer.writerow(names)
        writer.writerows(zip(*map(_write_booleans, columns), strict=True))
        lines.detach()

    return write_table(path, write, overwrite=overwrite)


def to_parquet(
    answers: "GroupedAnswers[TableAnswer]", path: str | Path, *, overwrite: bool = False
) -> Path:
    """Write a Parquet file: the table of :func:`to_arrow` with its metadata."""
    table = to_arrow(answers)
    parquet = import_module("pyarrow.parquet")
    return write_table(path, lambda file: parquet.write_table(table, file), overwrite=overwrite)


def _write_booleans(column: Column) -> list[Any]:
    if column.kind == BOOLEAN:
        return ["true" if value else "false" for value in column.values]
    return column.values


def _load_library(name: str, what: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise Unsupported(
            f"{what} needs {name}, which is not installed", fix=f"Run: pip install {name}."
        ) from error
