"""The methods ``count`` and ``histogram``, with their types and documentation."""

from collections.abc import Sequence
from typing import overload

from leastnoise.core.exact import Number
from leastnoise.core.privacy import Privacy
from leastnoise.deprecation import renamed_arguments
from leastnoise.tables.answering import Answering
from leastnoise.tables.answers import GroupedAnswers, TableNumber
from leastnoise.tables.keys import Groups
from leastnoise.tables.queries.count import Count
from leastnoise.tables.queries.histogram import Histogram
from leastnoise.tables.table_query import ColumnName, Columns, Counted
from leastnoise.tables.where import Node, Parameters


class CountMethods(Answering):
    """The queries that count rows; :class:`ProtectedTable` inherits them."""

    @overload
    def count(
        self,
        *,
        privacy: Privacy | None = None,
        share: Number | None = None,
        error: Number | None = None,
        at_most: Number | None = None,
        of: Counted = "rows",
        where: str | Node | None = None,
        params: Parameters | None = None,
        max_rows: int | None = None,
        key: str | None = None,
        fresh: bool = False,
        allow_exact: bool = False,
    ) -> TableNumber: ...

    @overload
    def count(
        self,
        *,
        privacy: Privacy | None = None,
        share: Number | None = None,
        error: Number | None = None,
        at_most: Number | None = None,
        of: Counted = "rows",
        by: Columns,
        groups: Groups | None = None,
        where: str | Node | None = None,
        params: Parameters | None = None,
        max_groups: int | None = None,
        max_rows: int | None = None,
        key: str | None = None,
        fresh: bool = False,
        allow_exact: bool = False,
    ) -> GroupedAnswers[TableNumber]: ...

    @renamed_arguments(keys="groups")
    def count(
        self,
        *,
        privacy: Privacy | None = None,
        share: Number | None = None,
        error: Number | None = None,
        at_most: Number | None = None,
        of: Counted = "rows",
        by: Columns = (),
        groups: Groups | None = None,
        where: str | Node | None = None,
        params: Parameters | None = None,
        max_groups: int | None = None,
        max_rows: int | None = None,
        key: str | None = None,
        fresh: bool = False,
        allow_exact: bool = False,
    ) -> TableNumber | GroupedAnswers[TableNumber]:
        """Count rows, or units.

        Args:
            privacy: The guarantee for one unit. Exactly one of ``privacy``, ``share`` and ``error``
                is required.
            share: The share of the ledger's limit or allocation to spend, such as ``"1/50"``.
            error: The 95% error that every answer may have. It costs as little as possible, and the
                answer states how much.
            at_most: With ``error``: the largest share of the limit or allocation that it may cost.
                Default: all of it.
            of: ``"rows"``, or ``"units"`` to count each unit once per group. Default: ``"rows"``.
            by: The column to group by, or several. Default: one answer for all rows.
            groups: The groups to answer for; tuples if ``by`` has several columns. Default: groups
                are discovered, which requires δ > 0, and small ones are hidden.
            where: The condition for rows that count, such as ``"age >= 18"`` or
                ``ln.col("age") >= 18``. Default: all rows.
            params: The values of the parameters that ``where`` names, as ``{"dest": "Oslo"}`` for
                ``"dest = :dest"``. They are not read as a part of the text.
            max_groups: The maximum groups per unit; for units in more groups, a hash picks which.
                Required if a unit can be in several groups. Default: that of the card.
            max_rows: The maximum rows per unit per group. Default: that of the table. Omit it in a
                count of units.
            key: The name of the query in the ledger. A repeated key returns the stored answer and
                spends nothing. Default: derived from the query, its guarantee and its noise.
            fresh: Whether to charge again and draw new noise under a key that has an answer.
            allow_exact: Whether to accept noise that releases the exact value with some
                probability.

        Returns:
            The count with its errors. With ``by``, an answer for each group.

        Raises:
            InvalidParameter: If an argument is invalid; nothing is charged.
            BudgetExceeded: If too little budget remains; nothing is charged.
            QueryFailed: If the engine fails; the charge stands.

        Example:
            >>> import leastnoise as ln
            >>> from leastnoise.tables import census
            >>> people = ln.protect(census(), unit="person_id", max_rows=1, ledger=ln.UNRECORDED)
            >>> 7900 < people.count(privacy=ln.Privacy(1)).value < 8100
            True
        """
        query = Count(
            of=of,
            by=by,
            groups=groups,
            where=where,
            params=params,
            max_groups=max_groups,
            max_rows=max_rows,
        )
        return self._answer(
            TableNumber,
            query,
            privacy=privacy,
            share=share,
            error=error,
            at_most=at_most,
            key=key,
            fresh=fresh,
            allow_exact=allow_exact,
        )

    @renamed_arguments(keys="groups")
    def histogram(
        self,
        column: ColumnName,
        *,
        edges: Sequence[Number] | None = None,
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
    ) -> GroupedAnswers[TableNumber]:
        """Count rows per range of a column.

        Rows outside of all ranges, or without a value, are omitted.

        Args:
            column: The column of numbers.
            edges: The ends of the ranges, in rising order. Each range includes its lower edge, the
                last one both. Default: those of the card.
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
            A count with its errors for each range, and each group if ``by`` is given.

        Raises:
            InvalidParameter: If an argument is invalid; nothing is charged.
            BudgetExceeded: If too little budget remains; nothing is charged.
            QueryFailed: If the engine fails; the charge stands.

        Example:
            >>> import leastnoise as ln
            >>> from leastnoise.tables import census
            >>> people = ln.protect(census(), unit="person_id", max_rows=1, ledger=ln.UNRECORDED)
            >>> edges = [0, 18, 65, 120]
            >>> len(people.histogram("age", edges=edges, max_groups=1, privacy=ln.Privacy(1)))
            3
        """
        query = Histogram(
            column,
            edges=edges,
            by=by,
            groups=groups,
            where=where,
            params=params,
            max_groups=max_groups,
            max_rows=max_rows,
        )
        return self._answer_by_group(
            TableNumber,
            query,
            privacy=privacy,
            share=share,
            error=error,
            at_most=at_most,
            key=key,
            fresh=fresh,
            allow_exact=allow_exact,
        )
