"""The rows of a ledger, and the hashes that chain each row to the one before it.

hashₙ = SHA-256(hashₙ₋₁ ‖ the fields of row n, each preceded by its length). No two chains of rows
have the same last hash, so the last hash shows whether any row was changed, removed or inserted.
"""

import hashlib
import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from leastnoise.core.exact import format_ratio
from leastnoise.core.privacy import Privacy
from leastnoise.errors import LedgerDamaged, LedgerUnavailable
from leastnoise.json_types import Json, JsonValue
from leastnoise.ledger.units import read_unit

# Parsed JSON whose parts may be of any type: code that reads a part that does not fit raises, and
# :func:`reading_content` reports the damage.
Content = dict[str, Any]
ResultT = TypeVar("ResultT")
# The version of the format of rows, and that of the kinds that were added later.
VERSION, NEWEST = 1, 2
_LONG = 4000
_ID = re.compile(r"[0-9a-f]{32}")
LONGEST_TEXT = 1000  # characters of a name or a key
# A ratio as it is stored; guarantees have at most 4,933 digits.
_INDEX = re.compile(r"-?[0-9a-f]+")
_RATIO = re.compile(r"[0-9]{1,20000}(/[0-9]{1,20000})?")
# What reading malformed content raises; InvalidParameter is a ValueError.
_MALFORMED = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
)
_CANONICAL = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
)
# The hash before the first row.
START = hashlib.sha256(b"leastnoise ledger").hexdigest()


class Row(NamedTuple):
    """One event; never changed once it is written.

    Attributes:
        seq: 1 for the first row, then 2, 3, …
        version: The version of the row format.
        kind: The kind of event: a ledger was opened, a limit set, a mechanism described, a
            guarantee charged, an answer stored, an allocation made, or a cost charged to one.
        key: The key of the query for a charge, a spend and their answers, the key of an account for
            a limit, the key of an allocation, the key of a digest for a mechanism; empty for the
            opening row.
        at: The time, in UTC.
        body: The content, as JSON.
        payload: The released numbers of an array, as bytes; empty for other rows.
        hash: The hash of all these fields and of the rows before.
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
        """Return a new row after a head, with the current time."""
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        row = cls(head.seq + 1, find_version(kind), kind, key, at, canonical(body), payload, "")
        return row._replace(hash=row.compute_hash(head.hash))

    def compute_hash(self, before: str) -> str:
        """Return the hash of this row after a row with the hash ``before``."""
        kind, key, at, body = self.kind, self.key, self.at, self.body
        text = f"{before}{self.version},{self.seq},{len(kind)}:{kind}{len(key)}:{key}{len(at)}:{at}"
        text = f"{text}{len(body)}:{body}"
        return hashlib.sha256(text.encode() + self.payload).hexdigest()

    @property
    def head(self) -> "Head":
        """The head of a chain that ends with this row."""
        return Head(self.seq, self.hash)

    @property
    def content(self) -> Json:
        """The content of the body.

        Raises:
            LedgerDamaged: If a row of this kind cannot have this content.
        """
        return read_row(self, _read_content_of)


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a chain: the number and the hash of its last row.

    It is printed and read as ``17-9f86d0…``. Answers carry heads, and witnesses store them.
    """

    seq: int
    hash: str

    def __str__(self) -> str:
        """Return the form that ``read_head`` reads."""
        return f"{self.seq}-{self.hash}"


BEGINNING = Head(0, START)


def damage_error(seq: int, why: str) -> LedgerDamaged:
    """Return the error for a row that is not as it was written."""
    return LedgerDamaged(
        f"The ledger is damaged: row {seq} {why}. Nothing was released",
        fix="Restore an intact copy, and find out who changed it.",
    )


@contextmanager
def reading_content(seq: int) -> Iterator[None]:
    """Report every error in a block that reads the content of rows as damage.

    Hashes do not protect the content, because anyone who can write to a ledger can compute them.
    ``seq`` is the number of the row, or of the last row.
    """
    try:
        yield
    except (LedgerDamaged, LedgerUnavailable):
        raise
    except _MALFORMED:
        wrong = True
    else:
        wrong = False
    if wrong:
        raise _content_error(seq)


def read_row(row: Row, read: Callable[[Row], ResultT]) -> ResultT:
    """Return what ``read`` returns of a row; report every error as :func:`reading_content` does.

    This is faster, and a ledger can have millions of rows.
    """
    try:
        return read(row)
    except (LedgerDamaged, LedgerUnavailable):
        raise
    except _MALFORMED:
        pass
    raise _content_error(row.seq)


def _content_error(seq: int) -> LedgerDamaged:
    return damage_error(seq, "has content that no ledger writes")


def _read_content_of(row: Row) -> Content:
    return read_content(row.kind, row.body)


def read_content(kind: str, body: str) -> Content:
    """Return the content of a row of a kind; raise a ValueError, or similar, if it is malformed."""
    content: Content = json.loads(body)
    if type(content) is not dict or canonical(content) != body:
        raise ValueError
    if kind in _FIELDS and content.keys() != _FIELDS[kind]:
        raise ValueError
    if kind in (LIMIT, CHARGE, ALLOCATION, SPEND):
        check_readable(content["dataset"])
        if content["analyst"] is not None:
            check_readable(content["analyst"])
        privacy = read_privacy(content)
        if any(content[name] != text for name, text in privacy_to_json(privacy).items()):
            raise ValueError  # a ratio that is not reduced
    if kind in (ALLOCATION, SPEND):
        check_readable(content["name" if kind == ALLOCATION else "allocation"])
        if any(format_ratio(part) != content[name] for name, part in read_cost(content).items()):
            raise ValueError
    if kind in CHARGES:
        check_types(content["mechanisms"], list, str)
        check_types(content["asked"], dict, str)
        read_unit(content["asked"])
    elif kind == ANSWER:
        check_types([content["charge"]], list, int)
        check_types(content["answer"], dict, str)
    elif kind == OPENED and not _ID.fullmatch(content["id"]):
        raise ValueError
    return content


def find_version(kind: str) -> int:
    """Return the version of the format in which rows of a kind are written.

    Allocations are of version 2, so that a version of leastnoise that does not know them rejects
    their ledgers. The format of all other rows is unchanged.
    """
    return NEWEST if kind in (ALLOCATION, SPEND) else VERSION


def compute_digest(mechanism: Content) -> str:
    """Return the digest of the identifying fields in the description of a mechanism.

    Raises:
        LookupError: If such a field is missing.
    """
    return hashlib.sha256(canonical(identify(mechanism)).encode()).hexdigest()


def identify(mechanism: Content) -> Content:
    """Return the identifying fields in the description of a mechanism.

    Raises:
        LookupError: If such a field is missing.
    """
    noise, selection = _IDENTITIES
    return {name: mechanism[name] for name in (noise if "drawn" in mechanism else selection)}


def is_readable(text: object) -> bool:
    """Return whether a string can be a name or a key: short, and of printable characters.

    Characters that this version of Python does not know are accepted: a later one may print them.
    """
    if type(text) is not str or not 0 < len(text) <= LONGEST_TEXT:
        return False
    return text.isprintable() or all(
        character.isprintable() or unicodedata.category(character) == "Cn" for character in text
    )


def check_readable(text: object) -> None:
    """Raise a ValueError unless a string can be a name or a key."""
    if not is_readable(text):
        raise ValueError


def check_time(at: str) -> None:
    """Raise a ValueError unless a time has the form of rows: in UTC, with milliseconds."""
    if datetime.fromisoformat(at).isoformat(timespec="milliseconds") != at or at[-6:] != "+00:00":
        raise ValueError


def check_types(parts: object, whole: type, part: type) -> None:
    """Raise a ValueError unless this is a ``whole``, a list or dict, of elements of one type."""
    if type(parts) is not whole or any(type(each) is not part for each in parts):  # type: ignore[attr-defined]
        raise ValueError


def canonical(body: Mapping[str, JsonValue]) -> str:
    """Return JSON in a canonical form, so that its digest is the same everywhere."""
    return _CANONICAL.encode(body)


def limit_key(dataset: str, analyst: str | None) -> str:
    """Return the key of the limits of an account; no query has it, because it is not printable."""
    return f"\x1f{LIMIT}\x1f{dataset}" + ("" if analyst is None else f"\x1f{analyst}")


def allocation_key(dataset: str, name: str) -> str:
    """Return the key of an allocation; no query has it."""
    return f"\x1f{ALLOCATION}\x1f{dataset}\x1f{name}"


def mechanism_key(digest: str) -> str:
    """Return the key of the description of a mechanism."""
    return f"\x1f{MECHANISM}\x1f{digest}"


def privacy_to_json(privacy: Privacy) -> dict[str, str]:
    """Return a guarantee for JSON, as exact ratios."""
    return {"epsilon": format_ratio(privacy.epsilon), "delta": format_ratio(privacy.delta)}


def read_privacy(content: Content) -> Privacy:
    """Return the guarantee in the content of a row."""
    return Privacy(parse_amount(content["epsilon"]), parse_amount(content["delta"]))


def read_cost(content: Content) -> dict[str, Fraction]:
    """Return μ² and γ in the content of a row: a cost, or the caps of an allocation."""
    return {name: parse_amount(content[name]) for name in ("square", "failure")}


def read_index(text: str) -> int:
    """Return the integer that was stored in hexadecimal; raise a ValueError for anything else."""
    if not _INDEX.fullmatch(text):
        raise ValueError
    return int(text, 16)


@lru_cache(maxsize=1024)
def parse_amount(text: str) -> Fraction:
    """Return the rational that ``format_ratio`` printed, whatever its length."""
    if not _RATIO.fullmatch(text):
        raise ValueError
    over, _, under = text.partition("/")
    return Fraction(_parse_integer(over), _parse_integer(under or "1"))


def _parse_integer(digits: str) -> int:
    """Return an integer; int() reads at most 4300 digits, Decimal any number of them."""
    return int(digits) if len(digits) < _LONG else int(Decimal(digits))


OPENED, LIMIT, MECHANISM, CHARGE, ANSWER = "opened", "limit", "mechanism", "charge", "answer"
ALLOCATION, SPEND = "allocation", "spend"
KINDS = (OPENED, LIMIT, MECHANISM, CHARGE, ANSWER, ALLOCATION, SPEND)
# The charges of releases: of a guarantee to a dataset, or of a cost to an allocation.
CHARGES = (CHARGE, SPEND)
_AMOUNTS = {"dataset", "analyst", "epsilon", "delta"}
# All fields of a body, by kind. Descriptions of mechanisms also have other fields.
_FIELDS = {
    OPENED: {"id"},
    LIMIT: _AMOUNTS,
    CHARGE: {*_AMOUNTS, "mechanisms", "asked"},
    ANSWER: {"charge", "answer"},
    ALLOCATION: {*_AMOUNTS, "name", "square", "failure"},
    # epsilon and delta are the guarantee of the release by itself, which is not charged.
    SPEND: {*_AMOUNTS, "allocation", "square", "failure", "mechanisms", "asked"},
}
# The fields that identify a mechanism: one that adds noise, or one that selects.
_IDENTITIES = (
    {"privacy", "drawn", "sensitivity", "integer"},
    {"privacy", "selection", "sensitivity", "candidates"},
)
