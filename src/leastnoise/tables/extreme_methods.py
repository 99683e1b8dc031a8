"""The methods ``min`` and ``max``, with their types and documentation."""

from typing import overload

from leastnoise.core.exact import Number
from leastnoise.core.privacy import Privacy
from leastnoise.tables.answering import Answering
from leastnoise.tables.answers import GroupedAnswers
from leastnoise.tables.keys import Groups
from leastnoise.tables.queries.extreme import Max, Min
from leastnoise.tables.queries.extreme_answer import ExtremeAnswer
from leastnoise.tables.table_query import Bounds, ColumnName, Columns
from leastnoise.tables.where import Node, Parameters


class ExtremeMethods(Answering):
    """The queries for the ends of all values; :class:`ProtectedTable` inherits them."""

    @overload
    def min(
        self,
        column: ColumnName,
        *,
        bounds: Bounds | None = None,
        privacy: Privacy | None = None,
        share: Number | None = None,
        error: Number | None = None,
        at_most: Number | None = None,
        bins: int = 1024,
        where: str | Node | None = None,
        params: Parameters | None = None,
        max_rows: int | None = None,
        key: str | None = None,
        fresh: bool = False,
        allow_exact: bool = False,
    ) -> ExtremeAnswer: ...

    @overload
    def min(
        self,
        column: ColumnName,
        *,
        bounds: Bounds | None = None,
        privacy: Privacy | None = None,
        share: Number | None = None,
        error: Number | None = None,
        at_most: Number | None = None,
        by: Columns,
        bins: int = 1024,
        groups: Groups | None = None,
        where: str | Node | None = None,
        params: Parameters | None = None,
        max_groups: int | None = None,
        max_rows: int | None = None,
        key: str | None = None,
        fresh: bool = False,
        allow_exact: bool = False,
    ) -> GroupedAnswers[ExtremeAnswer]: ...

    def min(
        self,
        column: ColumnName,
        *,
        bounds: Bounds | None = None,
        privacy: Privacy | None = None,
        share: Number | None = None,
        error: Number | None = None,
        at_most: Number | None = None,
        bins: int = 1024,
        by: Columns = (),
        groups: Groups | None = None,
        where: str | Node | None = None,
        params: Parameters | None = None,
        max_groups: int | None = None,
        max_rows: int | None = None,
        key: str | None = None,
        fresh: bool = False,
        allow_exact: bool = False,
    ) -> ExtremeAnswer | GroupedAnswers[ExtremeAnswer]:
        """Find the approximate minimum of a column: a bin with few rows below it.

        The minimum itself is the value of one row, which no private answer can be. The answer is a
        bin of a public grid, and states how many rows may lie below it. Rows without a value are
        omitted.

        Args:
            column: The column of numbers.
            bounds: The clipping bounds, the lower one first. Values outside are clipped. Choose
                them without looking at the table: they are public. Default: those of the card.
            privacy: The guarantee for one unit. Exactly one of ``privacy``, ``share`` and ``error``
                is required.
            share: The share of the ledger's limit or allocation to spend, such as ``"1/50"``.
            error: The number of rows that may lie below the bin, with 95% confidence. It costs as
                little as possible, and the answer states how much.
            at_most: With ``error``: the largest share of the limit or allocation that it may cost.
                Default: all of it.
            bins: The number of bins between the bounds; the answer is one of them. Default: 1024.
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
            The bin, and how many rows may lie below it. With ``by``, an answer for each group.

        Raises:
            InvalidParameter: If an argument is invalid; nothing is charged.
            BudgetExceeded: If too little budget remains; nothing is charged.
            QueryFailed: If the engine fails; the charge stands.

        Example:
            >>> import leastnoise as ln
            >>> from leastnoise.tables import census
            >>> people = ln.protect(census(), unit="person_id", max_rows=1, ledger=ln.UNRECORDED)
            >>> youngest = people.min("age", bounds=(0, 120), privacy=ln.Privacy(1))
            >>> 0 <= youngest.value < 30
            True
        """
        query = Min(
            column,
            bounds=bounds,
            bins=bins,
            by=by,
            groups=groups,
            where=where,
            params=params,
            max_groups=max_groups,
            max_rows=max_rows,
        )
        return self._answer(
            ExtremeAnswer,
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
    def max(
        self,
        column: ColumnName,
        *,
        bounds: Bounds | None = None,
        privacy: Privacy | None = None,
        share: Number | None = None,
        error: Number | None = None,
        at_most: Number | None = None,
        bins: int = 1024,
        where: str | Node | None = None,
        params: Parameters | None = None,
        max_rows: int | None = None,
        key: str | None = None,
        fresh: bool = False,
        allow_exact: bool = False,
    ) -> ExtremeAnswer: ...

    @overload
    def max(
        self,
        column: ColumnName,
        *,
        bounds: Bounds | None = None,
        privacy: Privacy | None = None,
        share: Number | None = None,
        error: Number | None = None,
        at_most: Number | None = None,
        by: Columns,
        bins: int = 1024,
        groups: Groups | None = None,
        where: str | Node | None = None,
        params: Parameters | None = None,
        max_groups: int | None = None,
        max_rows: int | None = None,
        key: str | None = None,
        fresh: bool = False,
        allow_exact: bool = False,
    ) -> GroupedAnswers[ExtremeAnswer]: ...

    def max(
        self,
        column: ColumnName,
        *,
        bounds: Bounds | None = None,
        privacy: Privacy | None = None,
        share: Number | None = None,
        error: Number | None = None,
        at_most: Number | None = None,
        bins: int = 1024,
        by: Columns = (),
        groups: Groups | None = None,
        where: str | Node | None = None,
        params: Parameters | None = None,
        max_groups: int | None = None,
        max_rows: int | None = None,
        key: str | None = None,
        fresh: bool = False,
        allow_exact: bool = False,
    ) -> ExtremeAnswer | GroupedAnswers[ExtremeAnswer]:
        """Find the approximate maximum of a column: a bin with few rows above it.

        The maximum itself is the value of one row, which no private answer can be. The answer is a
        bin of a public grid, and states how many rows may lie above it. Rows without a value are
        omitted.

        Args:
            column: The column of numbers.
            bounds: The clipping bounds, the lower one first. Values outside are clipped. Choose
                them without looking at the table: they are public. Default: those of the card.
            privacy: The guarantee for one unit. Exactly one of ``privacy``, ``share`` and ``error``
                is required.
            share: The share of the ledger's limit or allocation to spend, such as ``"1/50"``.
            error: The number of rows that may lie above the bin, with 95% confidence. It costs as
                little as possible, and the answer states how much.
            at_most: With ``error``: the largest share of the limit or allocation that it may cost.
                Default: all of it.
            bins: The number of bins between the bounds; the answer is one of them. Default: 1024.
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
            The bin, and how many rows may lie above it. With ``by``, an answer for each group.

        Raises:
            InvalidParameter: If an argument is invalid; nothing is charged.
            BudgetExceeded: If too little budget remains; nothing is charged.
            QueryFailed: If the engine fails; the charge stands.

        Example:
            >>> import leastnoise as ln
            >>> from leastnoise.tables import census
            >>> people = ln.protect(census(), unit="person_id", max_rows=1, ledger=ln.UNRECORDED)
            >>> oldest = people.max("age", bounds=(0, 120), privacy=ln.Privacy(1))
            >>> 60 < oldest.value <= 120
            True
        """
        query = Max(
            column,
            bounds=bounds,
            bins=bins,
            by=by,
            groups=groups,
            where=where,
            params=params,
            max_groups=max_groups,
            max_rows=max_rows,
        )
        return self._answer(
            ExtremeAnswer,
            query,
            privacy=privacy,
            share=share,
            error=error,
            at_most=at_most,
            key=key,
            fresh=fresh,
            allow_exact=allow_exact,
        )
