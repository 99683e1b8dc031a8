"""Write files: whole or not at all, and never over a ledger or a witness."""

import contextlib
import os
import tempfile
from collections.abc import Callable
from glob import glob
from pathlib import Path
from typing import IO

from leastnoise.core.exact import quote
from leastnoise.errors import InvalidParameter, Words

# The first bytes of a SQLite file, of its two kinds of write-ahead log and of its journal; and the
# endings of the files that SQLite keeps beside it.
_SQLITE = b"SQLite format 3\0"
_LOGS = (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83", b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7")
_BESIDE = ("-wal", "-shm", "-journal")
# Bytes at the start and the end of a file in which a witness is recognized by a head: many lines.
_PART = 1 << 12
# A file that must not be written over is one of these.
_DATABASE, _WITNESS = "a database of SQLite", "a witness"


def write_table(path: object, write: Callable[[IO[bytes]], object], *, overwrite: bool) -> Path:
    """Write a table to a file and return its path; never over a ledger or a witness.

    Raises:
        InvalidParameter: If a file exists and ``overwrite`` is not given, or none can be written.
    """
    if not isinstance(path, str | os.PathLike):
        raise InvalidParameter(
            "path must be a string or a Path",
            got=quote(path),
            fix="Pass the name of a file.",
        )
    target = Path(path)
    try:
        kind = _kind_kept(target) if overwrite else None
        if kind is not None:
            more = ", or a file that belongs to one" if kind == _DATABASE else ""
            raise _kept("a table", kind + more)
        if not overwrite and os.path.lexists(target):
            raise _exists()
        _write_atomically(target, write, overwrite=overwrite)
    except FileExistsError:
        raise _exists() from None
    except OSError as error:
        raise InvalidParameter(
            f"The file {quote(target.name)} could not be written ({type(error).__name__})",
            fix="Use a path in a folder of your own.",
        ) from None
    return target


def _write_atomically(
    target: Path, write: Callable[[IO[bytes]], object], *, overwrite: bool = True
) -> None:
    """Write a file beside its place, flush it to the disk, then give it its name.

    Raises:
        FileExistsError: If there is a file, even one made meanwhile, and ``overwrite`` is False.
        OSError: If the file cannot be written; there is none then, or the old one.
    """
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    made = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        _open_to_others(made)
        if overwrite:
            made.replace(target)
        else:
            _link(made, target)
    finally:
        with contextlib.suppress(FileNotFoundError):
            made.unlink()


def write_text(target: Path, text: str) -> None:
    """Write a text as :func:`write_bytes` does."""
    write_bytes(target, text.encode())


def write_bytes(target: Path, content: bytes) -> None:
    """Write a file, but never over a ledger or a witness; links are followed.

    A device or a pipe is written to directly, because it has no place to keep.

    Raises:
        InvalidParameter: If it is a ledger or a witness.
        OSError: If it cannot be written.
    """
    kind = _kind_kept(target)
    if kind is not None:
        raise _kept("a file", kind)
    if target.exists() and not target.is_file() and not target.is_dir():
        target.write_bytes(content)
    else:
        _write_atomically(Path(os.path.realpath(target)), lambda file: file.write(content))


def _link(made: Path, target: Path) -> None:
    """Give a finished file its name, unless that is taken."""
    try:
        os.link(made, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without links: look, then move
        if os.path.lexists(target):
            raise FileExistsError from None
        made.rename(target)


def _open_to_others(made: Path) -> None:
    """Give a file the rights of a new one: temporary files are for their owner alone."""
    mask = os.umask(0)
    os.umask(mask)
    made.chmod(0o666 & ~mask)


def refuse_overwriting(
    out: str, *, ledger: str | None = None, witness: str | None = None, option: str = "--out"
) -> None:
    """Refuse an option's file that is a ledger, a witness, or one of this ledger's own files.

    Spending cannot be recorded again. Call it before anything is opened or written.
    """
    target = Path(out)
    if any(_same(target, file) for file in _own_files(ledger, witness)):
        raise _kept(option, "one of this ledger's own files")
    try:
        kind = _kind_kept(target)
    except OSError:
        raise _kept(option, "a file that cannot be read, and could be one") from None
    if kind is not None:
        raise _kept(option, kind)


def refuse_overwriting_read(out: str, *read: str | None) -> None:
    """Refuse to write over a file that is read, also by a pattern."""
    files = [
        file for path in read if path is not None for file in (path, *glob(path, recursive=True))
    ]
    if any(_same(Path(out), Path(file)) for file in files):
        raise InvalidParameter(
            "--out must not overwrite a file that is read",
            got="the name of one",
            fix="Choose another name.",
        )


def _kind_kept(target: Path) -> str | None:
    """Return the kind of a file that must not be written over; None for any other file."""
    from leastnoise.ledger import is_head  # only where something is written

    names = {str(target), os.path.realpath(target)}  # what is written to is what a link leads to
    databases = {Path(name.removesuffix(end)) for name in names for end in ("", *_BESIDE)}
    if any(_ends_of(file).startswith(_SQLITE) for file in databases):
        return _DATABASE
    ends = _ends_of(target)
    if ends.startswith(_LOGS):
        return _DATABASE
    # Its first line may be cut short, as by a loss of power.
    lines = ends.decode("ascii", "replace").splitlines()
    return _WITNESS if any(is_head(line.split(" ")[0]) for line in lines) else None


def _own_files(ledger: str | None, witness: str | None) -> list[Path]:
    """Return the files of a ledger and its witness, whether they exist or not."""
    from leastnoise.ledger import is_head

    # SQLite follows a link before it puts its files beside the ledger.
    paths = () if ledger is None else (ledger, os.path.realpath(ledger))
    files = [Path(f"{path}{end}") for path in paths for end in ("", *_BESIDE)]
    return files if witness is None or is_head(witness) else [*files, Path(witness)]


def _ends_of(path: Path) -> bytes:
    """Return the first and the last bytes of a file, in lines of their own if it is long."""
    if not path.is_file():
        return b""
    with path.open("rb") as file:
        first = file.read(_PART)
        rest = file.seek(0, os.SEEK_END) - len(first)
        file.seek(-min(rest, _PART), os.SEEK_END)
        return first + (b"\n" if rest > _PART else b"") + file.read()


def _same(one: Path, two: Path) -> bool:
    """Return whether two paths lead to one file, whether it exists or not."""
    if one.exists() and two.exists():
        return one.samefile(two)
    return os.path.realpath(one) == os.path.realpath(two)


def _exists() -> InvalidParameter:
    return InvalidParameter(
        "This file already exists",
        fix="Choose another name, or pass " + Words("overwrite=True", "--overwrite") + ".",
    )


def _kept(what: str, kind: str) -> InvalidParameter:
    return InvalidParameter(
        f"{what} must not overwrite a ledger or a witness, which cannot be made again",
        got=kind,
        fix="Choose another name.",
    )
