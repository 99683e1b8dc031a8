"""What has been spent, on disk: a ledger that cannot be overspent."""

from leastnoise.ledger.accounts import Account, Accounts
from leastnoise.ledger.declaration import account_to_json, release_to_json
from leastnoise.ledger.entries import UNRECORDED, Receipt, Release, Spending, Stored, Unrecorded
from leastnoise.ledger.ledger import Ledger
from leastnoise.ledger.recording import Form, Place, Written
from leastnoise.ledger.rows import CHARGE, LIMIT, Head, Json, Row, canonical
from leastnoise.ledger.witness import is_head, read_witness

__all__ = [
    "CHARGE",
    "LIMIT",
    "UNRECORDED",
    "Account",
    "Accounts",
    "Form",
    "Head",
    "Json",
    "Ledger",
    "Place",
    "Receipt",
    "Release",
    "Row",
    "Spending",
    "Stored",
    "Unrecorded",
    "Written",
    "account_to_json",
    "canonical",
    "is_head",
    "read_witness",
    "release_to_json",
]
