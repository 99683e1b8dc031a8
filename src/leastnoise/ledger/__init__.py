"""The ledger: a durable privacy budget that crashes, retries or parallel jobs cannot overspend."""

from leastnoise.json_types import Json
from leastnoise.ledger.accounts import Account, Accounts
from leastnoise.ledger.allocations import (
    DEFAULT,
    DISCOVERY,
    AllocatedPrivacy,
    AllocationAccount,
    cost_to_json,
    format_share,
)
from leastnoise.ledger.declaration import (
    PERSON,
    account_to_json,
    allocation_to_json,
    release_to_json,
)
from leastnoise.ledger.entries import (
    UNRECORDED,
    Receipt,
    Release,
    Spending,
    Stored,
    Unrecorded,
    check_name,
    mark,
)
from leastnoise.ledger.ledger import Allocation, Ledger
from leastnoise.ledger.recording import Codec, Encoded, Recording, check_ledger
from leastnoise.ledger.rows import (
    ALLOCATION,
    BEGINNING,
    CHARGE,
    CHARGES,
    LIMIT,
    SPEND,
    Head,
    Row,
    canonical,
    privacy_to_json,
    read_index,
    reading_content,
)
from leastnoise.ledger.spending_limit import SpendingLimit, make_part
from leastnoise.ledger.units import DeclaredUnit
from leastnoise.ledger.witness import is_head, read_witness

__all__ = [
    "ALLOCATION",
    "BEGINNING",
    "CHARGE",
    "CHARGES",
    "DEFAULT",
    "DISCOVERY",
    "LIMIT",
    "PERSON",
    "SPEND",
    "UNRECORDED",
    "Account",
    "Accounts",
    "AllocatedPrivacy",
    "Allocation",
    "AllocationAccount",
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
    "SpendingLimit",
    "Stored",
    "Unrecorded",
    "account_to_json",
    "allocation_to_json",
    "canonical",
    "check_ledger",
    "check_name",
    "cost_to_json",
    "format_share",
    "is_head",
    "make_part",
    "mark",
    "privacy_to_json",
    "read_index",
    "read_witness",
    "reading_content",
    "release_to_json",
]
