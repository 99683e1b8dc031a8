"""How queries are asked: completed by common arguments and defaults, recorded, and joined."""

from collections.abc import Sequence
from dataclasses import dataclass

from leastnoise.errors import InvalidParameter, parameter
from leastnoise.ledger import Ledger, Unrecorded, check_name
from leastnoise.tables.answers import AnswerTable
from leastnoise.tables.card import Card, check_query
from leastnoise.tables.defaults import TableDefaults
from leastnoise.tables.queries.bounded_query import BoundedQuery
from leastnoise.tables.queries.common_arguments import CommonArguments, share_groups
from leastnoise.tables.queries.histogram import Histogram
from leastnoise.tables.queries.plan import check_is_query
from leastnoise.tables.queries.query import Query
from leastnoise.tables.release import PreparedRelease, TableResult, release
from leastnoise.tables.sources import Source


def complete_queries(
    queries: Sequence[Query],
    common: CommonArguments,
    source: Source,
    defaults: TableDefaults,
    card: Card | None,
) -> list[Query]:
    """Return queries with common arguments and defaults of the table, checked by its card."""
    for query in queries:
        check_is_query(query)
    queries = [common.complete(query) for query in queries]
    for query in queries:
        if isinstance(query, BoundedQuery | Histogram):  # before its bounds are missing
            source.check_allowed(query.column)
    completed = [query.complete(defaults) for query in queries]
    if card is not None:
        for query in completed:
            check_query(card, query)
    return share_groups(completed, common.by)


@dataclass(frozen=True, slots=True)
class How:
    """How a release is recorded."""

    key: str | None
    fresh: bool
    allow_exact: bool

    def is_charged(self, prepared: PreparedRelease, ledger: Ledger | Unrecorded) -> bool:
        """Return whether a release was charged before, so that repeating it costs nothing."""
        if self.fresh or not isinstance(ledger, Ledger):
            return False
        key = prepared.key if self.key is None else check_name(self.key, "A key")
        return ledger.find_limit(key) is not None

    def release(self, prepared: PreparedRelease, ledger: Ledger | Unrecorded) -> list[TableResult]:
        """Release the answers of prepared queries."""
        key, fresh = self.key, self.fresh
        return release(prepared, ledger, key=key, fresh=fresh, allow_exact=self.allow_exact)


def find_only(queries: Sequence[Query]) -> Query:
    """Return the only query; reject several, whose errors are in different units."""
    if len(queries) == 1:
        return queries[0]
    raise InvalidParameter(
        parameter("error") + " is for one query, because each query has an error of its own",
        got=f"{len(queries)} queries",
        fix="Send separate queries, or pass share= and weights=.",
    )


def join_answers(
    answers: list[TableResult], common: CommonArguments
) -> list[TableResult] | AnswerTable:
    """Return answers as they are, or as one table if they share groups."""
    return AnswerTable(common.by, tuple(answers)) if common.by else answers
