"""What a command must not write over: a ledger, a witness, or the table that it reads."""

import os
from glob import glob
from pathlib import Path

from leastnoise.errors import InvalidParameter

# How every SQLite file begins, and what SQLite keeps beside one.
_SQLITE = b"SQLite format 3\0"
_BESIDE = ("", "-wal", "-shm", "-journal")
# Longer than a head, and the time that stands beside it in a witness.
_LINE = 200


def refuse_overwriting(out: str, *, ledger: str | None, witness: str | None) -> None:
    """Refuse to write over the ledger, what SQLite keeps beside it, its witness, or another's.

    What was spent cannot be written again. Before anything is opened or written.
    """
    from leastnoise.ledger.witness import is_head  # only where something is written

    target = Path(out)
    # SQLite follows a link before it puts its files beside the ledger.
    paths = () if ledger is None else (ledger, os.path.realpath(ledger))
    files = [Path(f"{path}{end}") for path in paths for end in _BESIDE]
    if witness is not None and not is_head(witness):
        files.append(Path(witness))
    if any(_same(target, file) for file in files):
        raise _kept("one of this ledger's own files")
    begins = _beginning(target)
    if begins.startswith(_SQLITE):
        raise _kept("a database of SQLite")
    if is_head(begins.decode("ascii", "replace").split(" ")[0]):
        raise _kept("a witness")


def refuse_overwriting_read(out: str, *read: str | None) -> None:
    """Refuse to write over a file that is read, also by a pattern."""
    files = [
        file for path in read if path is not None for file in (path, *glob(path, recursive=True))
    ]
    if any(_same(Path(out), Path(file)) for file in files):
        raise InvalidParameter(
            "--out must not write over what is read; got the name of a file that is. Choose "
            "another name."
        )


def _beginning(path: Path) -> bytes:
    """Return how a file begins; nothing, where there is no file yet."""
    if not path.is_file():
        return b""
    try:
        with path.open("rb") as file:
            return file.read(_LINE)
    except OSError:
        raise _kept("a file that cannot be read, and could be one") from None


def _same(one: Path, two: Path) -> bool:
    """Whether two paths lead to one file, be it there yet or not."""
    if one.exists() and two.exists():
        return one.samefile(two)
    return os.path.realpath(one) == os.path.realpath(two)


def _kept(what: str) -> InvalidParameter:
    return InvalidParameter(
        "--out must not write over a ledger or a witness, which cannot be made again; got "
        f"{what}. Choose another name."
    )
