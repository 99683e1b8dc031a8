"""``leastnoise count``: how many rows, or persons, a table has."""

from typing import Any

import click

from leastnoise.cli.asking import ask, asking
from leastnoise.cli.group import Once


@click.command(cls=Once)
@click.argument("source", metavar="SOURCE")
@asking
def count(*, source: str, **given: Any) -> None:
    """Count the rows of a table with the least noise (Protected.count).

    SOURCE is a CSV or Parquet file, a pattern for several, or postgresql://user@host/database. With
    --max-rows 1 it is units that are counted.

    It exits with 1 if the engine fails, with 3 if the budget of the ledger refuses, with 4 if the
    ledger is damaged.

    \b
    Examples:
      leastnoise count people.csv --unit person_id --max-rows 1 --by region \
--epsilon 0.2 --delta 1e-7 --ledger people.ledger
      leastnoise count people.csv --unit person_id --max-rows 1 --where "age >= 18" \
--epsilon 0.2 --explain
    """  # noqa: D301 -- click reads the control character
    ask("Count", source=source, given=given)
