"""The method ``quantile``, with its types and documentation."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar, overload

from leastnoise.core.exact import Number
from leastnoise.core.privacy import Privacy
from leastnoise.deprecation import renamed_arguments
from leastnoise.tables.answering import Answering
from leastnoise.tables.answers import GroupedAnswers
from leastnoise.tables.keys import Groups
from leastnoise.tables.queries.quantile import Quantile
from leastnoise.tables.queries.quantile_answer import IntervalQuantileAnswer, QuantileAnswer
from leastnoise.tables.table_query import Bounds, ColumnName, Columns
from leastnoise.tables.where import Node, Parameters

# The place of q among the positional arguments of a method, after self and the column.
_Q_PLACE = 2

P = ParamSpec("P")
R = TypeVar("R")


def _accept_old_share(function: Callable[P, R]) -> Callable[P, R]:
    """Let ``share`` be the old name of ``q`` beside a guarantee, which no share of a limit is."""
    old = renamed_arguments(share="q")(function)

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        known = len(args) > _Q_PLACE or "q" in kwargs
        return (
            function(*args, **kwargs) if known or "privacy" not in kwargs else old(*args, **kwargs)
        )

    return call


class QuantileMethods(Answering):
    """The query for any quantile; :class:`ProtectedTable` inherits it."""

    @overload
    def quantile(
        self,
        column: ColumnName,
        q: Number,
        *,
        bounds: Bounds | None = None,
        privacy: Privacy | None = None,
        share: Number | None = None,
        error: Number | None = None,
        at_most: Number | None = None,
        bins: int = 1024,
        interval: None = None,
        where: str | Node | None = None,
        params: Parameters | None = None,
        max_rows: int | None = None,
        key: str | None = None,
        fresh: bool = False,
        allow_exact: bool = False,
    ) -> QuantileAnswer: ...

    @overload
    def quantile(
        self,
        column: ColumnName,
        q: Number,
        *,
        bounds: Bounds | None = None,
        privacy: Privacy | None = None,
        share: Number | None = None,
        error: Number | None = None,
        at_most: Number | None = None,
        interval: Number,
        bins: int = 1024,
        where: str | Node | None = None,
        params: Parameters | None = None,
        max_rows: int | None = None,
        key: str | None = None,
        fresh: bool = False,
        allow_exact: bool = False,
    ) -> IntervalQuantileAnswer: ...

    @overload
    def quantile(
        self,
        column: ColumnName,
        q: Number,
        *,
        bounds: Bounds | None = None,
        privacy: Privacy | None = None,
        share: Number | None = None,
        error: Number | None = None,
        at_most: Number | None = None,
        by: Columns,
        bins: int = 1024,
        interval: None = None,
        groups: Groups | None = None,
        where: str | Node | None = None,
        params: Parameters | None = None,
        max_groups: int | None = None,
        max_rows: int | None = None,
        key: str | None = None,
        fresh: bool = False,
        allow_exact: bool = False,
    ) -> GroupedAnswers[QuantileAnswer]: ...

    @overload
    def quantile(
        self,
        column: ColumnName,
        q: Number,
        *,
        bounds: Bounds | None = None,
        privacy: Privacy | None = None,
        share: Number | None = None,
        error: Number | None = None,
        at_most: Number | None = None,
        by: Columns,
        interval: Number,
        bins: int = 1024,
        groups: Groups | None = None,
        where: str | Node | None = None,
        params: Parameters | None = None,
        max_groups: int | None = None,
        max_rows: int | None = None,
        key: str | None = None,
        fresh: bool = False,
        allow_exact: bool = False,
    ) -> GroupedAnswers[IntervalQuantileAnswer]: ...

    @_accept_old_share
    @renamed_arguments(keys="groups", cells="bins")
    def quantile(
        self,
        column: ColumnName,
        q: Number,
        *,
        bounds: Bounds | None = None,
        privacy: Privacy | None = None,
        share: Number | None = None,
        error: Number | None = None,
        at_most: Number | None = None,
        bins: int = 1024,
        interval: Number | None = None,
        by: Columns = (),
        groups: Groups | None = None,
        where: str | Node | None = None,
        params: Parameters | None = None,
        max_groups: int | None = None,
        max_rows: int | None = None,
        key: str | None = None,
        fresh: bool = False,
        allow_exact: bool = False,
    ) -> QuantileAnswer | GroupedAnswers[QuantileAnswer]:
        """Find a quantile of a column.

        Rows without a value are omitted. The answer is a bin of a public grid; how far its rank can
        be off is known.

        Args:
            column: The column of numbers.
            q: The share of rows below the value, above 0 and below 1.
            bounds: The clipping bounds, the lower one first. Values outside are clipped. Choose
                them without looking at the table: they are public. Default: those of the card.
            privacy: The guarantee for one unit. Exactly one of ``privacy``, ``share`` and ``error``
                is required.
            share: The share of the ledger's limit or allocation to spend, such as ``"1/50"``.
            error: The 95% error of the rank that the answer may have, in rows. It costs as little
                as possible, and the answer states how much.
            at_most: With ``error``: the largest share of the limit or allocation that it may cost.
                Default: all of it.
            bins: The number of bins between the bounds; the answer is one of them. Default: 1024.
            interval: The confidence of an interval in the unit of the data, such as 0.95. It costs
                two thirds of ε. Default: no interval.
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
            The bin with its rank error; with ``interval``, also an interval for the quantile. With
            ``by``, an answer for each group.

        Raises:
            InvalidParameter: If an argument is invalid; nothing is charged.
            BudgetExceeded: If too little budget remains; nothing is charged.
            QueryFailed: If the engine fails; the charge stands.

        Example:
            >>> import leastnoise as ln
            >>> from leastnoise.tables import census
            >>> people = ln.protect(census(), unit="person_id", max_rows=1, ledger=ln.UNRECORDED)
            >>> old = people.quantile("age", 0.9, bounds=(0, 120), privacy=ln.Privacy(1))
            >>> 40 < old.value < 100
            True
        """
        query = Quantile(
            column,
            q,
            bounds=bounds,
            bins=bins,
            interval=interval,
            by=by,
            groups=groups,
            where=where,
            params=params,
            max_groups=max_groups,
            max_rows=max_rows,
        )
        return self._answer(
            QuantileAnswer,
            query,
            privacy=privacy,
            share=share,
            error=error,
            at_most=at_most,
            key=key,
            fresh=fresh,
            allow_exact=allow_exact,
        )
