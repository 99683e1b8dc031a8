"""The ledger: a durable privacy budget that cannot be overspent."""

from leastnoise.ledger.accounts import Account, Accounts
from leastnoise.ledger.declaration import PERSON, account_to_json, release_to_json
from leastnoise.ledger.entries import (
    UNRECORDED,
    Receipt,
    Release,
    Spending,
    Stored,
    Unrecorded,
    check_name,
)
from leastnoise.ledger.ledger import Ledger
from leastnoise.ledger.recording import Codec, Encoded, Recording, check_ledger
from leastnoise.ledger.rows import (
    CHARGE,
    LIMIT,
    Head,
    Json,
    Row,
    canonical,
    privacy_to_json,
    read_index,
    reading_content,
)
from leastnoise.ledger.units import DeclaredUnit
from leastnoise.ledger.witness import is_head, read_witness

__all__ = [
    "CHARGE",
    "LIMIT",
    "PERSON",
    "UNRECORDED",
    "Account",
    "Accounts",
    "Codec",
    "DeclaredUnit",
    "Encoded",
    "Head",
    "Json",
    "Ledger",
    "Receipt",
    "Recording",
    "Release",
    "Row",
    "Spending",
    "Stored",
    "Unrecorded",
    "account_to_json",
    "canonical",
    "check_ledger",
    "check_name",
    "is_head",
    "privacy_to_json",
    "read_index",
    "read_witness",
    "reading_content",
    "release_to_json",
]
