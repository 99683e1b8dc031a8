"""Write files atomically, and never over a ledger or a witness."""

import contextlib
import os
import tempfile
from collections.abc import Callable
from glob import glob
from pathlib import Path
from typing import IO

from leastnoise.core.exact import quote
from leastnoise.errors import InvalidParameter, Words, parameter

# The first bytes of a SQLite file; of its two kinds of write-ahead log and of its journal; and the
# endings of the files that SQLite creates next to it.
_SQLITE = b"SQLite format 3\0"
_LOGS = (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83", b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7")
_BESIDE = ("-wal", "-shm", "-journal")
# The number of bytes at the start and at the end of a file that are searched for a ledger's head,
# by which a witness is recognized.
_PART = 1 << 12
# The kinds of files that must not be overwritten.
_DATABASE, _WITNESS = "a database of SQLite", "a witness"


def write_table(path: object, write: Callable[[IO[bytes]], object], *, overwrite: bool) -> Path:
    """Write a table to a file and return its path; never over a ledger or a witness.

    Raises:
        InvalidParameter: If the file exists and ``overwrite`` is False, or cannot be written.
    """
    if not isinstance(path, str | os.PathLike):
        raise InvalidParameter(
            parameter("path") + " must be a string or a Path",
            got=quote(path),
            fix="Pass the name of a file.",
        )
    target = Path(path)
    try:
        kind = _protected_kind(target) if overwrite else None
        if kind is not None:
            more = ", or a file that belongs to one" if kind == _DATABASE else ""
            raise _overwriting_error("a table", kind + more)
        if not overwrite and os.path.lexists(target):
            raise _existing_error()
        _write_atomically(target, write, overwrite=overwrite)
    except FileExistsError:
        raise _existing_error() from None
    except OSError as error:
        raise InvalidParameter(
            f"The file {quote(target.name)} could not be written ({type(error).__name__})",
            fix="Use a path in a folder of your own.",
        ) from None
    return target


def _write_atomically(
    target: Path, write: Callable[[IO[bytes]], object], *, overwrite: bool = True
) -> None:
    """Write a temporary file in the same folder, flush it to disk, then rename it.

    Raises:
        FileExistsError: If ``overwrite`` is False and the file exists, even if it was created
            meanwhile.
        OSError: If the file cannot be written. Then there is no file, or the old one.
    """
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        _apply_umask(temporary)
        if overwrite:
            temporary.replace(target)
        else:
            _link(temporary, target)
    finally:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()


def write_text(target: Path, text: str) -> None:
    """Write a string in UTF-8 with :func:`write_bytes`."""
    write_bytes(target, text.encode())


def write_bytes(target: Path, content: bytes) -> None:
    """Write a file, but never over a ledger or a witness; links are followed.

    A device or a pipe is written to directly, because it cannot be replaced by another file.

    Raises:
        InvalidParameter: If the file is a ledger or a witness.
        OSError: If the file cannot be written.
    """
    kind = _protected_kind(target)
    if kind is not None:
        raise _overwriting_error("a file", kind)
    if target.exists() and not target.is_file() and not target.is_dir():
        target.write_bytes(content)
    else:
        _write_atomically(Path(os.path.realpath(target)), lambda file: file.write(content))


def _link(temporary: Path, target: Path) -> None:
    """Give a finished file its name, unless a file has that name."""
    try:
        os.link(temporary, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without links: check, then rename
        if os.path.lexists(target):
            raise FileExistsError from None
        temporary.rename(target)


def _apply_umask(temporary: Path) -> None:
    """Give a file the permissions of a new file: only its owner can read a temporary one."""
    mask = os.umask(0)
    os.umask(mask)
    temporary.chmod(0o666 & ~mask)


def reject_overwriting(
    out: str, *, ledger: str | None = None, witness: str | None = None, option: str = "--out"
) -> None:
    """Reject an option's file that is a ledger, a witness, or one of this ledger's own files.

    Overwritten spending is lost. Call this function before anything is opened or written.
    """
    target = Path(out)
    if any(_is_same_file(target, file) for file in _own_files(ledger, witness)):
        raise _overwriting_error(option, "one of this ledger's own files")
    try:
        kind = _protected_kind(target)
    except OSError:
        raise _overwriting_error(option, "a file that cannot be read, and could be one") from None
    if kind is not None:
        raise _overwriting_error(option, kind)


def reject_overwriting_input(out: str, *inputs: str | None, option: str = "--out") -> None:
    """Reject an output file that is also an input, by its name or by a pattern."""
    files = [
        file for path in inputs if path is not None for file in (path, *glob(path, recursive=True))
    ]
    if any(_is_same_file(Path(out), Path(file)) for file in files):
        raise InvalidParameter(
            f"{option} must not overwrite a file that is read",
            got="the name of one",
            fix="Choose another name.",
        )


def _protected_kind(target: Path) -> str | None:
    """Return the kind of a file that must not be overwritten; None for any other file."""
    from leastnoise.ledger import is_head  # loaded only if something is written

    names = {str(target), os.path.realpath(target)}  # a link is followed
    databases = {Path(name.removesuffix(end)) for name in names for end in ("", *_BESIDE)}
    if any(_read_ends(file).startswith(_SQLITE) for file in databases):
        return _DATABASE
    ends = _read_ends(target)
    if ends.startswith(_LOGS):
        return _DATABASE
    # The first line of a witness may be incomplete, for instance after a power failure.
    lines = ends.decode("ascii", "replace").splitlines()
    return _WITNESS if any(is_head(line.split(" ")[0]) for line in lines) else None


def _own_files(ledger: str | None, witness: str | None) -> list[Path]:
    """Return the files of a ledger and its witness, whether they exist or not."""
    from leastnoise.ledger import is_head

    # SQLite follows a link before it creates its files next to the ledger.
    paths = () if ledger is None else (ledger, os.path.realpath(ledger))
    files = [Path(f"{path}{end}") for path in paths for end in ("", *_BESIDE)]
    return files if witness is None or is_head(witness) else [*files, Path(witness)]


def _read_ends(path: Path) -> bytes:
    """Return the first and the last bytes of a file, on separate lines if the file is long."""
    if not path.is_file():
        return b""
    with path.open("rb") as file:
        first = file.read(_PART)
        rest = file.seek(0, os.SEEK_END) - len(first)
        file.seek(-min(rest, _PART), os.SEEK_END)
        return first + (b"\n" if rest > _PART else b"") + file.read()


def _is_same_file(first: Path, second: Path) -> bool:
    """Return whether two paths lead to the same file, whether it exists or not."""
    if first.exists() and second.exists():
        return first.samefile(second)
    return os.path.realpath(first) == os.path.realpath(second)


def _existing_error() -> InvalidParameter:
    return InvalidParameter(
        "This file already exists",
        fix="Choose another name, or pass " + Words("overwrite=True", "--overwrite") + ".",
    )


def _overwriting_error(what: str, kind: str) -> InvalidParameter:
    return InvalidParameter(
        f"{what} must not overwrite a ledger or a witness, which cannot be made again",
        got=kind,
        fix="Choose another name.",
    )
