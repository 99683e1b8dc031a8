"""Show things to people: small HTML tables of plain cells, and a line of progress."""

import sys
import time
from collections.abc import Mapping
from html import escape
from types import TracebackType


def table(title: str, rows: Mapping[str, str]) -> str:
    """Return a small HTML table with a title; everything in it is escaped."""
    lines = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th><td>{escape(text)}</td></tr>"
        for name, text in rows.items()
    )
    return f"<table><caption><code>{escape(title)}</code></caption>{lines}</table>"


_PATIENCE = 2.0


class Progress:
    """Says on the error stream what is being done, once it takes long, and only on a terminal."""

    def __enter__(self) -> "Progress":
        """Note when it began."""
        self._begun = time.monotonic()
        self._width = 0
        return self

    def __call__(self, doing: str) -> None:
        """Say what is being done now."""
        passed = time.monotonic() - self._begun
        if passed > _PATIENCE and sys.stderr is not None and sys.stderr.isatty():
            line = f"leastnoise: {doing}, {passed:.0f} s"
            sys.stderr.write("\r" + line.ljust(self._width))
            sys.stderr.flush()
            self._width = len(line)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Wipe the line."""
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()
