"""Read the TOML or JSON files of ``leastnoise plan`` and ``leastnoise compose``.

A file has a list of entries, and fields of its own beside it. Every error names the file and the
field; in a TOML file also the line.
"""

import json
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from leastnoise.core.exact import quote
from leastnoise.errors import InvalidParameter
from leastnoise.suggestions import find_nearest, find_nearest_file

_LARGEST = 1 << 20
_SUFFIXES = (".toml", ".json")
_LINE = re.compile(r"line (\d+)")


@dataclass(frozen=True)
class Entry:
    """A table of a file: the file itself, or one of its entries.

    Attributes:
        name: The name of the file.
        text: The text of the file, if it is TOML; otherwise empty.
        place: The name of the list and the number of the entry, from 0; empty for the file itself.
        fields: The values by name.
    """

    name: str
    text: str
    place: tuple[str, int] | tuple[()]
    fields: Mapping[str, Any]

    def error(self, problem: str, field: str = "", *, got: str = "", fix: str) -> InvalidParameter:
        """Return an error about a field, or about the entry."""
        path: tuple[str | int, ...] = (*self.place, *([field] if field in self.fields else []))
        where = [self.name]
        if self.text and path:
            from leastnoise.tables import find_lines  # only where there is an error

            line = find_lines(self.text).get(path)
            where += [f"line {line}"] if line else []
        if self.place:
            kind, number = self.place
            where.append(f"{kind[:-1]} {number + 1}")
        return InvalidParameter(f"{', '.join(where)}: {problem}", got=got, fix=fix)

    def check_names(self, known: Iterable[str]) -> None:
        """Reject fields of other names, with the nearest spelling."""
        listed = list(known)
        for name in self.fields:
            if name not in listed:
                near = find_nearest(name, listed)
                fix = f"Did you mean {near}?" if near else f"Use {', '.join(listed)}."
                raise self.error(f"There is no field {quote(name)} here", name, fix=fix)

    def restate(self, error: InvalidParameter) -> InvalidParameter:
        """Return an error of the library with the place of the field that it names first."""
        named = (name for name in self.fields if error.problem.startswith(f"{name} "))
        field = next(named, "")
        return self.error(error.problem, field, got=error.got, fix="Correct the file.")

    def flag(self, name: str) -> bool:
        """Return a field that is true or false. Default: false."""
        value = self.fields.get(name, False)
        if isinstance(value, bool):
            return value
        raise self.error(
            f"{name} must be true or false", name, got=quote(value), fix=f"Write {name} = true."
        )

    def number(self, name: str) -> Any:
        """Return a field that is a number or the text of one; None if it is missing."""
        value = self.fields.get(name)
        if value is None or (isinstance(value, int | Decimal | str) and type(value) is not bool):
            return value
        raise self.error(f"{name} must be a number", name, got=quote(value), fix="Write a number.")

    def word(self, name: str) -> str | None:
        """Return a field that is a text; None if it is missing."""
        value = self.fields.get(name)
        if value is None or isinstance(value, str):
            return value
        raise self.error(
            f"{name} must be a text in quotes", name, got=quote(value), fix="Put it in quotes."
        )


def read_entries(path: str, kind: str, own: Iterable[str]) -> tuple[Entry, list[Entry]]:
    """Return a file and the entries of its list.

    Args:
        path: The path of the file.
        kind: The name of the list.
        own: The names of the fields beside the list.

    Raises:
        InvalidParameter: If the file cannot be read, or has no such list.
    """
    name = os.path.basename(path)
    text = _read_text(path, name)
    is_json = name.lower().endswith(".json")
    data = _parse_json(text, name) if is_json else _parse_toml(text, name)
    toml = "" if is_json else text
    whole = Entry(name, toml, (), data if isinstance(data, dict) else {})
    whole.check_names((*own, kind))
    entries = whole.fields.get(kind)
    if not isinstance(entries, list) or not entries:
        raise whole.error(
            f"{kind} must be a list of at least one entry",
            kind,
            got="none" if entries is None else "something else",
            fix=f'Write {{"{kind}": [{{…}}]}}.'
            if is_json
            else f"Write [[{kind}]] in TOML before each entry.",
        )
    found = []
    for number, fields in enumerate(entries):
        entry = Entry(name, toml, (kind, number), fields if isinstance(fields, dict) else {})
        if not isinstance(fields, dict):
            raise entry.error("This must be a table of fields", fix="Write name = value.")
        found.append(entry)
    return whole, found


def _read_text(path: str, name: str) -> str:
    try:
        with open(path, "rb") as file:
            content = file.read(_LARGEST + 1)
        if len(content) > _LARGEST:
            raise InvalidParameter(f"{name} is longer than 1 MiB", fix="Check the path.")
        return content.decode().replace("\r\n", "\n")
    except OSError as error:
        near = find_nearest_file(Path(path), _SUFFIXES)
        raise InvalidParameter(
            f"The file {quote(path)} cannot be read: {error.strerror}",
            fix=f"Did you mean {near}?" if near else "Check the path.",
        ) from None
    except UnicodeDecodeError:
        raise InvalidParameter(f"{name} is not text in UTF-8", fix="Check the path.") from None


def _parse_toml(text: str, name: str) -> Any:
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except (ValueError, ArithmeticError, RecursionError) as error:
        raise _syntax_error(name, str(error)) from None


def _parse_json(text: str, name: str) -> Any:
    def reject_repeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [key for key, _ in pairs]
        repeated = sorted({key for key in names if names.count(key) > 1})
        if repeated:
            raise ValueError(f"The field {quote(repeated[0])} is there twice")
        return dict(pairs)

    def reject_word(word: str) -> Any:
        raise ValueError(f"{word} is no number of JSON")

    try:
        return json.loads(
            text,
            parse_float=Decimal,
            parse_constant=reject_word,
            object_pairs_hook=reject_repeated,
        )
    except (ValueError, ArithmeticError, RecursionError) as error:
        raise _syntax_error(name, str(error)) from None


def _syntax_error(name: str, reason: str) -> InvalidParameter:
    place = _LINE.search(reason)
    where = f"{name}, line {place[1]}" if place else name
    words = re.sub(r" \(at [^)]*\)|: line \d+.*", "", reason)
    return InvalidParameter(f"{where}: {words}", fix="Correct the file.")
