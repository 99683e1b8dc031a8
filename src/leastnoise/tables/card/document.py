"""Read a card as TOML, with the line of each field for errors."""

import hashlib
import json
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeVar

from leastnoise.core.exact import format_ratio, quote
from leastnoise.errors import InvalidParameter
from leastnoise.tables.card.lines import Path, find_lines

T = TypeVar("T")

_LARGEST = 1 << 20  # bytes of a card
# Python's errors about TOML have the line in their message only, up to Python 3.13.
_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


@dataclass(frozen=True, repr=False)
class Document:
    """A TOML document.

    Attributes:
        path: The path of its file.
        text: Its text.
        data: Its content.
    """

    path: str
    text: str
    data: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The name of its file, for errors."""
        return os.path.basename(self.path)

    @cached_property
    def lines(self) -> dict[Path, int]:
        """The line of each key."""
        return find_lines(self.text)

    def where(self, *path: str | int) -> str:
        """Return the file and the line of a key, or of the nearest key around it."""
        while path and path not in self.lines:
            path = path[:-1]
        return f"{self.name}, line {self.lines[path]}" if path else self.name

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the content in a canonical form.

        Comments, blanks, the order of fields and the spelling of numbers do not change it.
        """
        words = json.dumps(_canonical(self.data), ensure_ascii=False, sort_keys=True)
        return hashlib.sha256(words.encode()).hexdigest()


def read_document(path: str | os.PathLike[str]) -> Document:
    """Return the document in a file.

    Raises:
        InvalidParameter: If the file cannot be read, or is not TOML.
    """
    file = os.fspath(path)
    name = os.path.basename(file)
    try:
        with open(file, "rb") as opened:
            content = opened.read(_LARGEST + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no path"
        raise InvalidParameter(
            f"The card {quote(name)} cannot be read: {reason}",
            fix="Check its path, or write one with leastnoise card new SOURCE.",
        ) from None
    if len(content) > _LARGEST:
        raise InvalidParameter(
            f"The card {quote(name)} is longer than 1 MiB", fix="Check that it is a card."
        )
    try:
        text = content.decode().replace("\r\n", "\n")
        data = tomllib.loads(text, parse_float=Decimal)
    except UnicodeDecodeError:
        raise InvalidParameter(
            f"The card {quote(name)} is not text in UTF-8", fix="Check that it is a card."
        ) from None
    except (ValueError, ArithmeticError, RecursionError) as error:  # also numbers too long to read
        raise _syntax_error(name, error) from None
    return Document(file, text, data)


def _syntax_error(name: str, error: Exception) -> InvalidParameter:
    """Return the error for a card that is not TOML; a key that is defined twice is not."""
    if isinstance(error, RecursionError):
        return InvalidParameter(f"{name} is nested too deeply", fix="Check that it is a card.")
    place = _PLACE.search(str(error))
    where = f"{name}, line {place[1]}" if place and place[1] else name
    reason = str(error)[: place.start()] if place else str(error)
    if reason.startswith(("Cannot overwrite", "Cannot declare", "Cannot redefine", "Duplicate")):
        reason = f"This field or table is defined twice ({reason})"
    fix = "Correct this line of the card."
    if reason.startswith("Expected ']'"):
        fix += ' A name with other letters, blanks or signs is in quotes: [columns."first name"].'
    return InvalidParameter(f"{where}: {reason}", fix=fix)


def _canonical(part: Any) -> Any:
    """Return a part of a document as JSON that is equal for equal content."""
    if isinstance(part, dict):
        return {key: _canonical(value) for key, value in part.items()}
    if isinstance(part, list):
        return [_canonical(value) for value in part]
    if isinstance(part, int | Decimal) and not isinstance(part, bool):
        finite = isinstance(part, int) or part.is_finite()
        return {"number": format_ratio(Fraction(part)) if finite else str(part)}
    if not isinstance(part, str | bool):
        return {"time": part.isoformat()}
    return part


class Fields:
    """The fields of a table of a card: each is read once, and no other may be there."""

    def __init__(self, document: Document, path: Path = ()) -> None:
        """Find the table; one that is missing has no fields."""
        self.document, self.path = document, path
        self._data: Any = document.data
        for part in path:
            self._data = self._data.get(str(part), {})
        if not isinstance(self._data, dict):
            raise self.error("This must be a table", got=quote(self._data))

    def __contains__(self, name: str) -> bool:
        return name in self._data

    @property
    def names(self) -> list[str]:
        """The names of the fields that are there."""
        return list(self._data)

    def error(
        self, problem: str, *more: str, got: str = "", fix: str = "Correct the card."
    ) -> InvalidParameter:
        """Return an error with the line of the table, or of a field in it."""
        return InvalidParameter(
            f"{self.document.where(*self.path, *more)}: {problem}", got=got, fix=fix
        )

    def check_names(self, known: Iterable[str]) -> None:
        """Reject fields of other names."""
        listed = list(known)
        for name in self._data:
            if name not in listed:
                near = get_close_matches(name, listed, n=1, cutoff=0.6)
                fix = f"Did you mean {near[0]}?" if near else f"Use {', '.join(listed)}."
                raise self.error(f"A card has no field {quote(name)} here", name, fix=fix)

    def table(self, name: str) -> "Fields":
        """Return the fields of a table in this one."""
        return Fields(self.document, (*self.path, name))

    def read(self, name: str, parse: Callable[[Any], T], fix: str) -> T | None:
        """Return a parsed field, or None if it is missing; an error has its line and this fix."""
        if name not in self._data:
            return None
        try:
            return parse(self._data[name])
        except InvalidParameter as error:
            raise self.error(error.problem, name, got=error.got, fix=fix) from None

    def text(self, name: str, example: str) -> str | None:
        """Return a field that is a string, not empty and printable."""
        return self.read(name, lambda value: _parse_text(value, name), f"Write {name} = {example}.")

    def flag(self, name: str) -> bool | None:
        """Return a field that is true or false."""
        return self.read(name, lambda value: _parse_flag(value, name), f"Write {name} = true.")


def reject(problem: str, got: str = "") -> InvalidParameter:
    """Return the error for a value. :meth:`Fields.read` adds the line and what to write."""
    return InvalidParameter(problem, got=got, fix="Correct the card.")


def _parse_text(value: object, name: str) -> str:
    if isinstance(value, str) and value and value.isprintable():
        return value
    raise reject(f"{name} must be a string of printable characters", quote(value))


def _parse_flag(value: object, name: str) -> bool:
    if isinstance(value, bool):
        return value
    raise reject(f"{name} must be true or false", quote(value))
