"""Ledgers on disk, and what spends from them, for the tests of ledgers."""

import os
import shutil
import sqlite3
import tempfile
import traceback
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Literal

import leastnoise
from leastnoise.ledger import Spending
from leastnoise.ledger.rows import compute_digest
from leastnoise.mechanism.factory import calibrate
from leastnoise.mechanism.mechanism import Mechanism

ln: Any = leastnoise  # wrong types are given on purpose
Privacy = ln.Privacy
PRICE = leastnoise.Privacy(epsilon="0.1")

# So wide that two draws are the same with a probability below 10⁻¹⁵.
WIDTH = 10**15
FILES = ("", "-wal", "-shm")
MEMORY = Path("/dev/shm")  # where a file is in memory, on Linux


@cache
def mechanism(epsilon: Any = "0.1", delta: Any = 0, width: int = WIDTH) -> Any:
    """Return a mechanism that spends this and whose answers are never twice the same."""
    return ln.calibrate(Privacy(epsilon, delta), sensitivity=width, integer=True, solve=False)


@cache
def counting() -> Mechanism:
    """Noise for integers at PRICE: cheap to calibrate and to draw."""
    return calibrate(PRICE, sensitivity=1, integer=True)


def described(**facts: Any) -> dict[str, Any]:
    """Return a short description of a mechanism by its digest, as a ledger accepts it."""
    mechanism = {"privacy": {}, "drawn": {}, "sensitivity": "1", "integer": True, **facts}
    return {compute_digest(mechanism): mechanism}


@cache
def line(epsilon: Any = "0.1") -> Any:
    """Return a mechanism for real numbers."""
    return ln.calibrate(Privacy(epsilon), sensitivity=1, solve=False)


def quick_folder() -> tempfile.TemporaryDirectory[str]:
    """Return a folder where a commit costs little, if there is one."""
    return tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None)


def copied(source: Path, target: Path) -> Path:
    """Copy a ledger as it is on disk."""
    for end in FILES:
        Path(f"{target}{end}").unlink(missing_ok=True)
        if Path(f"{source}{end}").exists():
            shutil.copyfile(f"{source}{end}", f"{target}{end}")
    return target


class Editor(sqlite3.Connection):
    """Edits a ledger by hand: the triggers that stand in the way are away until it commits."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        find = "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"
        self._triggers = super().execute(find).fetchall()
        for name, _ in self._triggers:
            super().execute(f"DROP TRIGGER {name}")

    def commit(self) -> None:
        while self._triggers:
            with suppress(sqlite3.OperationalError):  # the table may be gone
                super().execute(self._triggers.pop()[1])
        super().commit()

    def __exit__(self, error: Any, *rest: Any) -> Literal[False]:
        """End a ``with`` block by this class's own commit, which SQLite's would not call."""
        if error is None:
            self.commit()
        return super().__exit__(error, *rest)

    def close(self) -> None:
        with suppress(sqlite3.ProgrammingError):  # closed already
            self.commit()
        super().close()


def edit(path: Any, *statements: str) -> None:
    """Edit a ledger by hand, so that its schema is as it was."""
    connection = sqlite3.connect(path, factory=Editor)
    for statement in statements:
        connection.execute(statement)
    connection.close()


def charged(ledger: Any, epsilon: Any, delta: Any = 0, key: str | None = None) -> Any:
    """Charge without releasing anything."""
    return ledger.charge(Spending(Privacy(epsilon, delta), described(), {}), key)


def kinds(ledger: Any) -> list[str]:
    """Return what happened, row by row."""
    return [row.kind for row in ledger.rows()]


def child(work: Callable[[Callable[[bytes], object]], object]) -> tuple[int, Callable[[], bytes]]:
    """Begin to do something in a forked process; return it, and what waits for it and its words.

    It is given what says words. Its last is a dot, if it came to its end.
    """
    reader, writer = os.pipe()
    process = os.fork()
    if not process:
        try:
            os.close(reader)
            work(lambda words: os.write(writer, words))
            os.write(writer, b".")
        except BaseException:  # noqa: BLE001 -- it must end here, and say why
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(writer)

    def end() -> bytes:
        words = b""
        while more := os.read(reader, 1 << 16):
            words += more
        os.close(reader)
        os.waitpid(process, 0)
        return words

    return process, end
