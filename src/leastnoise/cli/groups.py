"""Parse the groups of a table command from its options and from a file."""

import csv
import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import date, datetime
from typing import Any

from leastnoise.errors import InvalidParameter

_INTEGER = re.compile(r"[+-]?[0-9]{1,40}")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(_DATE.pattern + r"[ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?")
_BOOLEANS = {"true": True, "false": False}
# The form of a text for a column of each kind. Other kinds are rejected with their column.
_FORMATS = {
    "integer": "an integer, such as 42",
    "boolean": "true or false",
    "date": "a date, such as 2024-12-31",
    "timestamp": "a timestamp, such as '2024-12-31 18:30'",
}


def parse_groups(texts: Sequence[str], kinds: Sequence[str]) -> list[Any]:
    """Return groups as the library takes them: a value, or with several columns a tuple.

    No error quotes a text, because the file may be the wrong one and contain data.

    Args:
        texts: A text for each group; with several columns a line of CSV.
        kinds: The kind of each column.
    """
    if len(kinds) <= 1:
        return [_parse_part(text, kind) for text in texts for kind in kinds or ["text"]]
    return [
        tuple(_parse_part(text, kind) for text, kind in zip(parts, kinds, strict=True))
        for parts in (_split_parts(text, len(kinds)) for text in texts)
    ]


def read_lines(file: str) -> list[str]:
    """Return the lines of a file; reject an empty line, which would be a group without a name."""
    try:
        with open(file, encoding="utf-8-sig") as opened:
            lines = opened.read().removesuffix("\n").split("\n")
    except (OSError, ValueError):
        raise InvalidParameter(
            "--groups-file cannot be read: it must be a file in UTF-8, with a group on each line",
            fix="Check its name, its encoding and its permissions.",
        ) from None
    if not all(lines):
        raise InvalidParameter(
            "Every line of --groups-file must name a group",
            got="an empty line",
            fix="Remove it, or give the empty string by --group ''.",
        )
    return lines


def _split_parts(text: str, columns: int) -> list[str]:
    try:
        parts = next(csv.reader([text], strict=True), [])
    except csv.Error:
        parts = []
    if len(parts) != columns:
        raise InvalidParameter(
            f"A group must have {columns} values separated by commas, one for each --by",
            got="another number of values",
            fix='Quote values that contain commas: north,"a, b".',
        )
    return parts


def _parse_part(text: str, kind: str) -> Any:
    """Parse a text by the kind of its column."""
    if kind == "integer" and _INTEGER.fullmatch(text):
        return int(text)
    if kind == "boolean" and text.lower() in _BOOLEANS:
        return _BOOLEANS[text.lower()]
    if kind == "date" and _DATE.fullmatch(text):
        with suppress(ValueError):  # the 30th of February
            return date.fromisoformat(text)
    if kind == "timestamp" and _TIME.fullmatch(text):
        with suppress(ValueError):
            return datetime.fromisoformat(text)
    if kind in _FORMATS:
        raise InvalidParameter(
            f"A group by a column of kind {kind} must be {_FORMATS[kind]}",
            got="another text",
            fix="Write it that way.",
        )
    return text
