"""Dataset cards: the statements of an owner about a table, once for all queries."""

from leastnoise.tables.card.card import Card
from leastnoise.tables.card.check import (
    check_amount,
    check_query,
    cite_largest,
    limit_terms,
)
from leastnoise.tables.card.lines import find_lines
from leastnoise.tables.card.opening import (
    check_given,
    create_ledger,
    find_ledger,
    make_unit,
    open_table,
)
from leastnoise.tables.card.parse import read_card
from leastnoise.tables.card.skeleton import write_skeleton
from leastnoise.tables.card.summary import summarize

__all__ = [
    "Card",
    "check_amount",
    "check_given",
    "check_query",
    "cite_largest",
    "create_ledger",
    "find_ledger",
    "find_lines",
    "limit_terms",
    "make_unit",
    "open_table",
    "read_card",
    "summarize",
    "write_skeleton",
]
