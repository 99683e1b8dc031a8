"""Tables of answers as Arrow, pandas, polars, CSV, Parquet and JSON.

The columns that a table of answers is exported as: plain Python values of one kind each.

Tables of answers for other programs: Arrow, pandas, polars, CSV, Parquet, JSON.

The columns are those that groups are by, then ``value``, ``low`` and ``high`` (95 %) and ``bound``
(never exceeded; null if infinite), of means also ``count``, ``sum_from_middle`` (the released sum
of value − middle) and ``middle``. Of quantiles they are ``value``, ``cell_low`` and ``cell_high``
(where the cell begins and ends), ``rank_error`` (95 %) and ``bound``, both in rows. A column to
group by that has one of these names is called ``value_key``, and so on.

Whole numbers stay whole and exact: in 64 bits if all of a column fit, else as decimals of 38 digits
(Arrow, Parquet), 128-bit integers (polars) or Python's (pandas). Real numbers are the nearest
floats; ends are rounded outward and bounds up, with what the value was rounded by, so what they say
holds of the numbers in the file. The libraries are loaded on first use.
"""

import csv
import io
import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from leastnoise.core.exact import format_ratio
from leastnoise.errors import InvalidParameter, Unsupported, Words
from leastnoise.files import write_table
from leastnoise.tables.answers.figures import (
    BOUND,
    CELL_LOW,
    LOW,
    MIDDLE,
    RANK_ERROR,
    SUM,
    VALUE,
    columns_of,
    confident_columns,
    figures_of,
    whole_columns,
)
from leastnoise.tables.answers.rounding import USE_ROWS, float_above, float_below, float_near

if TYPE_CHECKING:
    from leastnoise.tables.answers.grouped import GroupedAnswers

# To the nearest; every other real figure is an end above or an error, and rounded up.
_NEAREST = (VALUE, SUM, MIDDLE)
_ROWS_AT_ONCE = 10_000


@dataclass(frozen=True, slots=True)
class Column:
    """A column.

    Attributes:
        name: What it is called.
        kind: What it holds.
        values: Its values; None for null.
        long: Whether some whole number does not fit into 64 bits.
        nulls: Whether there are nulls.
    """

    name: str
    kind: str
    values: list[Any]
    long: bool = False
    nulls: bool = False


def exported(answers: "GroupedAnswers") -> list[Column]:
    """Return the columns of a table.

    Raises:
        Unsupported: If a number is too long for the types that other programs have.
    """
    figures = columns_of(answers.answers)
    names = key_names(answers.names, figures)
    columns = [_key(name, [key[i] for key in answers.keys]) for i, name in enumerate(names)]
    whole = whole_columns(answers.answers)
    read = [_whole if name in whole else _reading(name) for name in figures]
    lists: list[list[Any]] = [[] for _ in figures]
    rows = figures_of(answers.answers)
    while block := list(islice(rows, _ROWS_AT_ONCE)):  # all at once, their ratios would take a GB
        for i, (values, number) in enumerate(zip(lists, read, strict=True)):
            column = (row[i] for row in block)
            values += [None if figure is None else number(*figure) for figure in column]
    by_name = dict(zip(figures, lists, strict=True))
    if BOUND not in whole and RANK_ERROR not in figures:
        by_name[BOUND] = _widened(by_name[BOUND], by_name[VALUE])
    return columns + [
        _integers(name, values)
        if name in whole
        else Column(name, REAL, values, nulls=None in values)
        for name, values in by_name.items()
    ]


def key_names(names: Sequence[str], figures: Sequence[str]) -> list[str]:
    """Return what the columns to group by are called beside the figures.

    ``value`` becomes ``value_key``; in capitals too, for many programs see no difference.
    """
    taken = {name.casefold() for name in (*figures, *names)}
    clashing = {name.casefold() for name in figures}
    found = []
    for name in names:
        free = name
        while free.casefold() in clashing or (free != name and free.casefold() in taken):
            free = f"{free}_key"
        taken.add(free.casefold())
        found.append(free)
    return found


def _key(name: str, values: Sequence[Any]) -> Column:
    kind = _KINDS[type(values[0])] if values else TEXT
    return _integers(name, list(values)) if kind == INTEGER else Column(name, kind, list(values))


def _integers(name: str, values: list[Any]) -> Column:
    numbers = [number for number in values if number is not None]
    least, most = min(numbers, default=0), max(numbers, default=0)
    if max(-least, most) >= _LONGEST:
        raise Unsupported(
            "exported whole numbers must have at most 38 digits",
            got="one that has more",
            fix=USE_ROWS,
        )
    long = least < -_SHORTEST or most >= _SHORTEST
    return Column(name, INTEGER, values, long=long, nulls=len(numbers) < len(values))


def _reading(name: str) -> Callable[[int, int], float]:
    if name in _NEAREST:
        return float_near
    return float_below if name in (LOW, CELL_LOW) else float_above


def _whole(upper: int, lower: int) -> int:
    return upper // lower


def _widened(bounds: list[Any], values: list[float]) -> list[Any]:
    """Return bounds that hold of values as floats: half an ulp of the largest more, rounded up."""
    off = math.ulp(max(map(abs, values), default=0.0)) / 2
    return [bound if bound is None else math.nextafter(bound + off, math.inf) for bound in bounds]


# With what a spreadsheet takes a cell for a formula.
_FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n")


def to_arrow(answers: "GroupedAnswers") -> Any:
    """Return a table of Arrow; its metadata ``leastnoise`` says what is promised, as JSON."""
    arrow = _library("pyarrow", "a table of Arrow")
    types = {
        INTEGER: arrow.int64(),
        REAL: arrow.float64(),
        TEXT: arrow.string(),
        BOOLEAN: arrow.bool_(),
        DATE: arrow.date32(),
    }
    columns = exported(answers)
    fields = [
        (one.name, arrow.decimal128(38, 0) if one.long else types[one.kind]) for one in columns
    ]
    arrays = [
        arrow.array(one.values, type=kind) for one, (_, kind) in zip(columns, fields, strict=True)
    ]
    about = json.dumps(_about(answers), ensure_ascii=False)
    return arrow.table(arrays, schema=arrow.schema(fields, metadata={"leastnoise": about}))


def to_pandas(answers: "GroupedAnswers") -> Any:
    """Return a frame of pandas; dates, for which it has no type, become its times."""
    pandas = _library("pandas", "a frame of pandas")
    types = {REAL: "float64", TEXT: "str", BOOLEAN: "bool", DATE: "datetime64[s]"}

    def kind(one: Column) -> str:
        if one.kind != INTEGER:
            return types[one.kind]
        return "object" if one.long else "Int64" if one.nulls else "int64"

    return pandas.DataFrame(
        {one.name: pandas.Series(one.values, dtype=kind(one)) for one in exported(answers)}
    )


def to_polars(answers: "GroupedAnswers") -> Any:
    """Return a frame of polars."""
    polars = _library("polars", "a frame of polars")
    types = {
        INTEGER: polars.Int64,
        REAL: polars.Float64,
        TEXT: polars.String,
        BOOLEAN: polars.Boolean,
        DATE: polars.Date,
    }
    return polars.DataFrame(
        [
            polars.Series(
                one.name, one.values, dtype=polars.Int128 if one.long else types[one.kind]
            )
            for one in exported(answers)
        ]
    )


def to_csv(
    answers: "GroupedAnswers", path: str | Path, *, overwrite: bool = False, formulas: bool = False
) -> Path:
    """Write a CSV file in UTF-8: a header, a line for each group, dates as 2024-12-31.

    A spreadsheet takes a text that begins with = + - @ for a formula and runs it. Keys can come
    from the data; so such texts are refused, and never changed.

    Args:
        answers: The table.
        path: Where to write.
        overwrite: Whether to write over a file that is there.
        formulas: Whether to write such texts as they are.
    """
    columns = exported(answers)
    texts = [one.name for one in columns]
    if not formulas:
        found = (value for one in columns if one.kind == TEXT for value in one.values)
        if any(text.startswith(_FORMULAS) for source in (texts, found) for text in source):
            raise InvalidParameter(
                "texts in a CSV file must not begin with = + - @ or a space that is not one, which "
                "spreadsheets run as formulas",
                got="one that does",
                # No option of the command line writes formulas.
                fix="Write Parquet or JSON"
                + Words("; or give formulas=True, and tell who reads the file", "")
                + ".",
            )

    def write(file: IO[bytes]) -> None:
        lines = io.TextIOWrapper(file, encoding="utf-8", newline="")
        writer = csv.writer(lines)  # ends lines with \r\n (RFC 4180): so it quotes both in texts
        writer.writerow(texts)
        writer.writerows(zip(*map(_plain, columns), strict=True))
        lines.detach()

    return write_table(path, write, overwrite=overwrite)


def to_parquet(answers: "GroupedAnswers", path: str | Path, *, overwrite: bool = False) -> Path:
    """Write a Parquet file: the table of :func:`to_arrow`, its metadata included.

    Args:
        answers: The table.
        path: Where to write.
        overwrite: Whether to write over a file that is there.
    """
    table = to_arrow(answers)
    parquet = import_module("pyarrow.parquet")
    return write_table(path, lambda file: parquet.write_table(table, file), overwrite=overwrite)


def to_json(answers: "GroupedAnswers", path: str | Path, *, overwrite: bool = False) -> Path:
    """Write a JSON file: what was asked and is promised, and under ``rows`` an object for a group.

    Whole numbers are written in full; programs that read all numbers as floats round them above
    2⁵³. Dates are texts.

    Args:
        answers: The table.
        path: Where to write.
        overwrite: Whether to write over a file that is there.
    """
    columns = exported(answers)
    names = [one.name for one in columns]
    encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode

    def write(file: IO[bytes]) -> None:
        head = json.dumps(_about(answers), ensure_ascii=False, indent=1)
        file.write(f'{head[:-2]},\n "rows": ['.encode())
        rows = zip(*map(_json, columns), strict=True)
        between = ",\n  "
        gap = "\n  "
        while block := list(islice(rows, _ROWS_AT_ONCE)):
            lines = (encode(dict(zip(names, row, strict=True))) for row in block)
            file.write(f"{gap}{between.join(lines)}".encode())
            gap = between
        file.write(b"\n ]\n}\n")

    return write_table(path, write, overwrite=overwrite)


def _about(answers: "GroupedAnswers") -> dict[str, Any]:
    """Return what belongs to all of a table: exact ratios as texts."""
    receipt, privacy = answers.receipt, answers.privacy
    return {
        "title": answers.title,
        "by": list(answers.names),
        "confidence": "0.95",
        "confidence_of": confident_columns(answers.answers),
        "privacy": {"epsilon": format_ratio(privacy.epsilon), "delta": format_ratio(privacy.delta)},
        "recorded": None if receipt is None else {"key": receipt.key, "at": receipt.at},
    }


def _json(column: Column) -> Iterator[Any]:
    return (
        (one.isoformat() for one in column.values) if column.kind == DATE else iter(column.values)
    )


def _plain(column: Column) -> Iterator[Any]:
    """Go through a column as CSV has it: null is nothing, truth values as in JSON."""
    if column.kind == BOOLEAN:
        return ("true" if one else "false" for one in column.values)
    return iter(column.values)


def _library(name: str, what: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise Unsupported(
            f"{what} needs {name}, which is not installed. Install it: pip install {name}."
        ) from error


INTEGER, REAL, TEXT, BOOLEAN, DATE = "integer", "real", "text", "boolean", "date"
_KINDS: dict[type, str] = {int: INTEGER, str: TEXT, bool: BOOLEAN, date: DATE}
_SHORTEST, _LONGEST = 1 << 63, 10**38
