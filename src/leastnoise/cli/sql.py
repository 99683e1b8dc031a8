"""``leastnoise sql``: answer a SELECT with aggregates of one protected table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from leastnoise.cli.table_request import TableRequest
from leastnoise.cli.tables import build_command
from leastnoise.core.exact import quote
from leastnoise.errors import InvalidParameter
from leastnoise.tables import Argument, TableQuery, parse_params

if TYPE_CHECKING:
    from leastnoise.tables import Explanation, ProtectedTable, SelectAnswers

_TEXT = "SELECT region, COUNT(*) AS n FROM people WHERE age >= 18 GROUP BY region"
_PERSON = "--unit person_id --max-rows 1"
_QUERY = TableQuery(
    name="sql",
    query_class="leastnoise.tables.queries.query:Query",
    help="Answer a SELECT with aggregates.",
    notes="SQL is one SELECT with COUNT, SUM, AVG, VAR_POP, STDDEV_POP, MIN, MAX, MEDIAN or "
    "QUANTILE, with WHERE and GROUP BY. FROM names the table by the name of its file. Everything "
    "else is rejected, and nothing is charged (docs/sql.md).",
    examples=(
        f'people.csv "{_TEXT}" {_PERSON} --max-groups 1 --epsilon 0.2 --delta 1e-7 '
        "--ledger people.ledger",
        '"SELECT AVG(income) FROM people" --card people.toml --share 1/20',
    ),
    arguments=(
        Argument(
            "text", str, positional=True, metavar="SQL", example="SELECT COUNT(*) FROM people"
        ),
    ),
)


@dataclass(frozen=True, kw_only=True)
class SqlRequest(TableRequest):
    """The arguments of ``leastnoise sql``."""

    bounds: tuple[tuple[str, str, str], ...]

    def ask(self, table: "ProtectedTable") -> "tuple[SelectAnswers, str]":
        """Return the answers, and the SQL."""
        how: dict[str, Any] = {"fresh": self.fresh, "allow_exact": self.allow_exact}
        arguments = self._make_arguments(table)
        return table.sql(**arguments, **self.terms, key=self.key, **how), arguments["text"]

    def explain(self, table: "ProtectedTable") -> "Explanation":
        """Return the dry run."""
        return table.explain_sql(**self._make_arguments(table), **self.terms)

    def _make_arguments(self, table: "ProtectedTable") -> dict[str, Any]:
        """Return the arguments that state the queries; groups are parsed by their columns."""
        from leastnoise.tables import read_select  # and sqlglot with it

        text, params = str(self.own["text"]), parse_params(self.params)
        select = read_select(text, table.source, table.unit, params)
        return {
            "text": text,
            "params": params,
            "groups": self.read_groups([table.source.kind(value) for value in select.by]),
            "max_groups": self.max_groups,
            "bounds": _read_bounds(self.bounds),
        }


def _read_bounds(given: Sequence[tuple[str, str, str]]) -> dict[str, tuple[str, str]] | None:
    """Return the clipping bounds by column; None without any."""
    bounds = dict[str, tuple[str, str]]()
    for column, low, high in given:
        if column in bounds:
            raise InvalidParameter(
                "--bounds must be given once for each column", got=quote(column), fix="Remove one."
            )
        bounds[column] = low, high
    return bounds or None


_BOUNDS = click.option(
    "--bounds",
    nargs=3,
    multiple=True,
    metavar="COLUMN LOW HIGH",
    help="Clipping bounds of a column in an aggregate. Choose them without looking at the table. "
    "Repeatable.  [required for each such column, or --card]",
)

sql = build_command(_QUERY, SqlRequest, [_BOUNDS], {"by": (), "where": None, "plot": None})
