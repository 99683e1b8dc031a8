"""The method ``estimate_bounds``, with its types and documentation."""

from typing import overload

from leastnoise.core.exact import Number
from leastnoise.core.privacy import Privacy
from leastnoise.tables.answering import Answering
from leastnoise.tables.answers import GroupedAnswers
from leastnoise.tables.keys import Groups
from leastnoise.tables.queries.bounds_answer import BoundsAnswer
from leastnoise.tables.queries.estimate_bounds import EstimateBounds
from leastnoise.tables.table_query import Bounds, ColumnName, Columns
from leastnoise.tables.where import Node, Parameters


class BoundsMethods(Answering):
    """The query for clipping bounds; :class:`ProtectedTable` inherits it."""

    @overload
    def estimate_bounds(
        self,
        column: ColumnName,
        *,
        privacy: Privacy | None = None,
        share: Number | None = None,
        error: Number | None = None,
        at_most: Number | None = None,
        bounds: Bounds | None = None,
        where: str | Node | None = None,
        params: Parameters | None = None,
        max_rows: int | None = None,
        key: str | None = None,
        fresh: bool = False,
        allow_exact: bool = False,
    ) -> BoundsAnswer: ...

    @overload
    def estimate_bounds(
        self,
        column: ColumnName,
        *,
        privacy: Privacy | None = None,
        share: Number | None = None,
        error: Number | None = None,
        at_most: Number | None = None,
        bounds: Bounds | None = None,
        by: Columns,
        groups: Groups | None = None,
        where: str | Node | None = None,
        params: Parameters | None = None,
        max_groups: int | None = None,
        max_rows: int | None = None,
        key: str | None = None,
        fresh: bool = False,
        allow_exact: bool = False,
    ) -> GroupedAnswers[BoundsAnswer]: ...

    def estimate_bounds(
        self,
        column: ColumnName,
        *,
        privacy: Privacy | None = None,
        share: Number | None = None,
        error: Number | None = None,
        at_most: Number | None = None,
        bounds: Bounds | None = None,
        by: Columns = (),
        groups: Groups | None = None,
        where: str | Node | None = None,
        params: Parameters | None = None,
        max_groups: int | None = None,
        max_rows: int | None = None,
        key: str | None = None,
        fresh: bool = False,
        allow_exact: bool = False,
    ) -> BoundsAnswer | GroupedAnswers[BoundsAnswer]:
        """Find clipping bounds of a column: round numbers with few rows outside them.

        Use it if you do not know the range of a column. The bounds are ±1, ±2, ±5, ±10, … or 0, and
        cost a part of the budget as any query does. Rows without a value are omitted.

        Args:
            column: The column of numbers.
            privacy: The guarantee for one unit. Exactly one of ``privacy``, ``share`` and ``error``
                is required.
            share: The share of the ledger's limit or allocation to spend, such as ``"1/50"``.
            error: The number of rows that may lie below the bounds, and above them, with 95%
                confidence. It costs as little as possible, and the answer states how much.
            at_most: With ``error``: the largest share of the limit or allocation that it may cost.
                Default: all of it.
            bounds: The range in which bounds are searched, from public knowledge. Default: the
                bounds of the card, else ±2⁵³.
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
            The bounds, and how many rows may lie outside them. With ``by``, an answer for each
            group.

        Raises:
            InvalidParameter: If an argument is invalid; nothing is charged.
            BudgetExceeded: If too little budget remains; nothing is charged.
            QueryFailed: If the engine fails; the charge stands.

        Example:
            >>> import leastnoise as ln
            >>> from leastnoise.tables import census
            >>> people = ln.protect(census(), unit="person_id", max_rows=1, ledger=ln.UNRECORDED)
            >>> found = people.estimate_bounds("income", privacy=ln.Privacy(1))
            >>> mean = people.mean("income", bounds=found.bounds, privacy=ln.Privacy(1))
            >>> found.low <= mean.value <= found.high
            True
        """
        query = EstimateBounds(
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
            BoundsAnswer,
            query,
            privacy=privacy,
            share=share,
            error=error,
            at_most=at_most,
            key=key,
            fresh=fresh,
            allow_exact=allow_exact,
        )
