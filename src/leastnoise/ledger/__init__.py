"""What has been spent, on disk: a ledger that cannot be overspent."""

from leastnoise.ledger.accounts import Account
from leastnoise.ledger.entries import Receipt, Spending, Stored
from leastnoise.ledger.ledger import Ledger
from leastnoise.ledger.releases import Release
from leastnoise.ledger.rows import Head
from leastnoise.ledger.unrecorded import UNRECORDED, Unrecorded

__all__ = [
    "UNRECORDED",
    "Account",
    "Head",
    "Ledger",
    "Receipt",
    "Release",
    "Spending",
    "Stored",
    "Unrecorded",
]
