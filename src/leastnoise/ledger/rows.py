"""A row of the ledger and the hash that chains it to the one before.

hashₙ = SHA-256(hashₙ₋₁ ‖ the fields of row n, each with its length before it). So no two chains of
rows have the same last hash, and whoever knows the last one can tell whether any row was changed,
taken out or put in.
"""

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from leastnoise.core.exact import format_ratio
from leastnoise.core.privacy import Privacy
from leastnoise.errors import LedgerDamaged, LedgerUnavailable
from leastnoise.ledger.units import read_unit

Json = dict[str, Any]
VERSION = 1
_LONG = 4000
_ID = re.compile(r"[0-9a-f]{32}")
LONGEST_TEXT = 1000  # characters of a name or a key
# A ratio as it is stored; guarantees have at most 4,933 digits.
_INDEX = re.compile(r"-?[0-9a-f]+")
_RATIO = re.compile(r"[0-9]{1,20000}(/[0-9]{1,20000})?")
# The hash before the first row.
START = hashlib.sha256(b"leastnoise ledger").hexdigest()


class Row(NamedTuple):
    """One thing that happened; never changed once it is written.

    Attributes:
        seq: 1 for the first row, then 2, 3, …
        version: The version of the format that it is written in.
        kind: What happened: a ledger was opened, a limit set, a mechanism described, a promise
            charged, an answer stored.
        key: The question's key for a charge and its answer, a digest for a mechanism, else empty.
        at: When, in UTC.
        body: What there is to say of it, as JSON.
        payload: The released numbers of an array, as bytes; else empty.
        hash: The hash of all this and of the rows before.
    """

    seq: int
    version: int
    kind: str
    key: str
    at: str
    body: str
    payload: bytes
    hash: str

    @classmethod
    def after(cls, head: "Head", kind: str, key: str, body: Json, payload: bytes = b"") -> "Row":
        """Return the row that follows a head, now."""
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        row = cls(head.seq + 1, VERSION, kind, key, at, canonical(body), payload, "")
        return row._replace(hash=row.hashed(head.hash))

    def hashed(self, before: str) -> str:
        """Return the hash that it must have after a row with the hash ``before``."""
        kind, key, at, body = self.kind, self.key, self.at, self.body
        said = f"{before}{self.version},{self.seq},{len(kind)}:{kind}{len(key)}:{key}{len(at)}:{at}"
        said = f"{said}{len(body)}:{body}"
        return hashlib.sha256(said.encode() + self.payload).hexdigest()

    @property
    def head(self) -> "Head":
        """The chain's head once this row is its last."""
        return Head(self.seq, self.hash)

    @property
    def content(self) -> Json:
        """What the body says.

        Raises:
            LedgerDamaged: If it is not what a row of this kind says.
        """
        with reading_content(self.seq):
            return read_content(self.kind, self.body)


@dataclass(frozen=True, slots=True)
class Head:
    """How far a chain goes: the number of its last row, and its hash.

    Printed and read as ``17-9f86d0…``: what an answer carries and a witness keeps.
    """

    seq: int
    hash: str

    def __str__(self) -> str:
        """Print it in the one way that is read again."""
        return f"{self.seq}-{self.hash}"


BEGINNING = Head(0, START)


def damaged(seq: int, why: str) -> LedgerDamaged:
    """Return the error for a row that is not as it was written."""
    return LedgerDamaged(
        f"The ledger is damaged: row {seq} {why}. Nothing was released",
        fix="Restore an intact copy, and find out who changed it.",
    )


@contextmanager
def reading_content(seq: int) -> Iterator[None]:
    """Report as damage whatever goes wrong while the content of rows is read.

    Hashes do not protect it: anyone who can write to a ledger can compute them. ``seq`` is the
    number of the row, or of the last row.
    """
    try:
        yield
    except (LedgerDamaged, LedgerUnavailable):
        raise
    except (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError):
        wrong = True
    except (TypeError, ValueError):  # InvalidParameter, too
        wrong = True
    else:
        wrong = False
    if wrong:
        raise damaged(seq, "says what no ledger writes")


def read_content(kind: str, body: str) -> Json:
    """Return the content of a row of a kind; raise a ValueError, or similar, if it is malformed."""
    content = json.loads(body)
    if type(content) is not dict or canonical(content) != body:
        raise ValueError
    if kind in _FIELDS and content.keys() != _FIELDS[kind]:
        raise ValueError
    if kind in (LIMIT, CHARGE):
        check_readable(content["dataset"])
        if content["analyst"] is not None:
            check_readable(content["analyst"])
        privacy = read_privacy(content)
        if any(content[name] != text for name, text in privacy_to_json(privacy).items()):
            raise ValueError  # a ratio that is not reduced
    if kind == CHARGE:
        check_types(content["mechanisms"], list, str)
        check_types(content["asked"], dict, str)
        read_unit(content["asked"])
    elif kind == ANSWER:
        check_types([content["charge"]], list, int)
        check_types(content["answer"], dict, str)
    elif kind == OPENED and not _ID.fullmatch(content["id"]):
        raise ValueError
    return content


def digest_of(mechanism: Json) -> str:
    """Return the digest of a mechanism by what identifies it in its description.

    Raises:
        LookupError: If it is described in no way that is known.
    """
    noise, selection = _IDENTITIES
    known = {name: mechanism[name] for name in (noise if "drawn" in mechanism else selection)}
    return hashlib.sha256(canonical(known).encode()).hexdigest()


def is_readable(text: object) -> bool:
    """Return whether a text can be a name or a key: short, and of printable characters.

    Characters that this Python does not know are accepted: a later one may print them.
    """
    if type(text) is not str or not 0 < len(text) <= LONGEST_TEXT:
        return False
    return text.isprintable() or all(
        sign.isprintable() or unicodedata.category(sign) == "Cn" for sign in text
    )


def check_readable(text: object) -> None:
    """Raise a ValueError unless a text can be a name or a key."""
    if not is_readable(text):
        raise ValueError


def check_time(at: str) -> None:
    """Raise a ValueError unless a time is written as a row has it: in UTC, with milliseconds."""
    if datetime.fromisoformat(at).isoformat(timespec="milliseconds") != at or at[-6:] != "+00:00":
        raise ValueError


def check_types(parts: object, whole: type, part: type) -> None:
    """Raise a ValueError unless this is a list, or a dictionary, of parts of one type."""
    if type(parts) is not whole or any(type(each) is not part for each in parts):  # type: ignore[attr-defined]
        raise ValueError


def canonical(body: Json) -> str:
    """Write JSON in the one way that has the same digest everywhere."""
    return json.dumps(
        body, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
    )


def limit_key(dataset: str, analyst: str | None) -> str:
    """Return the key of an account's limits: no question has one, for these are printable."""
    return f"\x1f{LIMIT}\x1f{dataset}" + ("" if analyst is None else f"\x1f{analyst}")


def mechanism_key(digest: str) -> str:
    """Return the key of a mechanism's description."""
    return f"\x1f{MECHANISM}\x1f{digest}"


def privacy_to_json(privacy: Privacy) -> dict[str, str]:
    """Return a guarantee for JSON, as exact ratios."""
    return {"epsilon": format_ratio(privacy.epsilon), "delta": format_ratio(privacy.delta)}


def read_privacy(content: Json) -> Privacy:
    """Return the guarantee that a body holds."""
    return Privacy(amount(content["epsilon"]), amount(content["delta"]))


def read_index(text: str) -> int:
    """Return the integer that was stored in hexadecimal; raise a ValueError for anything else."""
    if not _INDEX.fullmatch(text):
        raise ValueError
    return int(text, 16)


@lru_cache(maxsize=1024)
def amount(text: str) -> Fraction:
    """Return the rational that ``format_ratio`` printed, whatever its length."""
    if not _RATIO.fullmatch(text):
        raise ValueError
    over, _, under = text.partition("/")
    return Fraction(_whole(over), _whole(under or "1"))


def _whole(digits: str) -> int:
    """Return a whole number; Python reads no more than 4300 digits of one, decimals any."""
    return int(digits) if len(digits) < _LONG else int(Decimal(digits))


OPENED, LIMIT, MECHANISM, CHARGE, ANSWER = "opened", "limit", "mechanism", "charge", "answer"
KINDS = (OPENED, LIMIT, MECHANISM, CHARGE, ANSWER)
_AMOUNTS = {"dataset", "analyst", "epsilon", "delta"}
# The fields of a body, all of them. Descriptions of mechanisms have further facts.
_FIELDS = {
    OPENED: {"id"},
    LIMIT: _AMOUNTS,
    CHARGE: {*_AMOUNTS, "mechanisms", "asked"},
    ANSWER: {"charge", "answer"},
}
# What identifies a mechanism: one that adds noise, or one that selects.
_IDENTITIES = (
    {"privacy", "drawn", "sensitivity", "integer"},
    {"privacy", "selection", "sensitivity", "candidates"},
)
