"""The commands count, sum, mean, median, quantile and histogram.

``leastnoise count``: how many rows, or persons, a table has.

``leastnoise sum``: the sum of a column of a table.

``leastnoise mean``: the mean of a column of a table.

``leastnoise median``: below which value half of a table's rows lie.

``leastnoise quantile``: below which value a share of a table's rows lies.

``leastnoise histogram``: how many rows of a table lie in each range of a column.
"""

from typing import Any

import click

from leastnoise.cli.app import Once
from leastnoise.cli.questions import ask, asking, bounds, cells
from leastnoise.errors import InvalidParameter


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
