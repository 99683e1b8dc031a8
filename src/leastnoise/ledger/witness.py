"""A witness: heads of the chain, kept where the ledger is not.

A file that is put back as it was a week ago is a whole chain, only shorter: nothing in it can tell.
What can is the memory of a head that it has no more.
"""

import os
import re
import stat
from datetime import UTC, datetime
from pathlib import Path

from leastnoise.core.exact import quote
from leastnoise.errors import InvalidParameter, LedgerDamaged
from leastnoise.ledger.rows import Head
from leastnoise.ledger.stores import is_path, unavailable

_HEAD = re.compile(r"([1-9]\d{0,17})-([0-9a-f]{64})")
# Of the heads that processes wrote at the same time, the last is within so many bytes of the end.
_TAIL = 1 << 16
_APPENDING = os.O_RDWR | os.O_APPEND | os.O_CREAT
_AT_ONCE = getattr(os, "O_NONBLOCK", 0)  # a pipe would wait for its other end; none on Windows


def read_head(text: object) -> Head:
    """Return the head that a text says, as an answer printed it."""
    found = _HEAD.fullmatch(text.strip()) if isinstance(text, str) else None
    if found is None:
        raise InvalidParameter(
            "A head must be the number of a row and its hash, such as 12-9f86d081…",
            got=quote(text),
            fix="Pass it as an answer or the ledger printed it.",
        )
    return Head(int(found[1]), found[2])


def is_head(text: str) -> bool:
    """Tell a head from the path of a file."""
    return _HEAD.fullmatch(text.strip()) is not None


class Fixed:
    """One head that the chain must hold."""

    def __init__(self, head: Head) -> None:
        self._head = head

    def heads(self) -> list[Head]:
        """Return what must be in the chain."""
        return [self._head]

    def ready(self) -> None:
        """Need nothing to be noted."""

    def note(self, head: Head) -> None:
        """Learn nothing more: it is the caller who keeps heads."""


class Log:
    """A file with a line for every head, on another disk than the ledger or another machine.

    Lines are only ever appended, each in one write that is on disk when it returns.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def heads(self) -> list[Head]:
        """Return the last heads that were noted; none of a file that is missing or empty.

        Raises:
            LedgerDamaged: If the end of the file holds no head that can be read.
        """
        try:
            with os.fdopen(_open_regular(self._path, os.O_RDONLY), "rb") as file:
                size = os.fstat(file.fileno()).st_size
                start = max(0, size - _TAIL)
                file.seek(start)
                text = file.read(_TAIL).decode("ascii", "replace")
        except FileNotFoundError:
            return []
        except OSError:
            raise _unwritten() from None
        if start:  # the first line may be cut: part of a number is another number
            text = text.partition("\n")[2]
        words = (line.split(" ")[0] for line in text.splitlines())
        heads = [read_head(word) for word in words if is_head(word)]
        if size and not heads:
            raise _unreadable()
        return heads

    def ready(self) -> None:
        """Refuse to go on where nothing could be noted, before anything is written elsewhere."""
        try:
            os.close(_open_regular(self._path, _APPENDING))
        except OSError:
            raise _unwritten() from None

    def note(self, head: Head) -> None:
        """Append a head."""
        line = f"{head} {datetime.now(UTC).isoformat(timespec='seconds')}\n".encode()
        try:
            file = _open_regular(self._path, _APPENDING)
            try:
                end = os.lseek(file, 0, os.SEEK_END)
                if end and os.pread(file, 1, end - 1) != b"\n":  # a line that was cut short
                    line = b"\n" + line
                written = os.write(file, line)
                os.fsync(file)
            finally:
                os.close(file)
        except OSError:
            raise _unwritten() from None
        if written != len(line):
            raise _unwritten()


Witness = Fixed | Log


def read_witness(witness: object) -> Witness | None:
    """Return the witness that is meant: a head, or the path of a log of heads."""
    if witness is None:
        return None
    if isinstance(witness, Head):
        return Fixed(witness)
    if isinstance(witness, str) and is_head(witness):
        return Fixed(read_head(witness))
    if isinstance(witness, str | os.PathLike) and str(witness) and is_path(str(witness)):
        return Log(Path(witness))
    raise InvalidParameter(
        "A witness must be a head such as 12-9f86d081…, or the path of a file",
        got=quote(witness),
        fix="Choose a path on another disk than the ledger's.",
    )


def forgotten(head: Head) -> LedgerDamaged:
    """Return the error for a chain without a head that was witnessed."""
    return LedgerDamaged(
        f"The ledger does not contain the witnessed row {head.seq}: it is an older copy, or "
        "another ledger. Nothing was released",
        fix="Restore the newest copy.",
    )


def _open_regular(path: Path, flags: int) -> int:
    """Open a witness. A pipe or a device keeps nothing, and could be read without end."""
    try:
        file = os.open(path, (flags & ~os.O_CREAT) | _AT_ONCE)
    except FileNotFoundError:
        if not flags & os.O_CREAT:
            raise
        file = os.open(path, flags | _AT_ONCE, 0o600)
        os.fchmod(file, 0o600)  # whatever the umask takes away
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise unavailable("its witness is not a regular file", "Pass the path of a file.")
    return file


def _unreadable() -> LedgerDamaged:
    return LedgerDamaged(
        "The witness is damaged: it holds no heads that can be read. Nothing was released",
        fix="Pass the file that noted them, or an intact copy of it.",
    )


def _unwritten() -> Exception:
    return unavailable("its witness cannot be read or written", "Fix that, and try again.")
