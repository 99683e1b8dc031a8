"""A witness: heads of the chain, stored apart from the ledger.

A ledger file that was restored from an old copy is an intact chain, only shorter, so nothing in the
file itself shows it. A later head that the chain does not contain does.
"""

import os
import re
import stat
from datetime import UTC, datetime
from pathlib import Path

from leastnoise.core.exact import quote
from leastnoise.errors import InvalidParameter, LedgerDamaged, Words
from leastnoise.ledger.rows import Head
from leastnoise.ledger.stores import is_path, unavailable_error

_HEAD = re.compile(r"([1-9]\d{0,17})-([0-9a-f]{64})")
# The last of the heads that processes note at the same time is within this many bytes of the end.
_TAIL = 1 << 16
_APPENDING = os.O_RDWR | os.O_APPEND | os.O_CREAT
_AT_ONCE = getattr(os, "O_NONBLOCK", 0)  # a pipe would wait for its other end; none on Windows


def read_head(text: object) -> Head:
    """Return the head in a string, as an answer prints it."""
    match = _HEAD.fullmatch(text.strip()) if isinstance(text, str) else None
    if match is None:
        raise InvalidParameter(
            Words("A head", "--head")
            + " must be the number of a row and its hash, such as 12-9f86d081…",
            got=quote(text),
            fix="Copy the head exactly as printed.",
        )
    return Head(int(match[1]), match[2])


def is_head(text: str) -> bool:
    """Return whether a string is a head, and not the path of a file."""
    return _HEAD.fullmatch(text.strip()) is not None


class FixedHead:
    """A witness of one head, which the caller stores."""

    def __init__(self, head: Head) -> None:
        self._head = head

    def heads(self) -> list[Head]:
        """Return the heads that must be in the chain."""
        return [self._head]

    def check_writable(self) -> None:
        """Do nothing, because nothing is written."""

    def note(self, head: Head) -> None:
        """Do nothing, because the caller stores later heads."""


class HeadLog:
    """A witness in a file with a line per head, on another disk or machine than the ledger.

    Lines are only ever appended. Each is one write, which is on disk when ``note`` returns.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def heads(self) -> list[Head]:
        """Return the last heads in the file; none if it is missing or empty.

        Raises:
            LedgerDamaged: If the end of the file contains no readable head.
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
            raise _unusable_error() from None
        if start:  # the first line may be cut, and part of a number is another number
            text = text.partition("\n")[2]
        words = (line.split(" ")[0] for line in text.splitlines())
        heads = [read_head(word) for word in words if is_head(word)]
        if size and not heads:
            raise _unreadable_error()
        return heads

    def check_writable(self) -> None:
        """Raise an error if heads cannot be noted; called before the ledger is written."""
        try:
            os.close(_open_regular(self._path, _APPENDING))
        except OSError:
            raise _unusable_error() from None

    def note(self, head: Head) -> None:
        """Append a head."""
        line = f"{head} {datetime.now(UTC).isoformat(timespec='seconds')}\n".encode()
        try:
            file = _open_regular(self._path, _APPENDING)
            try:
                end = os.lseek(file, 0, os.SEEK_END)
                if end and os.pread(file, 1, end - 1) != b"\n":  # the last line is incomplete
                    line = b"\n" + line
                written = os.write(file, line)
                os.fsync(file)
            finally:
                os.close(file)
        except OSError:
            raise _unusable_error() from None
        if written != len(line):
            raise _unusable_error()


Witness = FixedHead | HeadLog


def read_witness(witness: object) -> Witness | None:
    """Return the witness for an argument: a head, or the path of a file of heads."""
    if witness is None:
        return None
    if isinstance(witness, Head):
        return FixedHead(witness)
    if isinstance(witness, str) and is_head(witness):
        return FixedHead(read_head(witness))
    if isinstance(witness, str | os.PathLike) and str(witness) and is_path(str(witness)):
        return HeadLog(Path(witness))
    raise InvalidParameter(
        Words("A witness", "--witness")
        + " must be a head such as 12-9f86d081…, or the path of a file",
        got=quote(witness),
        fix="Choose a path on another disk than the ledger's.",
    )


def missing_head_error(head: Head) -> LedgerDamaged:
    """Return the error for a chain that does not contain a witnessed head."""
    return LedgerDamaged(
        f"The ledger does not contain the witnessed row {head.seq}: it is an older copy, or "
        "another ledger. Nothing was released",
        fix="Restore the newest copy.",
    )


def _open_regular(path: Path, flags: int) -> int:
    """Open a witness file. A pipe or device stores nothing, and reading it might never end."""
    try:
        file = os.open(path, (flags & ~os.O_CREAT) | _AT_ONCE)
    except FileNotFoundError:
        if not flags & os.O_CREAT:
            raise
        file = os.open(path, flags | _AT_ONCE, 0o600)
        os.fchmod(file, 0o600)  # whatever the umask is
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise unavailable_error("its witness is not a regular file", "Pass the path of a file.")
    return file


def _unreadable_error() -> LedgerDamaged:
    return LedgerDamaged(
        "The witness is damaged: it contains no readable heads. Nothing was released",
        fix="Pass the original file, or an intact copy of it.",
    )


def _unusable_error() -> Exception:
    return unavailable_error("its witness cannot be read or written", "Fix that, and try again.")
