"""``leastnoise quantile``: below which value a share of a table's rows lies."""

from typing import Any

import click

from leastnoise.cli.asking import ask, asking, bounds, cells
from leastnoise.cli.group import Once

_SHARE = (
    "the share of a quantile must be given by --share; got an argument more than SOURCE and COLUMN."
    " Write for instance --share 0.9."
)


@click.command(cls=Once, on_more=_SHARE)
@click.argument("source", metavar="SOURCE")
@click.argument("column", metavar="COLUMN")
@click.option("--share", default="0.5", show_default=True, help="Of the rows; 0.5 is the median.")
@bounds
@cells
@asking
def quantile(
    *, source: str, column: str, share: str, bounds: tuple[str, str], cells: str, **given: Any
) -> None:
    """Find below which value of a COLUMN a share of the rows lies (Protected.quantile).

    SOURCE is a CSV or Parquet file, a pattern for several, or postgresql://user@host/database.
    Missing values are left out. What is known of the answer is its rank: how many rows lie below.

    It exits with 1 if the engine fails, with 3 if the budget of the ledger refuses, with 4 if the
    ledger is damaged.

    \b
    Example:
      leastnoise quantile people.csv income --share 0.9 --bounds 0 150000 --cells 150 \
--unit person_id --max-rows 1 --epsilon 0.5 --ledger people.ledger
    """  # noqa: D301 -- click reads the control character
    ask("Quantile", column, share, source=source, given=given, bounds=bounds, cells=cells)
