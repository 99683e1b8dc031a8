"""The groups that are given on the command line, or in a file: texts, read as their columns are."""

import csv
import re
from collections.abc import Sequence
from datetime import date
from typing import Any

from leastnoise.errors import InvalidParameter

_WHOLE = re.compile(r"[+-]?[0-9]{1,40}")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TRUTHS = {"true": True, "false": False}
# What a text must be for a column of each kind; other kinds are refused with their column.
_WRITTEN = {
    "integer": "a whole number, such as 42",
    "boolean": "true or false",
    "date": "a date, such as 2024-12-31",
}


def given_texts(groups: Sequence[str], file: str | None) -> list[str] | None:
    """Return the groups that are given, as texts; None if none are, and are to be discovered."""
    if not groups and file is None:
        return None
    return [*groups, *([] if file is None else _lines(file))]


def groups_read(texts: Sequence[str], kinds: Sequence[str]) -> list[Any]:
    """Return groups as the library has them: a value, or with several columns a tuple.

    No message repeats a text: the file that they are in might be the wrong one, of data.

    Args:
        texts: A text for each group; with several columns a line of CSV.
        kinds: The kind of each column.
    """
    if len(kinds) <= 1:
        return [_part(text, kind) for text in texts for kind in kinds or ["text"]]
    return [
        tuple(_part(text, kind) for text, kind in zip(parts, kinds, strict=True))
        for parts in (_parts(text, len(kinds)) for text in texts)
    ]


def _lines(file: str) -> list[str]:
    """Return the lines of a file; an empty one would be a group without a name."""
    try:
        with open(file, encoding="utf-8-sig") as opened:
            lines = opened.read().removesuffix("\n").split("\n")
    except (OSError, ValueError):
        raise InvalidParameter(
            "--groups-file must be a file in UTF-8 that can be read, with a group on each line; "
            "got another. Look at its name, and at the rights to it."
        ) from None
    if not all(lines):
        raise InvalidParameter(
            "every line of --groups-file must name a group; got one that is empty. Take it out, or "
            "give the empty text by --group ''."
        )
    return lines


def _parts(text: str, columns: int) -> list[str]:
    try:
        parts = next(csv.reader([text], strict=True), [])
    except csv.Error:
        parts = []
    if len(parts) != columns:
        raise InvalidParameter(
            f"a group must have a value for each --by, {columns} of them, parted by commas and in "
            'double quotes where they have some; got another. Write for instance north,"a, b".'
        )
    return parts


def _part(text: str, kind: str) -> Any:
    """Read a text as a column of this kind has it."""
    if kind == "integer" and _WHOLE.fullmatch(text):
        return int(text)
    if kind == "boolean" and text.lower() in _TRUTHS:
        return _TRUTHS[text.lower()]
    if kind == "date" and _DATE.fullmatch(text):
        try:
            return date.fromisoformat(text)
        except ValueError:  # the 30th of February
            pass
    if kind in _WRITTEN:
        raise InvalidParameter(
            f"a group by a column of kind {kind} must be {_WRITTEN[kind]}; got another text. "
            "Write it that way."
        )
    return text
