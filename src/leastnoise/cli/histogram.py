"""``leastnoise histogram``: how many rows of a table lie in each range of a column."""

from typing import Any

import click

from leastnoise.cli.asking import ask, asking
from leastnoise.cli.group import Once
from leastnoise.errors import InvalidParameter

_COMMAS = (
    "edges must be two or more numbers, parted by commas; got one alone, or some that are parted "
    "otherwise. Give for instance --edges 0,18,65,120."
)


@click.command(cls=Once, on_more=_COMMAS)
@click.argument("source", metavar="SOURCE")
@click.argument("column", metavar="COLUMN")
@click.option(
    "--edges",
    required=True,
    metavar="A,B,…",
    help="Where the ranges begin and end. Each holds its lower edge, the last one both.",
)
@asking
def histogram(*, source: str, column: str, edges: str, **given: Any) -> None:
    """Count the rows in each range of a COLUMN with the least noise (Protected.histogram).

    SOURCE is a CSV or Parquet file, a pattern for several, or postgresql://user@host/database. Rows
    outside of all ranges, or without a value, are left out.

    It exits with 1 if the engine fails, with 3 if the budget of the ledger refuses, with 4 if the
    ledger is damaged.

    \b
    Example:
      leastnoise histogram people.csv age --edges 0,18,65,120 --unit person_id --max-rows 1 \
--epsilon 0.5 --ledger people.ledger
    """  # noqa: D301 -- click reads the control character
    if "," not in edges:
        raise InvalidParameter(_COMMAS)
    ask("Histogram", column, source=source, given=given, edges=edges.split(","))
