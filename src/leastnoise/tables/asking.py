"""How queries are asked: the way a release is recorded, and the only query of a target error."""

from collections.abc import Sequence
from dataclasses import dataclass

from leastnoise.errors import InvalidParameter, parameter
from leastnoise.ledger import Ledger, Unrecorded, check_name
from leastnoise.tables.answers import JointAnswers
from leastnoise.tables.queries.common_arguments import CommonArguments
from leastnoise.tables.queries.query import Query
from leastnoise.tables.release import PreparedRelease, TableResult, release


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
) -> list[TableResult] | JointAnswers:
    """Return answers as they are, or as one table if they share groups."""
    return JointAnswers(common.by, tuple(answers)) if common.by else answers
