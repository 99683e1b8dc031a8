"""Render results for people: facts, sentences and tables as text and HTML, and progress."""

import re
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from threading import Event, Lock, Thread
from typing import ClassVar

# The header, then one line for each row.
Cells = Sequence[Sequence[str]]

_WIDTH = 88
_SCREEN = 80
_NARROWEST = 20
_NO_BREAK = "\u00a0"
# Bounds, such as [0, 300000], and pairs, such as (ε, δ).
_RANGE = re.compile(r"\[[^\s\[\]]+, [^\s\[\]]+[\])]|\([^\s()]+, [^\s()]+\)")


# A label and its text.
Fact = tuple[str, str]


def table(title: str, rows: Mapping[str, str] | Sequence[Fact]) -> str:
    """Return an HTML table of labeled facts with a title; text is escaped."""
    facts = rows.items() if isinstance(rows, Mapping) else rows
    lines = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th><td>{escape(text)}</td></tr>"
        for name, text in facts
    )
    return f"<table><caption><code>{escape(title)}</code></caption>{lines}</table>"


def fact_lines(facts: Sequence[Fact], *, width: int = _SCREEN) -> list[str]:
    """Return a line for each fact, the label first, wrapped at 80 columns or another width.

    Continuation lines are indented to the text. No line ends within a formula such as ε = 1 or
    [0, 10].
    """
    indent = max((len(label) for label, _ in facts), default=0) + 2
    lines: list[str] = []
    for label, text in facts:
        lines += wrap(text, first=label.ljust(indent), further=" " * indent, width=width)
    return lines


def sentences(*texts: str) -> list[str]:
    """Return texts wrapped at 80 columns, with indented continuation lines."""
    return [line for text in texts for line in wrap(text, further="    ")]


def paragraph(*texts: str) -> str:
    """Return sentences as one paragraph, wrapped at 80 columns."""
    return "\n".join(wrap(" ".join(texts)))


def one_line(paragraph_: str) -> str:
    """Return the text of :func:`paragraph` without line breaks, as JSON has it."""
    return paragraph_.replace("\n", " ")


def terminal_width() -> int:
    """Return the width of lines: that of the terminal, at most 88; 80 without a terminal."""
    return max(_NARROWEST, min(_WIDTH, shutil.get_terminal_size((_SCREEN, 24)).columns))


def keep_together(text: str) -> str:
    """Return a text within which :func:`sentences` and :func:`fact_lines` break no line."""
    return text.replace(" ", _NO_BREAK)


def printable(text: str) -> str:
    """Escape unprintable characters, so that a name can neither break lines nor add colors."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in text
    )


def wrap(text: str, *, first: str = "", further: str = "", width: int = _SCREEN) -> list[str]:
    """Return the lines of a paragraph; no line ends within a formula such as ε = 1."""
    joined = _RANGE.sub(lambda match: keep_together(match[0]), text)
    filled = textwrap.wrap(
        re.sub(r"(?<=[=<>≤≥±≈]) | (?=[=<>≤≥±≈])", _NO_BREAK, joined),
        width,
        initial_indent=first,
        subsequent_indent=further,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(_NO_BREAK, " ") for line in filled]


def as_text(
    title: str, tables: Iterable[Cells], notes: Iterable[str], *, left: Sequence[int]
) -> str:
    """Return a title, aligned tables and notes as text; the columns ``left`` are left-aligned."""
    parts = wrap_note(title)
    for cells in tables:
        parts += ["", *align_columns(cells, left)]
    return "\n".join([*parts, "", *(line for note in notes for line in wrap_note(note))])


def report(title: Sequence[str], cells: Cells, facts: Sequence[Fact]) -> str:
    """Return a title, a table with its first column left-aligned, and labeled facts as text."""
    above = sentences(*title)
    return "\n".join([*above, "", *align_columns(cells, left=[0]), "", *fact_lines(facts)])


def html_report(
    title: Sequence[str], cells: Cells, facts: Sequence[Fact], meanings: Mapping[str, str]
) -> str:
    """Return the same report as :func:`report`, as HTML."""
    caption, *above = title
    lines = "".join(f"<div>{escape(text)}</div>" for text in above)
    notes = "".join(
        f"<tr><th style='text-align:left'>{escape(label)}</th><td>{escape(text)}</td></tr>"
        for label, text in facts
    )
    return f"{html_table(cells, caption, meanings)}{lines}<table>{notes}</table>"


def align_columns(
    cells: Cells, left: Sequence[int], measure: Callable[[str], int] = len
) -> list[str]:
    """Return the lines of a table, right-aligned except for the columns ``left``.

    ``measure`` returns the number of terminal columns of a text.
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


def wrap_note(text: str) -> list[str]:
    """Return the lines of a paragraph, indented after the first."""
    return wrap(text, further="    ")


def html_table(cells: Cells, caption: str, meanings: Mapping[str, str] | None = None) -> str:
    """Return a table as HTML, with the meanings of columns as tooltips if given."""
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
    """Return notes and a last paragraph as HTML."""
    return "".join(f"<div>{escape(note)}</div>" for note in notes) + f"<p>{escape(last)}</p>"


_PATIENCE = 2.0


class Progress:
    """Report progress while a block runs: once a second, after two seconds.

    It writes to the error stream of a terminal or of a notebook cell only, so that logs stay clean.
    The line is erased at the end, so the block must not print. An inner block reports on the line
    of the outer one, and restores its text at the end.
    """

    _outermost: "ClassVar[Progress | None]" = None

    def __init__(self, doing: str = "working", clock: Callable[[], float] = time.monotonic) -> None:
        self._doing, self._clock = doing, clock
        self._width, self._lock = 0, Lock()
        self._reporter: Thread | None = None

    def __enter__(self) -> "Progress":
        self._start, self._ended = self._clock(), Event()
        self._outer = Progress._outermost
        if self._outer is not None:
            self._before = self._outer._doing
            self._outer(self._doing)
            return self
        Progress._outermost = self
        if _is_watched():
            self._reporter = Thread(target=self._report, daemon=True)
            self._reporter.start()
        return self

    def __call__(self, doing: str) -> None:
        """Change the text of the line."""
        if self._outer is not None:
            self._outer(doing)
            return
        self._doing = doing
        if self._reporter is not None and self._clock() - self._start >= _PATIENCE:
            self._write_line()

    def __exit__(self, *_: object) -> None:
        if self._outer is not None:
            self._outer(self._before)
            return
        Progress._outermost = None
        self._ended.set()
        if self._reporter is not None:
            self._reporter.join()
        if self._width:
            _write("\r" + " " * self._width + "\r")

    def _report(self) -> None:
        wait = _PATIENCE
        while not self._ended.wait(wait):
            self._write_line()
            wait = 1.0

    def _write_line(self) -> None:
        with self._lock:
            line = f"leastnoise: {self._doing}, {self._clock() - self._start:.0f} s"
            _write("\r" + line.ljust(self._width))
            self._width = max(self._width, len(line))


def _is_watched() -> bool:
    """Return whether the error stream is a terminal or a notebook."""
    stream = sys.stderr
    if stream is None:
        return False
    return stream.isatty() or type(stream).__module__.startswith("ipykernel.")


def _write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
