"""What a ledger was begun with, for those who open one and do not know."""

import os

from leastnoise.ledger.rows import LIMIT
from leastnoise.ledger.store import Page, opened


def first_dataset(where: str | os.PathLike[str], *, timeout: float = 10) -> str | None:
    """Return the name of the data set that a ledger was begun with; None if it has none yet.

    In the same time for any number of rows. It is read, not checked: open the ledger to have it
    checked.
    """
    store = opened(os.fspath(where), timeout=timeout, create=False)
    try:
        with store.reading() as page:
            return begun_with(page)
    finally:
        store.close()


def begun_with(page: Page) -> str | None:
    """Return the data set of the first limit that a page holds; None if there is none."""
    first = next((row for row in page.rows(0) if row.kind == LIMIT), None)
    # Its key has the name behind two separators, whatever became of its body.
    parts = [] if first is None else first.key.split("\x1f")
    return parts[2] if len(parts) > 2 else None
