"""``leastnoise sum``: the sum of a column of a table."""

from typing import Any

import click

from leastnoise.cli.asking import ask, asking, bounds
from leastnoise.cli.group import Once


@click.command(cls=Once)
@click.argument("source", metavar="SOURCE")
@click.argument("column", metavar="COLUMN")
@bounds
@asking
def sum(*, source: str, column: str, bounds: tuple[str, str], **given: Any) -> None:
    """Add up a COLUMN of a table with the least noise (Protected.sum).

    SOURCE is a CSV or Parquet file, a pattern for several, or postgresql://user@host/database.
    Missing values count as the number between the bounds that is nearest to 0.

    It exits with 1 if the engine fails, with 3 if the budget of the ledger refuses, with 4 if the
    ledger is damaged.

    \b
    Example:
      leastnoise sum people.csv income --bounds 0 150000 --unit person_id --max-rows 2 \
--epsilon 0.5 --ledger people.ledger
    """  # noqa: D301 -- click reads the control character
    ask("Sum", column, source=source, given=given, bounds=bounds)
