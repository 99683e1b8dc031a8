"""The only writer of files: whole or not at all, and never over a ledger or a witness.

Files that tables are written to: over another only if asked, and whole or not at all.

What a command must not write over: a ledger, a witness, or the table that it reads.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable
from glob import glob
from pathlib import Path
from typing import IO

from leastnoise.core.exact import quote
from leastnoise.errors import InvalidParameter

# How every SQLite file begins, and what SQLite keeps beside one.
_SQLITE = b"SQLite format 3\0"
_BESIDE = ("-wal", "-shm", "-journal")
# Longer than a head, and the time that stands beside it in a witness.
_LINE = 200


def written(path: object, write: Callable[[IO[bytes]], object], *, overwrite: bool) -> Path:
    """Write a file beside its place, then put it there; return its path.

    A ledger or a witness is not written over even where ``overwrite`` says so: what was spent
    cannot be written again.

    Raises:
        InvalidParameter: If there is a file and ``overwrite`` is not given, or none can be written.
    """
    if not isinstance(path, str | os.PathLike):
        raise InvalidParameter(
            f"a path must be a text or a Path; got {quote(path)}. Give the name of a file."
        )
    target = Path(path)
    try:
        if overwrite:
            _refuse_ledgers(target)
        elif os.path.lexists(target):
            raise _there()
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        raise _cannot(target, error) from None
    made = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        _open_to_others(made)
        _put(made, target, overwrite=overwrite)
    except OSError as error:
        raise _cannot(target, error) from None
    finally:
        with contextlib.suppress(FileNotFoundError):
            made.unlink()
    return target


def _put(made: Path, target: Path, *, overwrite: bool) -> None:
    """Give a finished file its name; if not ``overwrite``, only if nobody took it meanwhile."""
    if overwrite:
        made.replace(target)
        return
    try:
        os.link(made, target)
    except FileExistsError:
        raise _there() from None
    except OSError:  # a file system without links: look, then move
        if os.path.lexists(target):
            raise _there() from None
        made.rename(target)


def _open_to_others(made: Path) -> None:
    """Give a file the rights that a new one has: temporary ones are for their owner alone."""
    mask = os.umask(0)
    os.umask(mask)
    made.chmod(0o666 & ~mask)


def _refuse_ledgers(target: Path) -> None:
    from leastnoise.ledger import is_head

    begins = _beginning(target)
    databases = [target, *(Path(str(target).removesuffix(end)) for end in _BESIDE)]
    if any(_beginning(file).startswith(_SQLITE) for file in databases):
        raise _kept("a database of SQLite, or a file that belongs to one")
    if is_head(begins.decode("ascii", "replace").split(" ")[0]):
        raise _kept("a witness")


def _beginning(path: Path) -> bytes:
    """Return how a file begins; nothing, where there is no file yet."""
    if not path.is_file():
        return b""
    with path.open("rb") as file:
        return file.read(_LINE)


def _there() -> InvalidParameter:
    return InvalidParameter(
        "a table must not be written over another file; got the name of one that is there. "
        "Choose another name, or give overwrite=True."
    )


def _kept(what: str) -> InvalidParameter:
    return InvalidParameter(
        "a table must not be written over a ledger or a witness, which cannot be made again; got "
        f"{what}. Choose another name."
    )


def _cannot(target: Path, error: OSError) -> InvalidParameter:
    return InvalidParameter(
        f"a table must be written where files can be; {quote(target.name)} could not "
        f"({type(error).__name__}). Give a path in a folder of your own."
    )


_ITSELF_AND_BESIDE = ("", "-wal", "-shm", "-journal")


def refuse_overwriting(out: str, *, ledger: str | None, witness: str | None) -> None:
    """Refuse to write over the ledger, what SQLite keeps beside it, its witness, or another's.

    What was spent cannot be written again. Before anything is opened or written.
    """
    from leastnoise.ledger import is_head  # only where something is written

    target = Path(out)
    # SQLite follows a link before it puts its files beside the ledger.
    paths = () if ledger is None else (ledger, os.path.realpath(ledger))
    files = [Path(f"{path}{end}") for path in paths for end in _ITSELF_AND_BESIDE]
    if witness is not None and not is_head(witness):
        files.append(Path(witness))
    if any(_same(target, file) for file in files):
        raise _kept_from_out("one of this ledger's own files")
    begins = _beginning_for_out(target)
    if begins.startswith(_SQLITE):
        raise _kept_from_out("a database of SQLite")
    if is_head(begins.decode("ascii", "replace").split(" ")[0]):
        raise _kept_from_out("a witness")


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


def _beginning_for_out(path: Path) -> bytes:
    """Return how a file begins; nothing, where there is no file yet."""
    if not path.is_file():
        return b""
    try:
        with path.open("rb") as file:
            return file.read(_LINE)
    except OSError:
        raise _kept_from_out("a file that cannot be read, and could be one") from None


def _same(one: Path, two: Path) -> bool:
    """Whether two paths lead to one file, be it there yet or not."""
    if one.exists() and two.exists():
        return one.samefile(two)
    return os.path.realpath(one) == os.path.realpath(two)


def _kept_from_out(what: str) -> InvalidParameter:
    return InvalidParameter(
        "--out must not write over a ledger or a witness, which cannot be made again; got "
        f"{what}. Choose another name."
    )
