"""Tables of answers for other programs: Arrow, pandas, polars, CSV, Parquet and JSON.

The columns are the group keys, then the figures of the answers (their layout): for counts and sums
``value``, ``low`` and ``high`` (95%) and ``max_error`` (null if infinite). The last two
columns are the same in every row, because a CSV file has no other place for them: ``quantity``
states what the figures are about, and ``reused`` is the day of a stored answer that was returned,
null for a new one. A key column whose name is also that of another column is renamed: ``value``
becomes ``value_key``.

Integers stay exact: in 64 bits if all of a column fit, else as decimals of 38 digits (Arrow,
Parquet), 128-bit integers (polars) or Python integers (pandas). Reals are the nearest floats. Ends
of intervals are rounded outward, and bounds up by as much as the value was rounded, so that both
hold for the numbers in the file. The libraries are loaded on first use.
"""

import csv
import io
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from importlib import import_module
from itertools import islice
from operator import floordiv
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from leastnoise.core.exact import format_ratio
from leastnoise.core.privacy import Privacy
from leastnoise.errors import InvalidParameter, Unsupported, Words
from leastnoise.files import write_table
from leastnoise.rendering import printable
from leastnoise.tables.answers.layout import Figure, layout_of
from leastnoise.tables.rounding import USE_ROWS

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from leastnoise.tables.answers.grouped import GroupedAnswers

INTEGER, REAL, TEXT, BOOLEAN, DATE = _ORDER = "integer", "real", "text", "boolean", "date"
_KINDS: dict[type, str] = {int: INTEGER, str: TEXT, bool: BOOLEAN, date: DATE}
_SHORTEST, _LONGEST = 1 << 63, 10**38
# A spreadsheet takes a text that begins with one of these for a formula.
_FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n")
_ROWS_AT_ONCE = 10_000
# The columns that are the same in every row.
CONSTANTS = ("quantity", "reused")


@dataclass(frozen=True, slots=True)
class Column:
    """An exported column.

    Attributes:
        name: Its name.
        kind: INTEGER, REAL, TEXT, BOOLEAN or DATE.
        values: Its values; None for null.
        long: Whether an integer does not fit into 64 bits.
    """

    name: str
    kind: str
    values: list[Any]
    long: bool = False


def export_columns(answers: "GroupedAnswers[Any]") -> list[Column]:
    """Return the columns of a table.

    Raises:
        Unsupported: If a number is too long for the types that other programs have.
    """
    layout = layout_of(answers.answers)
    names = key_names(answers.names, (*layout.names, *CONSTANTS))
    columns = [_key(name, [key[i] for key in answers.keys]) for i, name in enumerate(names)]
    whole = layout.whole(answers.answers)
    numbers = [floordiv if one.name in whole else one.to_float for one in layout.columns]
    lists: list[list[Any]] = [[] for _ in layout.columns]
    rows = layout.figures(answers.answers)
    while block := list(islice(rows, _ROWS_AT_ONCE)):  # all at once, their ratios would take a GB
        for i, (values, number) in enumerate(zip(lists, numbers, strict=True)):
            column = (row[i] for row in block)
            values += [None if figure is None else number(*figure) for figure in column]
    columns += [
        _integers(one.name, values) if one.name in whole else _reals(one, values, lists[0])
        for one, values in zip(layout.columns, lists, strict=True)
    ]
    kinds = zip(CONSTANTS, (TEXT, DATE), constants(answers), strict=True)
    return columns + [Column(name, kind, [one] * len(answers)) for name, kind, one in kinds]


def constants(answers: "GroupedAnswers[Any]") -> tuple[str, date | None]:
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
            "exported integers must have at most 38 digits",
            got="one that has more",
            fix=USE_ROWS,
        )
    return Column(name, INTEGER, values, long=least < -_SHORTEST or most >= _SHORTEST)


def _reals(figure: Figure, numbers: list[Any], values: list[float]) -> Column:
    """Return a column of floats; an error of the values by half an ulp of the largest more."""
    if figure.widened:
        off = math.ulp(max(map(abs, values), default=0.0)) / 2
        numbers = [one if one is None else math.nextafter(one + off, math.inf) for one in numbers]
    return Column(figure.name, REAL, numbers)


def _typed(answers: "GroupedAnswers[Any]", *types: Any, long: Any) -> list[tuple[Column, Any]]:
    own = dict(zip(_ORDER, types, strict=True))
    return [(one, long if one.long else own[one.kind]) for one in export_columns(answers)]


def to_arrow(answers: "GroupedAnswers[Any]") -> "pyarrow.Table":
    """Return an Arrow table; its metadata ``leastnoise`` has subject and guarantee as JSON."""
    arrow = _library("pyarrow", "a table of Arrow")
    types = arrow.int64(), arrow.float64(), arrow.string(), arrow.bool_(), arrow.date32()
    columns = _typed(answers, *types, long=arrow.decimal128(38, 0))
    about = json.dumps(_about(answers), ensure_ascii=False)
    fields = [(one.name, kind) for one, kind in columns]
    return arrow.table(
        [arrow.array(one.values, type=kind) for one, kind in columns],
        schema=arrow.schema(fields, metadata={"leastnoise": about}),
    )


def to_pandas(answers: "GroupedAnswers[Any]") -> "pandas.DataFrame":
    """Return a pandas frame; dates become datetimes, because pandas has no type for them."""
    library = _library("pandas", "a frame of pandas")
    types = "int64", "float64", "str", "bool", "datetime64[s]"
    frame = {}
    for one, kind in _typed(answers, *types, long="object"):
        nullable = "Int64" if kind == "int64" and None in one.values else kind
        frame[one.name] = library.Series(one.values, dtype=nullable)
    return library.DataFrame(frame)


def to_polars(answers: "GroupedAnswers[Any]") -> "polars.DataFrame":
    """Return a polars frame."""
    library = _library("polars", "a frame of polars")
    types = library.Int64, library.Float64, library.String, library.Boolean, library.Date
    columns = _typed(answers, *types, long=library.Int128)
    frame: polars.DataFrame = library.DataFrame(
        [library.Series(one.name, one.values, dtype=kind) for one, kind in columns]
    )
    return frame


def to_csv(
    answers: "GroupedAnswers[Any]",
    path: str | Path,
    *,
    overwrite: bool = False,
    formulas: bool = False,
) -> Path:
    """Write a CSV file in UTF-8: a header, a line for each group, dates as 2024-12-31.

    A spreadsheet takes a text that begins with = + - @ for a formula and runs it. Keys can come
    from the data, so such texts are rejected, and never changed; with ``formulas`` they are written
    unchanged. An existing file is written over only with ``overwrite``.
    """
    columns = export_columns(answers)
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


def to_parquet(
    answers: "GroupedAnswers[Any]", path: str | Path, *, overwrite: bool = False
) -> Path:
    """Write a Parquet file: the table of :func:`to_arrow` with its metadata."""
    table = to_arrow(answers)
    parquet = import_module("pyarrow.parquet")
    return write_table(path, lambda file: parquet.write_table(table, file), overwrite=overwrite)


def to_json(answers: "GroupedAnswers[Any]", path: str | Path, *, overwrite: bool = False) -> Path:
    """Write a JSON file: subject, guarantee, and under ``rows`` an object for each group.

    Integers are written in full; programs that read all numbers as floats round them above 2⁵³.
    Dates are strings. What is the same in every row stands once, before ``rows``.
    """
    columns = [one for one in export_columns(answers) if one.name not in CONSTANTS]
    names = [one.name for one in columns]
    encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=date.isoformat)

    def write(file: IO[bytes]) -> None:
        head = json.dumps(_about(answers), ensure_ascii=False, indent=1)
        file.write(f'{head[:-2]},\n "rows": ['.encode())
        rows = zip(*(one.values for one in columns), strict=True)
        gap, between = "\n  ", ",\n  "
        while block := list(islice(rows, _ROWS_AT_ONCE)):
            lines = (encoder.encode(dict(zip(names, row, strict=True))) for row in block)
            file.write(f"{gap}{between.join(lines)}".encode())
            gap = between
        file.write(b"\n ]\n}\n")

    return write_table(path, write, overwrite=overwrite)


def _about(answers: "GroupedAnswers[Any]") -> dict[str, Any]:
    """Return what belongs to all of a table: the query and its guarantee, in exact ratios."""
    receipt = answers.receipt
    return {
        "title": answers.title,
        "by": list(answers.names),
        "confidence": "0.95",
        "confidence_of": [one.name for one in layout_of(answers.answers).columns if one.confident],
        "privacy": _privacy(answers.privacy),
        "total_privacy": _privacy(answers.total_privacy),
        "subject": answers.subject.to_dict(),
        "recorded": None if receipt is None else {"key": receipt.key, "at": receipt.at},
        "reused": receipt.at if receipt is not None and receipt.reused else None,
    }


def _privacy(privacy: Privacy) -> dict[str, str]:
    return {"epsilon": format_ratio(privacy.epsilon), "delta": format_ratio(privacy.delta)}


def _plain(column: Column) -> list[Any]:
    if column.kind == BOOLEAN:
        return ["true" if one else "false" for one in column.values]
    return column.values


def _library(name: str, what: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise Unsupported(
            f"{what} needs {name}, which is not installed", fix=f"Run: pip install {name}."
        ) from error
