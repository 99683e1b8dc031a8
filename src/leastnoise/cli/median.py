"""``leastnoise median``: below which value half of a table's rows lie."""

from typing import Any

import click

from leastnoise.cli.asking import ask, asking, bounds, cells
from leastnoise.cli.group import Once


@click.command(cls=Once)
@click.argument("source", metavar="SOURCE")
@click.argument("column", metavar="COLUMN")
@bounds
@cells
@asking
def median(*, source: str, column: str, bounds: tuple[str, str], cells: str, **given: Any) -> None:
    """Find below which value of a COLUMN half of the rows lie (Protected.median).

    SOURCE is a CSV or Parquet file, a pattern for several, or postgresql://user@host/database.
    Missing values are left out. What is known of the answer is its rank: how many rows lie below.
    Other shares than one half are for the command quantile.

    It exits with 1 if the engine fails, with 3 if the budget of the ledger refuses, with 4 if the
    ledger is damaged.

    \b
    Example:
      leastnoise median people.csv income --bounds 0 150000 --cells 150 --unit person_id \
--max-rows 1 --where "age >= 18" --epsilon 0.5 --ledger people.ledger
    """  # noqa: D301 -- click reads the control character
    ask("Quantile", column, source=source, given=given, bounds=bounds, cells=cells)
