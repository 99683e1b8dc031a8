"""Files in other encodings, rewritten in UTF-8.

DuckDB fails at a byte that an encoding does not have, or needs an extension from the network. So
the file is rewritten when it is opened, into a folder that only this user can read. It is deleted
with the connection.

A character changes no line but its own: an encoding is accepted only if each character has one
byte, or two that are counted from the start of the file, and if the line ends are those of ASCII. A
character that cannot be read becomes bytes that are not UTF-8, so its line is omitted later.
"""

import codecs
import gzip
import shutil
import tempfile
import weakref
from os.path import join
from typing import Any

from leastnoise.core.exact import quote
from leastnoise.errors import InvalidParameter, Unsupported, Words

_PAGES = (437, 850, 852, *range(1250, 1259))
_PARTS = (*range(1, 11), *range(13, 17))
_SINGLE = frozenset([*(f"iso8859-{part}" for part in _PARTS), *(f"cp{page}" for page in _PAGES)])
_DOUBLE = frozenset(("utf-16", "utf-16-le", "utf-16-be"))
_AT_ONCE = 1 << 20  # bytes


def parse_encoding(encoding: object) -> str:
    """Return the name of an encoding that Python has, in one spelling."""
    try:
        known = codecs.lookup(encoding).name if isinstance(encoding, str) else None
    except (LookupError, ValueError):
        known = None
    if known is None:
        raise InvalidParameter(
            Words("encoding", "--encoding") + " must name an encoding",
            got=quote(encoding),
            fix="Write, for example, "
            + Words('encoding="latin-1"', "--encoding latin-1")
            + ', "cp1252" or "utf-16".',
        )
    if known not in _SINGLE | _DOUBLE | {"utf-8", "ascii"}:
        raise Unsupported(
            Words("encoding", "--encoding") + " must be UTF-8, UTF-16, or have one byte for each "
            "character",
            got=known,
            fix="Convert the file to UTF-8.",
        )
    return "utf-8" if known == "ascii" else known


def transcode(files: list[str], encoding: str, *, compressed: bool, backend: Any) -> list[str]:
    """Return files in UTF-8, with the same lines; they are deleted with a connection."""
    folder = tempfile.mkdtemp(prefix="leastnoise-")
    weakref.finalize(backend, shutil.rmtree, folder, ignore_errors=True)
    rewritten = [join(folder, f"{number}.csv") for number in range(len(files))]
    for file, copy in zip(files, rewritten, strict=True):
        _rewrite(file, copy, encoding, compressed=compressed)
    return rewritten


def _rewrite(file: str, copy: str, encoding: str, *, compressed: bool) -> None:
    lost = "surrogatepass" if encoding in _DOUBLE else "surrogateescape"
    decoder = codecs.getincrementaldecoder(encoding)(lost)
    with (
        gzip.open(file) if compressed else open(file, "rb") as content,
        open(copy, "xb") as written,
    ):
        while block := content.read(_AT_ONCE):
            # Half of a surrogate pair is written as bytes that are not UTF-8.
            written.write(decoder.decode(block).encode("utf-8", "surrogatepass"))
