"""``leastnoise mean``: the mean of a column of a table."""

from typing import Any

import click

from leastnoise.cli.asking import ask, asking, bounds
from leastnoise.cli.group import Once


@click.command(cls=Once)
@click.argument("source", metavar="SOURCE")
@click.argument("column", metavar="COLUMN")
@bounds
@asking
def mean(*, source: str, column: str, bounds: tuple[str, str], **given: Any) -> None:
    """Find the mean of a COLUMN of a table with the least noise (Protected.mean).

    SOURCE is a CSV or Parquet file, a pattern for several, or postgresql://user@host/database.
    Released are a count and a sum of what values are above the middle of the bounds; --json has
    both. Missing values are left out.

    It exits with 1 if the engine fails, with 3 if the budget of the ledger refuses, with 4 if the
    ledger is damaged.

    \b
    Example:
      leastnoise mean people.csv income --bounds 0 150000 --unit person_id --max-rows 1 \
--by sex --group f --group m --epsilon 0.5 --ledger people.ledger
    """  # noqa: D301 -- click reads the control character
    ask("Mean", column, source=source, given=given, bounds=bounds)
