"""The line of every key in a TOML document, which the parser of the standard library does not keep.

The scanner reads documents that the parser has accepted. It finds where keys and elements begin,
and leaves their values to the parser.
"""

import re
import tomllib
from collections.abc import Iterator

# A key, or the place of an element in an array.
Path = tuple[str | int, ...]

_BLANK = re.compile(r"[ \t]*")
_SPACE = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")  # with comments
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_STRING = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*""""{0,2}'
    r"|'''(?:[^']|'(?!''))*''''{0,2}"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'",
    re.DOTALL,
)
_SCALAR = re.compile(r"[^,\]}#\n]*")  # a number, a date or a boolean


def find_lines(text: str) -> dict[Path, int]:
    r"""Return the line of each key and of each element of an array, by its path.

    >>> find_lines("unit = 'person'\n[columns.income]\nbounds = [0, 9]")["columns", "income"]
    2
    """
    scanner = _Scanner(text)
    scanner.read_document()
    return scanner.lines


class _Scanner:
    """A place in a document, and the lines of what comes before it."""

    def __init__(self, text: str) -> None:
        self.lines: dict[Path, int] = {}
        self._text, self._at = text, 0
        self._counted, self._line = 0, 1

    def read_document(self) -> None:
        """Read tables and keys to the end."""
        table, tables = Path(), dict[Path, int]()
        while self._skip(_SPACE) and self._at < len(self._text):
            if self._text[self._at] != "[":
                self._read_pair(table)
                continue
            several = self._text.startswith("[[", self._at)
            self._at += 1 + several
            table = self._place(Path(self._read_key()), tables)
            if several:
                number = tables[table] = tables.get(table, -1) + 1
                self._note(table)
                table = (*table, number)
            self._note(table)
            self._at += 1 + several

    def _place(self, key: Path, tables: dict[Path, int]) -> Path:
        """Return the path of the table with a key: in an array of tables, the last one."""
        path = Path()
        for part in key[:-1]:
            path = (*path, part)
            self._note(path)
            if path in tables:
                path = (*path, tables[path])
        return (*path, key[-1])

    def _read_pair(self, table: Path) -> None:
        path = table
        for part in self._read_key():
            path = (*path, part)
            self._note(path)
        self._skip(_BLANK)
        self._at += 1  # the equals sign
        self._skip(_BLANK)
        self._read_value(path)

    def _read_key(self) -> Iterator[str]:
        """Yield the parts of a key, each at its place, up to what follows the key."""
        while True:
            self._skip(_BLANK)
            quoted = self._text[self._at] in "\"'"
            word = self._take(_STRING if quoted else _BARE)
            # Only the parser knows all escapes.
            yield tomllib.loads(f"key = {word}")["key"] if quoted else word
            self._skip(_BLANK)
            if not self._text.startswith(".", self._at):
                return
            self._at += 1

    def _read_value(self, path: Path) -> None:
        match self._text[self._at]:
            case "[":
                self._read_array(path)
            case "{":
                self._read_inline(path)
            case '"' | "'":
                self._take(_STRING)
            case _:
                self._take(_SCALAR)

    def _read_array(self, path: Path) -> None:
        number = 0
        self._at += 1
        while not self._ends("]"):
            element = (*path, number)
            self._note(element)
            self._read_value(element)
            number += 1

    def _read_inline(self, path: Path) -> None:
        self._at += 1
        while not self._ends("}"):
            self._read_pair(path)

    def _ends(self, sign: str) -> bool:
        """Skip a comma; return whether this sign ends the value."""
        self._skip(_SPACE)
        if self._text[self._at] == ",":
            self._at += 1
            self._skip(_SPACE)
        if self._text[self._at] != sign:
            return False
        self._at += 1
        return True

    def _skip(self, pattern: re.Pattern[str]) -> bool:
        self._take(pattern)
        return True

    def _take(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self._text, self._at)
        assert match is not None  # noqa: S101 -- for mypy: the parser has accepted the document
        self._at = match.end()
        return match[0]

    def _note(self, path: Path) -> None:
        """Note the line of a path, where it occurs first."""
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        self.lines.setdefault(path, self._line)
