"""What has been spent, on disk: a ledger that cannot be overspent."""

from leastnoise.ledger.accounts import Account, Accounts
from leastnoise.ledger.declaration import account_written, release_written
from leastnoise.ledger.entries import UNRECORDED, Receipt, Release, Spending, Stored, Unrecorded
from leastnoise.ledger.ledger import Ledger
from leastnoise.ledger.recording import Codec, Encoded, Recording, check_ledger
from leastnoise.ledger.rows import CHARGE, LIMIT, Head, Json, Row, canonical
from leastnoise.ledger.witness import is_head, witness_read

__all__ = [
    "CHARGE",
    "LIMIT",
    "UNRECORDED",
    "Account",
    "Accounts",
    "Codec",
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
    "account_written",
    "canonical",
    "check_ledger",
    "is_head",
    "release_written",
    "witness_read",
]
