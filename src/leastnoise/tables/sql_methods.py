"""The methods ``sql`` and ``explain_sql``, with their types and documentation."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from leastnoise.core.exact import Number
from leastnoise.core.privacy import Privacy
from leastnoise.tables.keys import Groups
from leastnoise.tables.table_query import Bounds, Columns
from leastnoise.tables.where import Parameters

if TYPE_CHECKING:
    from leastnoise.tables.defaults import TableDefaults
    from leastnoise.tables.explanation import Explanation
    from leastnoise.tables.queries.planned_query import TableUnit
    from leastnoise.tables.queries.query import Query
    from leastnoise.tables.release import TableResult
    from leastnoise.tables.sources import Source
    from leastnoise.tables.sql import Select, SelectAnswers


class SqlMethods:
    """The queries in SQL; :class:`ProtectedTable` inherits them."""

    if TYPE_CHECKING:
        source: Source
        unit: TableUnit
        defaults: TableDefaults

        def _check_open(self) -> None: ...

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
            max_rows: int | None = None,
            key: str | None = None,
            fresh: bool = False,
            allow_exact: bool = False,
        ) -> Sequence[TableResult]:
            """Answer several queries together."""

        def explain(
            self,
            *queries: Query,
            privacy: Privacy | None = None,
            share: Number | None = None,
            error: Number | None = None,
            at_most: Number | None = None,
            weights: Sequence[Number] | None = None,
            by: Columns = (),
            max_rows: int | None = None,
        ) -> Explanation:
            """Report sensitivities, noise and expected errors of queries."""

    def sql(
        self,
        text: str,
        *,
        privacy: Privacy | None = None,
        share: Number | None = None,
        error: Number | None = None,
        at_most: Number | None = None,
        weights: Sequence[Number] | None = None,
        groups: Groups | None = None,
        max_groups: int | None = None,
        max_rows: int | None = None,
        bounds: Mapping[str, Bounds] | None = None,
        params: Parameters | None = None,
        key: str | None = None,
        fresh: bool = False,
        allow_exact: bool = False,
    ) -> "SelectAnswers":
        """Answer a SELECT with aggregates of this table, under one guarantee.

        Each aggregate becomes a query, and all are asked together. If groups are discovered, the
        first aggregate decides which groups are shown, for all. docs/sql.md has the subset of
        SQL; everything else is rejected by its name, before anything is charged.

        Args:
            text: The SQL, in which ``FROM`` names this table.
            privacy: The total guarantee for one unit. Exactly one of ``privacy``, ``share`` and
                ``error`` is required.
            share: The share of the ledger's limit or allocation to spend, such as ``"1/50"``.
            error: The 95% error that the answer may have, for a single aggregate.
            at_most: With ``error``: the largest share of the limit or allocation that it may cost.
            weights: A number for each aggregate; the budget is divided in proportion to them.
            groups: The groups to answer for; tuples in the order of the SELECT if it groups by
                several columns. Default: those of the card, or else they are discovered.
            max_groups: The maximum groups per unit. Default: that of the card.
            max_rows: The maximum rows per unit per group. Default: that of the table.
            bounds: The clipping bounds of columns, as ``{"income": (0, 200_000)}``. Default: those
                of the card.
            params: The values of the parameters that the SQL names, as ``:name``.
            key: The name of the queries in the ledger. A repeated key returns the stored answers
                and spends nothing. Default: derived from the queries, so the spelling of the SQL
                does not matter.
            fresh: Whether to charge again and draw new noise under a key that has answers.
            allow_exact: Whether to accept noise that releases exact values with some probability.

        Returns:
            One table with the columns of the SELECT.

        Raises:
            InvalidParameter: If the text or an argument is invalid; nothing is charged.
            Unsupported: If the SQL is outside of the subset; nothing is charged.
            BudgetExceeded: If too little budget remains; nothing is charged.
            QueryFailed: If the engine fails; the charge stands.

        Example:
            >>> import leastnoise as ln
            >>> from leastnoise.tables import census
            >>> people = ln.protect(
            ...     census(), unit="person_id", max_rows=1, name="people", ledger=ln.UNRECORDED)
            >>> answers = people.sql(
            ...     "SELECT COUNT(*) AS n FROM people WHERE age >= 18", privacy=ln.Privacy(1))
            >>> 0 < answers["n"].value < 8100
            True
        """
        from leastnoise.tables.sql import make_answers

        select, queries = self._read_sql(text, groups, max_groups, bounds, params)
        results = self.ask(
            queries,
            privacy=privacy,
            share=share,
            error=error,
            at_most=at_most,
            weights=weights,
            by=select.by_columns,
            max_rows=max_rows,
            key=key,
            fresh=fresh,
            allow_exact=allow_exact,
        )
        return make_answers(select, results)

    def explain_sql(
        self,
        text: str,
        *,
        privacy: Privacy | None = None,
        share: Number | None = None,
        error: Number | None = None,
        at_most: Number | None = None,
        weights: Sequence[Number] | None = None,
        groups: Groups | None = None,
        max_groups: int | None = None,
        max_rows: int | None = None,
        bounds: Mapping[str, Bounds] | None = None,
        params: Parameters | None = None,
    ) -> "Explanation":
        """Report sensitivities, noise and expected errors of a SELECT: a dry run of :meth:`sql`.

        No row is read, and nothing is charged. The arguments are those of :meth:`sql`.
        """
        select, queries = self._read_sql(text, groups, max_groups, bounds, params)
        return self.explain(
            *queries,
            privacy=privacy,
            share=share,
            error=error,
            at_most=at_most,
            weights=weights,
            by=select.by_columns,
            max_rows=max_rows,
        )

    def _read_sql(
        self,
        text: str,
        groups: Groups | None,
        max_groups: int | None,
        bounds: Mapping[str, Bounds] | None,
        params: Parameters | None,
    ) -> "tuple[Select, list[Query]]":
        """Return a SELECT and its queries."""
        from leastnoise.tables.sql import read_select  # and sqlglot with it

        self._check_open()
        select = read_select(text, self.source, self.unit, params)
        known = self.defaults.bounds
        queries = select.make_queries(
            groups=groups, max_groups=max_groups, bounds=bounds, known_bounds=known
        )
        return select, queries
