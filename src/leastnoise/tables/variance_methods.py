"""The methods ``variance`` and ``std``, with their types and documentation."""

from typing import overload

from leastnoise.core.exact import Number
from leastnoise.core.privacy import Privacy
from leastnoise.tables.answering import Answering
from leastnoise.tables.answers import GroupedAnswers
from leastnoise.tables.keys import Groups
from leastnoise.tables.queries.variance import Std, Variance
from leastnoise.tables.queries.variance_answer import StdAnswer, VarianceAnswer
from leastnoise.tables.table_query import Bounds, ColumnName, Columns
from leastnoise.tables.where import Node, Parameters


class VarianceMethods(Answering):
    """The queries for the spread of values; :class:`ProtectedTable` inherits them."""

    @overload
    def variance(
        self,
        column: ColumnName,
        *,
        bounds: Bounds | None = None,
        privacy: Privacy | None = None,
        share: Number | None = None,
        error: Number | None = None,
        at_most: Number | None = None,
        where: str | Node | None = None,
        params: Parameters | None = None,
        max_rows: int | None = None,
        key: str | None = None,
        fresh: bool = False,
        allow_exact: bool = False,
    ) -> VarianceAnswer: ...

    @overload
    def variance(
        self,
        column: ColumnName,
        *,
        bounds: Bounds | None = None,
        privacy: Privacy | None = None,
        share: Number | None = None,
        error: Number | None = None,
        at_most: Number | None = None,
        by: Columns,
        groups: Groups | None = None,
        where: str | Node | None = None,
        params: Parameters | None = None,
        max_groups: int | None = None,
        max_rows: int | None = None,
        key: str | None = None,
        fresh: bool = False,
        allow_exact: bool = False,
    ) -> GroupedAnswers[VarianceAnswer]: ...

    def variance(
        self,
        column: ColumnName,
        *,
        bounds: Bounds | None = None,
        privacy: Privacy | None = None,
        share: Number | None = None,
        error: Number | None = None,
        at_most: Number | None = None,
        by: Columns = (),
        groups: Groups | None = None,
        where: str | Node | None = None,
        params: Parameters | None = None,
        max_groups: int | None = None,
        max_rows: int | None = None,
        key: str | None = None,
        fresh: bool = False,
        allow_exact: bool = False,
    ) -> VarianceAnswer | GroupedAnswers[VarianceAnswer]:
        """Compute the population variance of a column.

        It divides by the number of rows, as SQL's VAR_POP. It is computed from a count and two
        sums, which are released. Rows without a value are omitted. In a unit with more than
        ``max_rows`` rows in a group, each row has the weight ``max_rows``/rows.

        Args:
            column: The column of numbers.
            bounds: The clipping bounds, the lower one first. Values outside are clipped. Choose
                them without looking at the table: they are public. Default: those of the card.
            privacy: The guarantee for one unit. Exactly one of ``privacy``, ``share`` and ``error``
                is required.
            share: The share of the ledger's limit or allocation to spend, such as ``"1/50"``.
            error: Not possible for this query, because its error depends on the rows.
            at_most: With ``error``: the largest share of the limit or allocation that it may cost.
                Default: all of it.
            by: The column to group by, or several. Default: one answer for all rows.
            groups: The groups to answer for; tuples if ``by`` has several columns. Default: groups
                are discovered, which requires δ > 0, and small ones are hidden.
            where: The condition for rows that count, such as ``"age >= 18"`` or
                ``ln.col("age") >= 18``. Default: all rows.
            params: The values of the parameters that ``where`` names, as ``{"dest": "Oslo"}`` for
                ``"dest = :dest"``. They are not read as a part of the text.
            max_groups: The maximum groups per unit; for units in more groups, a hash picks which.
                Required if a unit can be in several groups. Default: that of the card.
            max_rows: The maximum rows per unit per group. Default: that of the table.
            key: The name of the query in the ledger. A repeated key returns the stored answer and
                spends nothing. Default: derived from the query, its guarantee and its noise.
            fresh: Whether to charge again and draw new noise under a key that has an answer.
            allow_exact: Whether to accept noise that releases the exact value with some
                probability.

        Returns:
            The variance of the clipped values with its interval, and the count and the mean. With
            ``by``, an answer for each group.

        Raises:
            InvalidParameter: If an argument is invalid; nothing is charged.
            BudgetExceeded: If too little budget remains; nothing is charged.
            QueryFailed: If the engine fails; the charge stands.

        Example:
            >>> import leastnoise as ln
            >>> from leastnoise.tables import census
            >>> people = ln.protect(census(), unit="person_id", max_rows=1, ledger=ln.UNRECORDED)
            >>> spread = people.variance("age", bounds=(0, 120), privacy=ln.Privacy(5))
            >>> 200 < spread.value < 1200
            True
        """
        query = Variance(
            column,
            bounds=bounds,
            by=by,
            groups=groups,
            where=where,
            params=params,
            max_groups=max_groups,
            max_rows=max_rows,
        )
        return self._answer(
            VarianceAnswer,
            query,
            privacy=privacy,
            share=share,
            error=error,
            at_most=at_most,
            key=key,
            fresh=fresh,
            allow_exact=allow_exact,
        )

    @overload
    def std(
        self,
        column: ColumnName,
        *,
        bounds: Bounds | None = None,
        privacy: Privacy | None = None,
        share: Number | None = None,
        error: Number | None = None,
        at_most: Number | None = None,
        where: str | Node | None = None,
        params: Parameters | None = None,
        max_rows: int | None = None,
        key: str | None = None,
        fresh: bool = False,
        allow_exact: bool = False,
    ) -> StdAnswer: ...

    @overload
    def std(
        self,
        column: ColumnName,
        *,
        bounds: Bounds | None = None,
        privacy: Privacy | None = None,
        share: Number | None = None,
        error: Number | None = None,
        at_most: Number | None = None,
        by: Columns,
        groups: Groups | None = None,
        where: str | Node | None = None,
        params: Parameters | None = None,
        max_groups: int | None = None,
        max_rows: int | None = None,
        key: str | None = None,
        fresh: bool = False,
        allow_exact: bool = False,
    ) -> GroupedAnswers[StdAnswer]: ...

    def std(
        self,
        column: ColumnName,
        *,
        bounds: Bounds | None = None,
        privacy: Privacy | None = None,
        share: Number | None = None,
        error: Number | None = None,
        at_most: Number | None = None,
        by: Columns = (),
        groups: Groups | None = None,
        where: str | Node | None = None,
        params: Parameters | None = None,
        max_groups: int | None = None,
        max_rows: int | None = None,
        key: str | None = None,
        fresh: bool = False,
        allow_exact: bool = False,
    ) -> StdAnswer | GroupedAnswers[StdAnswer]:
        """Compute the population standard deviation of a column.

        It divides by the number of rows, as SQL's STDDEV_POP. It is computed from a count and two
        sums, which are released. Rows without a value are omitted. In a unit with more than
        ``max_rows`` rows in a group, each row has the weight ``max_rows``/rows.

        Args:
            column: The column of numbers.
            bounds: The clipping bounds, the lower one first. Values outside are clipped. Choose
                them without looking at the table: they are public. Default: those of the card.
            privacy: The guarantee for one unit. Exactly one of ``privacy``, ``share`` and ``error``
                is required.
            share: The share of the ledger's limit or allocation to spend, such as ``"1/50"``.
            error: Not possible for this query, because its error depends on the rows.
            at_most: With ``error``: the largest share of the limit or allocation that it may cost.
                Default: all of it.
            by: The column to group by, or several. Default: one answer for all rows.
            groups: The groups to answer for; tuples if ``by`` has several columns. Default: groups
                are discovered, which requires δ > 0, and small ones are hidden.
            where: The condition for rows that count, such as ``"age >= 18"`` or
                ``ln.col("age") >= 18``. Default: all rows.
            params: The values of the parameters that ``where`` names, as ``{"dest": "Oslo"}`` for
                ``"dest = :dest"``. They are not read as a part of the text.
            max_groups: The maximum groups per unit; for units in more groups, a hash picks which.
                Required if a unit can be in several groups. Default: that of the card.
            max_rows: The maximum rows per unit per group. Default: that of the table.
            key: The name of the query in the ledger. A repeated key returns the stored answer and
                spends nothing. Default: derived from the query, its guarantee and its noise.
            fresh: Whether to charge again and draw new noise under a key that has an answer.
            allow_exact: Whether to accept noise that releases the exact value with some
                probability.

        Returns:
            The deviation of the clipped values with its interval, and the count and the mean. With
            ``by``, an answer for each group.

        Raises:
            InvalidParameter: If an argument is invalid; nothing is charged.
            BudgetExceeded: If too little budget remains; nothing is charged.
            QueryFailed: If the engine fails; the charge stands.

        Example:
            >>> import leastnoise as ln
            >>> from leastnoise.tables import census
            >>> people = ln.protect(census(), unit="person_id", max_rows=1, ledger=ln.UNRECORDED)
            >>> spread = people.std("age", bounds=(0, 120), privacy=ln.Privacy(5))
            >>> 14 < spread.value < 35
            True
        """
        query = Std(
            column,
            bounds=bounds,
            by=by,
            groups=groups,
            where=where,
            params=params,
            max_groups=max_groups,
            max_rows=max_rows,
        )
        return self._answer(
            StdAnswer,
            query,
            privacy=privacy,
            share=share,
            error=error,
            at_most=at_most,
            key=key,
            fresh=fresh,
            allow_exact=allow_exact,
        )
