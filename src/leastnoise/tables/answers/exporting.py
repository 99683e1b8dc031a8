"""Tables of answers for other programs: Arrow, pandas, polars, CSV, Parquet, JSON.

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
from collections.abc import Iterator
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from leastnoise.errors import InvalidParameter, Unsupported
from leastnoise.exact import ratio
from leastnoise.tables.answers.exported import (
    BOOLEAN,
    DATE,
    INTEGER,
    REAL,
    TEXT,
    Column,
    exported,
    key_names,
)
from leastnoise.tables.answers.figures import confident_columns
from leastnoise.tables.answers.writing import written

if TYPE_CHECKING:
    from leastnoise.tables.answers.grouped import GroupedAnswers

__all__ = ["key_names", "to_arrow", "to_csv", "to_json", "to_pandas", "to_parquet", "to_polars"]

# With what a spreadsheet takes a cell for a formula.
_FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n")
_ROWS_AT_ONCE = 10_000


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
                "spreadsheets run as formulas; got one that does. Write Parquet or JSON; or give "
                "formulas=True, and tell who reads the file."
            )

    def write(file: IO[bytes]) -> None:
        lines = io.TextIOWrapper(file, encoding="utf-8", newline="")
        writer = csv.writer(lines)  # ends lines with \r\n (RFC 4180): so it quotes both in texts
        writer.writerow(texts)
        writer.writerows(zip(*map(_plain, columns), strict=True))
        lines.detach()

    return written(path, write, overwrite=overwrite)


def to_parquet(answers: "GroupedAnswers", path: str | Path, *, overwrite: bool = False) -> Path:
    """Write a Parquet file: the table of :func:`to_arrow`, its metadata included.

    Args:
        answers: The table.
        path: Where to write.
        overwrite: Whether to write over a file that is there.
    """
    table = to_arrow(answers)
    parquet = import_module("pyarrow.parquet")
    return written(path, lambda file: parquet.write_table(table, file), overwrite=overwrite)


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

    return written(path, write, overwrite=overwrite)


def _about(answers: "GroupedAnswers") -> dict[str, Any]:
    """Return what belongs to all of a table: exact ratios as texts."""
    receipt, privacy = answers.receipt, answers.privacy
    return {
        "title": answers.title,
        "by": list(answers.names),
        "confidence": "0.95",
        "confidence_of": confident_columns(answers.answers),
        "privacy": {"epsilon": ratio(privacy.epsilon), "delta": ratio(privacy.delta)},
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
