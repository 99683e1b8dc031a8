"""``protect``: a table of people in, numbers that may be published out."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from leastnoise.core.exact import Number, parse_count, quote
from leastnoise.core.privacy import Privacy
from leastnoise.errors import InvalidParameter, Words
from leastnoise.ledger import Ledger, Unrecorded
from leastnoise.tables.bounding import ADD_REMOVE, REPLACE
from leastnoise.tables.query import Unit, nameable
from leastnoise.tables.questions import Count, Histogram, Mean, Quantile, Question, Sum
from leastnoise.tables.release import Explanation, Priced, Result, answered, priced
from leastnoise.tables.sources import Source, opened

Columns = str | Sequence[str]

_NEIGHBOURS = (ADD_REMOVE, REPLACE)


def protect(
    source: object,
    *,
    unit: str | None,
    ledger: Ledger | Unrecorded,
    max_rows: int | None = None,
    neighbours: str = ADD_REMOVE,
    table: str | None = None,
) -> "Protected":
    """Say whose table it is, who is a unit in it, and where what is spent is recorded.

    Nothing of the data is read: columns are looked up in its schema.

    Args:
        source: A path or glob of CSV or Parquet files; a pandas or polars frame or an Arrow table;
            an Ibis table on DuckDB, PostgreSQL or Spark; or ``"postgresql://…"`` with ``table``.
        unit: The column that names whom the promise is for, a person for instance. None says that
            every row is a unit: then nobody may have two rows.
        ledger: Where releases are charged and stored; ``UNRECORDED`` to go without.
        max_rows: How many rows of a unit count in a group: who has more counts for no more than so
            many can. It must be given with a column of units, and left out without.
        neighbours: What the promise compares: ``"add_remove"`` a table with one unit more or less,
            ``"replace"`` a table with another unit in its place.
        table: The name of the table, with a connection string.
    """
    if neighbours not in _NEIGHBOURS:
        raise InvalidParameter(
            f"neighbours must be one of {', '.join(_NEIGHBOURS)}; got {quote(neighbours)}. "
            "Choose whether a unit is added or removed, or replaced."
        )
    if not isinstance(ledger, Ledger | Unrecorded):
        raise InvalidParameter(
            f"ledger must be a Ledger, or UNRECORDED to go without; got {quote(ledger)}. "
            "Open one with Ledger('people.ledger', limit=…), or give leastnoise.UNRECORDED."
        )
    rows = _rows(unit, max_rows)
    found = opened(source, table)
    if unit is not None:
        nameable(unit, found.kind(unit, "a unit"), "the column of units")
    return Protected(found, Unit(unit, rows, neighbours), ledger)


@dataclass(frozen=True, repr=False)
class Protected:
    """A table that only noisy answers leave. Made by :func:`protect`."""

    source: Source
    unit: Unit
    ledger: Ledger | Unrecorded
    closed: bool = False

    def count(
        self,
        *,
        privacy: Privacy,
        by: Columns = (),
        keys: Iterable[Any] | None = None,
        where: str | None = None,
        max_groups: int = 1,
        key: str | None = None,
        fresh: bool = False,
        allow_exact: bool = False,
    ) -> Any:
        """Count rows (:class:`Count`, :meth:`ask`)."""
        asked = Count(by=by, keys=keys, where=where, max_groups=max_groups)
        return self._one(asked, privacy, key, fresh, allow_exact)

    def sum(
        self,
        column: str,
        *,
        bounds: tuple[Number, Number],
        privacy: Privacy,
        by: Columns = (),
        keys: Iterable[Any] | None = None,
        where: str | None = None,
        max_groups: int = 1,
        key: str | None = None,
        fresh: bool = False,
        allow_exact: bool = False,
    ) -> Any:
        """Add up a column between bounds (:class:`Sum`, :meth:`ask`)."""
        asked = Sum(column, bounds=bounds, by=by, keys=keys, where=where, max_groups=max_groups)
        return self._one(asked, privacy, key, fresh, allow_exact)

    def mean(
        self,
        column: str,
        *,
        bounds: tuple[Number, Number],
        privacy: Privacy,
        by: Columns = (),
        keys: Iterable[Any] | None = None,
        where: str | None = None,
        max_groups: int = 1,
        key: str | None = None,
        fresh: bool = False,
        allow_exact: bool = False,
    ) -> Any:
        """Return the mean of a column, with the count and the sum it is made of (:class:`Mean`)."""
        asked = Mean(column, bounds=bounds, by=by, keys=keys, where=where, max_groups=max_groups)
        return self._one(asked, privacy, key, fresh, allow_exact)

    def histogram(
        self,
        column: str,
        *,
        edges: Sequence[Number],
        privacy: Privacy,
        by: Columns = (),
        keys: Iterable[Any] | None = None,
        where: str | None = None,
        max_groups: int = 1,
        key: str | None = None,
        fresh: bool = False,
        allow_exact: bool = False,
    ) -> Any:
        """Count the rows in each range of a column (:class:`Histogram`, :meth:`ask`)."""
        asked = Histogram(column, edges=edges, by=by, keys=keys, where=where, max_groups=max_groups)
        return self._one(asked, privacy, key, fresh, allow_exact)

    def quantile(
        self,
        column: str,
        share: Number,
        *,
        bounds: tuple[Number, Number],
        privacy: Privacy,
        cells: int = 1024,
        by: Columns = (),
        keys: Iterable[Any] | None = None,
        where: str | None = None,
        key: str | None = None,
        fresh: bool = False,
        allow_exact: bool = False,
    ) -> Any:
        """Return between which values a share of the rows is reached (:class:`Quantile`)."""
        asked = Quantile(column, share, bounds=bounds, cells=cells, by=by, keys=keys, where=where)
        return self._one(asked, privacy, key, fresh, allow_exact)

    def median(
        self,
        column: str,
        *,
        bounds: tuple[Number, Number],
        privacy: Privacy,
        cells: int = 1024,
        by: Columns = (),
        keys: Iterable[Any] | None = None,
        where: str | None = None,
        key: str | None = None,
        fresh: bool = False,
        allow_exact: bool = False,
    ) -> Any:
        """Return between which values half of the rows is reached (:class:`Quantile`)."""
        asked = Quantile(column, bounds=bounds, cells=cells, by=by, keys=keys, where=where)
        return self._one(asked, privacy, key, fresh, allow_exact)

    def ask(
        self,
        questions: Sequence[Question],
        *,
        privacy: Privacy,
        key: str | None = None,
        fresh: bool = False,
        allow_exact: bool = False,
    ) -> list[Result]:
        """Answer several questions together: one promise for all of them, one ledger entry.

        Args:
            questions: What is asked, for instance ``[Count(), Sum("income", bounds=(0, 9))]``.
            privacy: What one unit is promised of all answers together.
            key: What they are called in the ledger. Left out, the questions themselves, the promise
                and the noise are: asked again, the stored answers come back and cost nothing.
            fresh: Whether to charge and draw again under a key that has answers.
            allow_exact: Say that exact values may leave, where a noise needs that.

        Raises:
            InvalidParameter: Before anything is charged, if a question makes no sense.
            BudgetExceeded: If the ledger has not enough left; nothing is charged.
            QueryFailed: If the engine fails; what was charged stays charged.
        """
        found = self._priced(_listed(questions), privacy)
        return answered(found, self.ledger, key=key, fresh=fresh, allow_exact=allow_exact)

    def explain(self, *questions: Question, privacy: Privacy) -> Explanation:
        """Say what would be asked, of whom it would be promised what, and its price.

        The data is not touched, and nothing is charged.
        """
        listed = questions[0] if len(questions) == 1 else questions
        return Explanation(self._priced(listed if isinstance(listed, list) else questions, privacy))

    def _priced(self, questions: Sequence[Question], privacy: Privacy) -> Priced:
        if self.closed:
            raise InvalidParameter(
                "a table must be open to be asked; got one that was closed. Protect it again."
            )
        return priced(questions, self.source, self.unit, privacy)

    def close(self) -> None:
        """Close what :func:`protect` opened: a file's engine, or a database's connection."""
        self.source.close()
        object.__setattr__(self, "closed", True)

    def __enter__(self) -> "Protected":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _one(
        self, asked: Question, privacy: Privacy, key: str | None, fresh: bool, allow_exact: bool
    ) -> Any:
        """Answer one question."""
        return self.ask([asked], privacy=privacy, key=key, fresh=fresh, allow_exact=allow_exact)[0]

    def __repr__(self) -> str:
        """Say what it is, and nothing that is in it."""
        who = "every row" if self.unit.column is None else f"{self.unit.column!r}"
        return f"Protected({self.source.name}, unit: {who}, {self.unit.neighbours})"


def _listed(questions: object) -> Sequence[Question]:
    if isinstance(questions, tuple | list):
        return questions
    raise InvalidParameter(
        f"questions must be a list; got {quote(questions)}. Give for instance [Count()]."
    )


def _rows(unit: object, max_rows: int | None) -> int:
    if unit is None:
        if max_rows not in (None, 1):
            raise InvalidParameter(
                "where every row is a unit, one row of it counts",
                got="max_rows without a column of units",
                fix="Give " + Words("unit=", "--unit") + ", or leave it out.",
            )
        return 1
    if not isinstance(unit, str):
        raise InvalidParameter(
            f"unit must be the name of a column, or None if every row is a unit; "
            f"got {quote(unit)}. Name the column that tells people apart."
        )
    if max_rows is None:
        raise InvalidParameter(
            "max_rows must say how many rows of a unit count in a group",
            got="none",
            fix="Give "
            + Words("max_rows=1", "--max-rows 1")
            + " if everyone has one row, or as many as most have: more means more noise.",
        )
    return parse_count(max_rows, "max_rows", least=1)
