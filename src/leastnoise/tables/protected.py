"""``ProtectedTable``: a table whose methods release differentially private answers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Unpack, overload

from leastnoise.core.exact import Number, quote
from leastnoise.core.privacy import Privacy
from leastnoise.errors import BudgetExceeded, InvalidParameter
from leastnoise.ledger import Ledger, Unrecorded
from leastnoise.tables.answering import Asked, One
from leastnoise.tables.answers import AnswerTable, GroupedAnswers
from leastnoise.tables.asking import How, complete_queries, find_only, join_answers
from leastnoise.tables.card import Card, check_amount, cite_largest, limit_terms
from leastnoise.tables.defaults import NO_DEFAULTS, TableDefaults
from leastnoise.tables.explanation import Explanation
from leastnoise.tables.keys import Groups
from leastnoise.tables.mean_release import check_recorded, release_mean
from leastnoise.tables.mean_target import MeanTarget
from leastnoise.tables.methods import BuiltInQueries
from leastnoise.tables.queries.common_arguments import CommonArguments
from leastnoise.tables.queries.mean import Mean
from leastnoise.tables.queries.plan import plan_query
from leastnoise.tables.queries.planned_query import TableUnit
from leastnoise.tables.queries.query import Query
from leastnoise.tables.registration import QUERIES, QueryMethods
from leastnoise.tables.release import PreparedRelease, TableResult, prepare, reported
from leastnoise.tables.sources import Source, join_lookup
from leastnoise.tables.sql_methods import SqlMethods
from leastnoise.tables.table_query import Columns
from leastnoise.tables.target_error import TargetError, aim, check_cap, find_amount
from leastnoise.tables.terms import Terms, parse_terms, parse_weights
from leastnoise.tables.where import Node, Parameters


@dataclass(frozen=True, repr=False)
class ProtectedTable(BuiltInQueries, QueryMethods, SqlMethods):
    """A table that releases noisy answers only. :func:`protect` makes it."""

    source: Source
    unit: TableUnit
    ledger: Ledger | Unrecorded
    defaults: TableDefaults = NO_DEFAULTS
    card: Card | None = None
    closed: bool = False

    @overload
    def ask(
        self,
        queries: Sequence[Query],
        *,
        privacy: Privacy | None = None,
        share: Number | None = None,
        error: Number | None = None,
        at_most: Number | None = None,
        weights: Sequence[Number] | None = None,
        where: str | Node | None = None,
        params: Parameters | None = None,
        max_groups: int | None = None,
        max_rows: int | None = None,
        key: str | None = None,
        fresh: bool = False,
        allow_exact: bool = False,
    ) -> list[TableResult]: ...

    @overload
    def ask(
        self,
        queries: Sequence[Query],
        *,
        privacy: Privacy | None = None,
        share: Number | None = None,
        error: Number | None = None,
        at_most: Number | None = None,
        weights: Sequence[Number] | None = None,
        by: Columns,
        groups: Groups | None = None,
        where: str | Node | None = None,
        params: Parameters | None = None,
        max_groups: int | None = None,
        max_rows: int | None = None,
        key: str | None = None,
        fresh: bool = False,
        allow_exact: bool = False,
    ) -> AnswerTable: ...

    @reported
    def ask(
        self,
        queries: Sequence[Query],
        *,
        privacy: Privacy | None = None,
        share: Number | None = None,
        error: Number | None = None,
        at_most: Number | None = None,
        weights: Sequence[Number] | None = None,
        by: Columns = (),
        groups: Groups | None = None,
        where: str | Node | None = None,
        params: Parameters | None = None,
        max_groups: int | None = None,
        max_rows: int | None = None,
        key: str | None = None,
        fresh: bool = False,
        allow_exact: bool = False,
    ) -> list[TableResult] | AnswerTable:
        """Answer several queries together, under one guarantee and one ledger entry.

        Numbers that several queries need, such as a count, are released once. Exactly one of
        ``privacy``, ``share`` and ``error`` must be given.

        Args:
            queries: The queries, for instance ``[Count(), Sum("income", bounds=(0, 9))]``.
            privacy: The total guarantee for one unit.
            share: The share of the ledger's limit or allocation to spend, such as ``"1/50"``.
            error: The 95% error that the answer may have, for a single query. It costs as little as
                possible, and the answer states how much.
            at_most: With ``error``: the largest share of the limit or allocation that it may cost.
                Default: all of it.
            weights: A number for each query; the budget is divided in proportion to them. Default:
                every released number gets the same part.
            by: The column to group by, or several, of each query without its own. The answers are
                then one table, and if groups are discovered, the first query decides which groups
                are shown, for all. Default: none.
            groups: The groups of these queries. Default: they are discovered.
            where: The condition of each query without its own. Default: all rows.
            params: The values of the parameters that ``where`` names.
            max_groups: The maximum groups per unit of each query without its own.
            max_rows: The maximum rows per unit per group of each query without its own.
            key: The name of the queries in the ledger. A repeated key returns the stored answers
                and spends nothing. Default: derived from the queries, the guarantee and the noise.
            fresh: Whether to charge again and draw new noise under a key that has answers.
            allow_exact: Whether to accept noise that releases exact values with some probability.

        Returns:
            The result of each query, in order: an answer, or an answer for each group. With ``by``,
            it also prints and exports as one table, with a column for each query.

        Raises:
            InvalidParameter: If an argument is invalid; nothing is charged.
            BudgetExceeded: If too little budget remains; nothing is charged.
            QueryFailed: If the engine fails; the charge stands.

        Example:
            >>> import leastnoise as ln
            >>> from leastnoise.tables import census
            >>> people = ln.protect(census(), unit="person_id", max_rows=1, ledger=ln.UNRECORDED)
            >>> queries = [ln.Count(), ln.Mean("age", bounds=(0, 120))]
            >>> len(people.ask(queries, privacy=ln.Privacy(1)))
            2
            >>> table = people.ask(queries, by="sex", max_groups=1, privacy=ln.Privacy(1, "1e-7"))
            >>> list(table.to_pandas()["sex"])
            ['f', 'm']
        """
        common = CommonArguments.of(
            by=by,
            groups=groups,
            where=where,
            params=params,
            max_groups=max_groups,
            max_rows=max_rows,
        )
        if not isinstance(queries, tuple | list):
            raise InvalidParameter(
                "queries must be a list", got=quote(queries), fix="Write, for example, [Count()]."
            )
        terms = self._parse_terms(privacy, share, error, at_most, key, fresh=fresh)
        queries = self._complete(queries, common)
        how = How(key, fresh, allow_exact)
        if terms.error is not None:
            with cite_largest(self.card):
                reached = [self._reach_error(find_only(queries), terms, terms.error, how)]
            return join_answers(reached, common)
        prepared = self._prepare(queries, terms.amount, weights)
        try:
            return join_answers(how.release(prepared, self.ledger), common)
        except BudgetExceeded as failure:
            raise terms.add_advice(failure) from None

    def join(
        self, lookup: object, *, on: str, columns: Sequence[str] | None = None
    ) -> "ProtectedTable":
        """Return this table with the columns of a lookup: a public table with one row per key.

        Each row gets the columns of the row of the lookup with the same key, or NULLs. No row is
        added, lost or duplicated, so noise and guarantee stay as they are. The lookup must be
        public: it is read now, to check that its key is unique, and its values are not protected.

        Args:
            lookup: A path or a frame, if the table is a file, a frame or on DuckDB; a table of the
                same Ibis connection; on PostgreSQL and Spark also the name of a table.
            on: The key, a column of the table and of the lookup.
            columns: The columns of the lookup to add. Default: all that a query can use.

        Returns:
            A protected table with the same unit and ledger. Its answers have keys of their own in
            the ledger.

        Raises:
            InvalidParameter: If the key is missing, of another kind or not unique, or the table has
                a column of the same name; nothing is charged.
            Unsupported: If the lookup is on another engine.

        Example:
            >>> import leastnoise as ln
            >>> import pandas as pd
            >>> from leastnoise.tables import census
            >>> people = ln.protect(census(), unit="person_id", max_rows=1, ledger=ln.UNRECORDED)
            >>> sides = pd.DataFrame({"region": ["north"], "side": ["N"]}, dtype="string")
            >>> joined = people.join(sides, on="region")
            >>> 0 < joined.count(where="side = 'N'", privacy=ln.Privacy(1)).value < 8100
            True
        """
        self._check_open()
        return replace(self, source=join_lookup(self.source, lookup, on, columns))

    def _answer(
        self,
        kind: type[One],  # noqa: ARG002 -- for type checkers
        query: Query,
        **terms: Unpack[Asked],
    ) -> One | GroupedAnswers[One]:
        answers: Any = self.ask([query], **terms)
        answer: One | GroupedAnswers[One] = answers[0]
        return answer

    def _answer_by_group(
        self,
        kind: type[One],
        query: Query,
        **terms: Unpack[Asked],
    ) -> GroupedAnswers[One]:
        answer: Any = self._answer(kind, query, **terms)
        answers: GroupedAnswers[One] = answer
        return answers

    def explain(
        self,
        *queries: Query,
        privacy: Privacy | None = None,
        share: Number | None = None,
        error: Number | None = None,
        at_most: Number | None = None,
        weights: Sequence[Number] | None = None,
        by: Columns = (),
        groups: Groups | None = None,
        where: str | Node | None = None,
        params: Parameters | None = None,
        max_groups: int | None = None,
        max_rows: int | None = None,
    ) -> Explanation:
        """Report sensitivities, noise and expected errors of queries: a dry run.

        No row is read, and nothing is charged.

        Args:
            queries: The queries, as :meth:`ask` takes them.
            privacy: The total guarantee for one unit.
            share: The share of the ledger's limit or allocation to spend, such as ``"1/50"``.
            error: The 95% error that the answer may have, for a single query.
            at_most: With ``error``: the largest share of the limit or allocation that it may cost.
            weights: A number for each query; the budget is divided in proportion to them.
            by: The column to group by, or several, of each query without its own.
            groups: The groups of these queries. Default: they are discovered.
            where: The condition of each query without its own. Default: all rows.
            params: The values of the parameters that ``where`` names.
            max_groups: The maximum groups per unit of each query without its own.
            max_rows: The maximum rows per unit per group of each query without its own.

        Returns:
            What ``print`` shows; ``queries`` has the SQL.

        Raises:
            InvalidParameter: If a query is invalid.

        Example:
            >>> import leastnoise as ln
            >>> from leastnoise.tables import census
            >>> people = ln.protect(census(), unit="person_id", max_rows=1, ledger=ln.UNRECORDED)
            >>> print(people.explain(ln.Count(), privacy=ln.Privacy(1)))
            Dry run: no row was read and nothing was charged.
            ...
        """
        common = CommonArguments.of(
            by=by,
            groups=groups,
            where=where,
            params=params,
            max_groups=max_groups,
            max_rows=max_rows,
        )
        listed = queries[0] if len(queries) == 1 else queries
        terms = self._parse_terms(privacy, share, error, at_most)
        parts = self._complete(listed if isinstance(listed, list) else queries, common)
        if terms.error is None:
            return Explanation(self._prepare(parts, terms.amount, weights), terms)
        query = find_only(parts)
        if isinstance(query, Mean):
            mean = self._aim_at_mean(query, terms, terms.error)
            return Explanation(mean.prepare_count(mean.first_exponent), terms, mean)
        with cite_largest(self.card):
            prepared, target = self._aim(query, terms, terms.error)
            check_cap(target, prepared.together, terms.at_most)
            self._check_amount(prepared)
            return Explanation(prepared, terms)

    def _parse_terms(
        self,
        privacy: Privacy | None,
        share: Number | None,
        error: Number | None,
        at_most: Number | None,
        key: str | None = None,
        *,
        fresh: bool = False,
    ) -> Terms:
        self._check_open()
        amounts = {"privacy": privacy, "share": share, "error": error, "at_most": at_most}
        terms = parse_terms(self.ledger, **amounts, key=key, fresh=fresh)  # type: ignore[arg-type]
        return terms if self.card is None else limit_terms(self.card, terms)

    def _check_open(self) -> None:
        if self.closed:
            raise InvalidParameter("This protected table is closed", fix="Call protect() again.")

    def _complete(self, queries: Sequence[Query], common: CommonArguments) -> list[Query]:
        return complete_queries(queries, common, self.source, self.defaults, self.card)

    def _prepare(
        self, queries: Sequence[Query], privacy: Privacy, weights: Sequence[Number] | None = None
    ) -> PreparedRelease:
        parsed = parse_weights(weights, len(queries))
        prepared = prepare(queries, self.source, self.unit, privacy, parsed)
        self._check_amount(prepared)
        return prepared

    def _check_amount(self, prepared: PreparedRelease) -> None:
        if self.card is not None:
            check_amount(self.card, prepared, self.ledger)

    def _reach_error(self, query: Query, terms: Terms, error: Fraction, how: "How") -> TableResult:
        """Answer a query with a target error."""
        if isinstance(query, Mean):
            mean = self._aim_at_mean(query, terms, error)
            recording = {"key": how.key, "fresh": how.fresh, "allow_exact": how.allow_exact}
            return release_mean(mean, check_recorded(self.ledger), **recording)  # type: ignore[arg-type]
        prepared, target = self._aim(query, terms, error)
        if not how.is_charged(prepared, self.ledger):
            check_cap(target, prepared.together, terms.at_most)
        self._check_amount(prepared)
        try:
            (answer,) = how.release(prepared, self.ledger)
        except BudgetExceeded as failure:
            raise target.add_advice(failure) from None
        return answer

    def _aim(
        self, query: Query, terms: Terms, error: Fraction
    ) -> tuple[PreparedRelease, TargetError]:
        """Prepare a query for a target error; also return the errors of other amounts."""
        planned = plan_query(query, self.source, self.unit)
        target = aim(planned, error, terms.limit)
        amount = find_amount(planned, target, terms.at_most)
        return prepare([query], self.source, self.unit, amount), target

    def _aim_at_mean(self, query: Mean, terms: Terms, error: Fraction) -> MeanTarget:
        check_recorded(self.ledger)
        assert terms.limit is not None  # noqa: S101 -- for mypy: there is a ledger
        most = Fraction(1) if terms.at_most is None else terms.at_most
        return MeanTarget(self.source, self.unit, query, error, terms.limit, most)

    def close(self) -> None:
        """Close what :func:`protect` opened: engine of a file, connection, ledger of a card."""
        self.source.close()
        if (
            self.card is not None
            and self.card.ledger is not None
            and isinstance(self.ledger, Ledger)
        ):
            self.ledger.close()
        object.__setattr__(self, "closed", True)

    def __enter__(self) -> "ProtectedTable":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        """Print the source and the unit, and no data."""
        who = "every row" if self.unit.column is None else f"{self.unit.column!r}"
        return f"ProtectedTable({self.source.name}, unit: {who}, {self.unit.neighbors})"


for _query in QUERIES.values():
    _query.load()  # raises here, at once, if a query lacks a part
