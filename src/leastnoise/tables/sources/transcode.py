"""Files in other encodings, rewritten in UTF-8.

DuckDB fails at a byte that an encoding does not have, or needs an extension from the network. So
the file is rewritten when it is opened, into a folder that only this user can read. It is deleted
with the connection.

A character changes no line but its own. An encoding is accepted only if the line ends are those of
ASCII, and if one of these holds:

* Each character has one byte, or two that are counted from the start of the file.
* A character has one to four bytes, none of which is a line end. There is no state, as ISO 2022 has
  it. The file is split at the line ends first, and each line is decoded by itself.

A character that cannot be read becomes bytes that are not UTF-8, so its line is omitted later.
"""

import codecs
import gzip
import re
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from os.path import join
from typing import Any

from leastnoise.core.exact import quote
from leastnoise.errors import InvalidParameter, Unsupported, Words

_PAGES = (437, 850, 852, *range(1250, 1259))
_PARTS = (*range(1, 11), *range(13, 17))
_SINGLE = frozenset([*(f"iso8859-{part}" for part in _PARTS), *(f"cp{page}" for page in _PAGES)])
_DOUBLE = frozenset(("utf-16", "utf-16-le", "utf-16-be"))
_SEVERAL = frozenset(
    (
        *("big5", "big5hkscs", "cp932", "cp949", "cp950", "euc_jp", "euc_jis_2004", "euc_kr"),
        *("gb2312", "gbk", "gb18030", "shift_jis", "shift_jis_2004"),
    )
)
_AT_ONCE = 1 << 20  # bytes
_UNREADABLE = b"\xff"  # is not UTF-8
# A character has at most twice as many bytes as in UTF-8, in which lines of 2,000,000 are too long.
_LONGEST_LINE = 4_000_000


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
            + ', "cp1252" or "shift_jis".',
        )
    if known not in _SINGLE | _DOUBLE | _SEVERAL | {"utf-8", "ascii"}:
        raise Unsupported(
            Words("encoding", "--encoding") + " must be UTF-8, UTF-16, one with one byte for each "
            "character, or for instance shift_jis, euc_jp, euc_kr, gb18030 or big5",
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
    decode = _decode_lines if encoding in _SEVERAL else _decode
    with (
        gzip.open(file) if compressed else open(file, "rb") as content,
        open(copy, "xb") as written,
    ):
        blocks = iter(lambda: content.read(_AT_ONCE), b"")
        written.writelines(decode(blocks, encoding))


def _decode(blocks: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    """Yield a file in UTF-8, of an encoding whose characters have equally many bytes."""
    lost = "surrogatepass" if encoding in _DOUBLE else "surrogateescape"
    decoder = codecs.getincrementaldecoder(encoding)(lost)
    for block in blocks:
        # Half of a surrogate pair is written as bytes that are not UTF-8.
        yield decoder.decode(block).encode("utf-8", "surrogatepass")


def _decode_lines(blocks: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    """Yield a file in UTF-8, line by line; a line that cannot be read as bytes that are not."""
    rest, long = b"", False
    for block in blocks:
        *lines, rest = re.split(rb"([\r\n])", rest + block)  # each followed by its end
        for line, end in zip(lines[::2], lines[1::2], strict=True):
            yield (_UNREADABLE if long else _decode_line(line, encoding)) + end
            long = False
        if len(rest) > _LONGEST_LINE:
            rest, long = b"", True
    yield _UNREADABLE if long else _decode_line(rest, encoding)


def _decode_line(line: bytes, encoding: str) -> bytes:
    try:
        return line.decode(encoding).encode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return _UNREADABLE
