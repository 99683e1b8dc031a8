"""Check a card against the columns of its table. No row is read."""

from collections.abc import Iterator
from contextlib import contextmanager

from leastnoise.errors import InvalidParameter
from leastnoise.tables.card.card import Card, ColumnRules
from leastnoise.tables.keys import check_keys
from leastnoise.tables.queries.planned_query import check_groupable, check_numeric
from leastnoise.tables.sources import Source


def check_schema(card: Card, source: Source) -> None:
    """Reject a card that names columns which its table does not have, or of other types.

    Raises:
        InvalidParameter: With the line of the card.
    """
    if card.unit is not None:
        with naming(card, "unit"):
            check_groupable(card.unit, source.kind(card.unit), "the column of units")
    for name, rules in card.columns.items():
        with naming(card, "columns", name):
            kind = source.kind(name)
        _check_column(card, source, name, kind, rules)


def _check_column(card: Card, source: Source, name: str, kind: str, rules: ColumnRules) -> None:
    if rules.type is not None and rules.type != kind and not source.is_text(name):
        raise InvalidParameter(
            f"{card.where('columns', name, 'type')} states that {name!r} is of type {rules.type}",
            got=f"a column of kind {kind}",
            fix=f'Write type = "{kind}", or convert the column in the source.',
        )
    if rules.bounds is not None:
        with naming(card, "columns", name, "bounds"):
            check_numeric(source, name, booleans=True)
    if rules.edges is not None:
        with naming(card, "columns", name, "edges"):
            check_numeric(source, name, booleans=False)
    if rules.groups is not None:
        with naming(card, "columns", name, "groups"):
            check_groupable(name, kind, "a column to group by")
            check_keys(((rules.groups[0],),), (name,), (kind,))


@contextmanager
def naming(card: Card, *path: str) -> Iterator[None]:
    """Add a line of the card to an error about the table."""
    try:
        yield
    except InvalidParameter as error:
        raise InvalidParameter(
            f"{card.where(*path)}: {error.problem}", got=error.got, fix=error.fix
        ) from None
