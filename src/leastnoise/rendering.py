"""Show things to people: tables of plain cells as text and HTML, and a line of progress."""

import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape

# A line of the header, then one for each row.
Cells = Sequence[Sequence[str]]

_WIDTH = 88


def table(title: str, rows: Mapping[str, str]) -> str:
    """Return a small HTML table with a title; everything in it is escaped."""
    lines = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th><td>{escape(text)}</td></tr>"
        for name, text in rows.items()
    )
    return f"<table><caption><code>{escape(title)}</code></caption>{lines}</table>"


def as_text(
    title: str, tables: Iterable[Cells], notes: Iterable[str], *, left: Sequence[int]
) -> str:
    """Return a title, aligned tables and notes; the columns ``left`` are aligned to the left."""
    parts = wrapped(title)
    for cells in tables:
        parts += ["", *aligned(cells, left)]
    return "\n".join([*parts, "", *(line for note in notes for line in wrapped(note))])


def aligned(cells: Cells, left: Sequence[int], measure: Callable[[str], int] = len) -> list[str]:
    """Return the lines of a table, all columns but ``left`` aligned to the right.

    ``measure`` returns how many terminal columns a text takes.
    """
    columns = range(len(cells[0]))
    widths = [max(measure(line[i]) for line in cells) for i in columns]
    to_left = {columns[i] for i in left}
    lines = []
    for line in cells:
        blanks = [" " * (widths[i] - measure(line[i])) for i in columns]
        padded = [line[i] + blanks[i] if i in to_left else blanks[i] + line[i] for i in columns]
        lines.append("  ".join(padded).rstrip())
    return lines


def wrapped(text: str) -> list[str]:
    """Return the lines of a paragraph, indented after the first."""
    return textwrap.wrap(text, _WIDTH, subsequent_indent="    ", break_long_words=False)


def html_table(cells: Cells, caption: str, meanings: Mapping[str, str] | None = None) -> str:
    """Return a table as HTML, with the meaning of each column if there are any."""
    names = {
        name: "" if meanings is None else f" title='{escape(meanings[name])}'" for name in cells[0]
    }
    head = "".join(f"<th{title}>{escape(name)}</th>" for name, title in names.items())
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in line) + "</tr>"
        for line in cells[1:]
    )
    return f"<table><caption>{escape(caption)}</caption><tr>{head}</tr>{body}</table>"


def html_notes(notes: Iterable[str], last: str) -> str:
    """Return notes, a line each, and a last paragraph as HTML."""
    return "".join(f"<div>{escape(note)}</div>" for note in notes) + f"<p>{escape(last)}</p>"


_PATIENCE = 2.0


class Progress:
    """Reports on a terminal's error stream what is being done, once it takes long."""

    def __enter__(self) -> "Progress":
        self._begun = time.monotonic()
        self._width = 0
        return self

    def __call__(self, doing: str) -> None:
        """Report what is being done now."""
        passed = time.monotonic() - self._begun
        if passed > _PATIENCE and sys.stderr is not None and sys.stderr.isatty():
            line = f"leastnoise: {doing}, {passed:.0f} s"
            sys.stderr.write("\r" + line.ljust(self._width))
            sys.stderr.flush()
            self._width = len(line)

    def __exit__(self, *_: object) -> None:
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()
