"""The method ``clipped_share``, with its types and documentation."""

from typing import overload

from leastnoise.core.exact import Number
from leastnoise.core.privacy import Privacy
from leastnoise.tables.answering import Answering
from leastnoise.tables.answers import GroupedAnswers
from leastnoise.tables.keys import Groups
from leastnoise.tables.queries.clipped_share import ClippedShare
from leastnoise.tables.queries.mean_answer import MeanAnswer
from leastnoise.tables.table_query import Bounds, ColumnName, Columns
from leastnoise.tables.where import Node, Parameters


class ClippedShareMethods(Answering):
    """The query for the share of clipped values; :class:`ProtectedTable` inherits it."""

    @overload
    def clipped_share(
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
    ) -> MeanAnswer: ...

    @overload
    def clipped_share(
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
    ) -> GroupedAnswers[MeanAnswer]: ...

    def clipped_share(
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
    ) -> MeanAnswer | GroupedAnswers[MeanAnswer]:
        """Find the share of a column's values that clipping bounds change.

        A large share means that the bounds are too tight: sums and means of the clipped values are
        then far from those of the column. It costs budget, as every query does. Rows without a
        value are omitted. A unit with more than ``max_rows`` rows in a group counts as ``max_rows``
        rows, each with the share of its values that are outside.

        Args:
            column: The column of numbers.
            bounds: The clipping bounds, the lower one first: decimals. A value at an end is not
                outside. They are public. Default: those of the card.
            privacy: The guarantee for one unit. Exactly one of ``privacy``, ``share`` and ``error``
                is required.
            share: The share of the ledger's limit or allocation to spend, such as ``"1/50"``.
            error: The 95% error that every answer may have. It costs as little as possible, and the
                answer states how much.
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
            The share with its interval, both from 0 to 1, and the count and the sum from which it
            is computed. With ``by``, an answer for each group.

        Raises:
            InvalidParameter: If an argument is invalid; nothing is charged.
            BudgetExceeded: If too little budget remains; nothing is charged.
            QueryFailed: If the engine fails; the charge stands.

        Example:
            >>> import leastnoise as ln
            >>> from leastnoise.tables import census
            >>> people = ln.protect(census(), unit="person_id", max_rows=1, ledger=ln.UNRECORDED)
            >>> share = people.clipped_share("hours", bounds=(0, 40), privacy=ln.Privacy(1))
            >>> 0 < share.value < 1
            True
        """
        query = ClippedShare(
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
            MeanAnswer,
            query,
            privacy=privacy,
            share=share,
            error=error,
            at_most=at_most,
            key=key,
            fresh=fresh,
            allow_exact=allow_exact,
        )
