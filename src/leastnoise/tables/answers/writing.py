"""Files that tables are written to: over another only if asked, and whole or not at all."""

import contextlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

from leastnoise.errors import InvalidParameter
from leastnoise.exact import described
from leastnoise.ledger.witness import is_head

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
            f"a path must be a text or a Path; got {described(path)}. Give the name of a file."
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
        f"a table must be written where files can be; {described(target.name)} could not "
        f"({type(error).__name__}). Give a path in a folder of your own."
    )
