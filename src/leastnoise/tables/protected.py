"""``protect``: a table of people in, numbers that may be published out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

from leastnoise.core.exact import Number, parse_count, quote
from leastnoise.core.privacy import Privacy
from leastnoise.errors import InvalidParameter, Words
from leastnoise.ledger import Ledger, Unrecorded, check_ledger, check_name
from leastnoise.tables.bounding import ADD_REMOVE
from leastnoise.tables.queries.query import Unit, check_groupable
from leastnoise.tables.queries.question import Question
from leastnoise.tables.registration import QUERIES, Bounds, QueryMethods, Shared
from leastnoise.tables.release import Explanation, PreparedRelease, TableResult, prepare, release
from leastnoise.tables.sources import Source, open_source


def protect(
    source: object,
    *,
    unit: str | None,
    ledger: Ledger | Unrecorded,
    max_rows: int | None = None,
    neighbours: str = ADD_REMOVE,
    table: str | None = None,
    name: str | None = None,
    version: str | None = None,
) -> "Protected":
    """Protect a table: name the privacy unit, and the ledger that records spending.

    No data is read: columns are looked up in its schema.

    In a CSV file, one line is one row, also inside of quotes. If quoted fields can contain line
    breaks, convert the file first, for instance to Parquet: a person who writes free text could
    otherwise write lines that count as other units.

    Args:
        source: A path or glob of CSV or Parquet files; a pandas or polars frame or an Arrow table;
            an Ibis table on DuckDB, PostgreSQL or Spark; or ``"postgresql://…"`` with ``table``.
        unit: The column that names the privacy unit, for instance a person. None declares that
            every row is a unit: then nobody may have two rows.
        ledger: Where releases are charged and stored; ``UNRECORDED`` to go without.
        max_rows: The maximum rows per unit per group. Of a unit with more, a count counts as many;
            a sum adds all of them up and clips the total to what as many rows can add; a mean
            counts as many, each with the average of all of them. Every answer says so. It must be
            given with a column of units, and omitted without one.
        neighbours: Which tables are neighboring: ``"add_remove"`` with one unit more or less,
            ``"replace"`` with another unit in its place.
        table: The name of the table, with a connection string.
        name: What the data is called. Answers print it. A ledger returns a stored answer only for
            the same name and version. Data in memory must have a name if there is a ledger.
            Default: for a file its absolute path, of which answers print the last part; for a table
            its server, database, schema and name, of which they print the last.
        version: The version of the data, such as ``"2026-11"``. Give a new one when the data at the
            same place has changed, for answers about the new data. Default: none.

    Raises:
        InvalidParameter: If an argument breaks a rule, or data in memory has a ledger and no name.
        Unsupported: If this version cannot read such a source, or a library is missing.
    """
    check_ledger(
        ledger, "Open one with Ledger('people.ledger', limit=…), or give leastnoise.UNRECORDED."
    )
    who = Unit(unit, _parse_max_rows(unit, max_rows), neighbours)
    for what, text in (("name", name), ("version", version)):
        if text is not None:
            check_name(text, what)
    opened = open_source(source, table, name=name, version=version)
    try:
        if unit is not None:
            check_groupable(unit, opened.kind(unit, "a unit"), "the column of units")
        if opened.place is None and isinstance(ledger, Ledger):
            raise InvalidParameter(
                "name must be given for data in memory and temporary tables if a ledger stores "
                "answers, which are returned again for the same name, got none. Give for instance "
                "name='people', and another name for other data."
            )
    except BaseException:
        opened.close()
        raise
    return Protected(opened, who, ledger)


@dataclass(frozen=True, repr=False)
class Protected(QueryMethods):
    """A table that releases noisy answers only. Made by :func:`protect`."""

    source: Source
    unit: Unit
    ledger: Ledger | Unrecorded
    closed: bool = False

    if TYPE_CHECKING:
        # The registration gives these methods, with all arguments in their signatures. Type
        # checkers read them here; tests/tables/test_registration.py holds the two together.

        def count(self, *, privacy: Privacy, **shared: Unpack[Shared]) -> Any:
            """Count rows (:class:`Count`, :meth:`ask`)."""

        def sum(
            self, column: str, *, bounds: Bounds, privacy: Privacy, **shared: Unpack[Shared]
        ) -> Any:
            """Add up a column between bounds (:class:`Sum`, :meth:`ask`)."""

        def mean(
            self, column: str, *, bounds: Bounds, privacy: Privacy, **shared: Unpack[Shared]
        ) -> Any:
            """Return the mean of a column, with the count and the sum it is made of (:class:`Mean`)."""  # noqa: E501

        def histogram(
            self,
            column: str,
            *,
            edges: Sequence[Number],
            privacy: Privacy,
            **shared: Unpack[Shared],
        ) -> Any:
            """Count the rows in each range of a column (:class:`Histogram`, :meth:`ask`)."""

        def quantile(
            self,
            column: str,
            share: Number,
            *,
            bounds: Bounds,
            privacy: Privacy,
            cells: int = 1024,
            interval: Number | None = None,
            **shared: Unpack[Shared],
        ) -> Any:
            """Return between which values a share of the rows is reached (:class:`Quantile`)."""

        def median(
            self,
            column: str,
            *,
            bounds: Bounds,
            privacy: Privacy,
            cells: int = 1024,
            interval: Number | None = None,
            **shared: Unpack[Shared],
        ) -> Any:
            """Return between which values half of the rows is reached (:class:`Quantile`)."""

    def ask(
        self,
        questions: Sequence[Question],
        *,
        privacy: Privacy,
        key: str | None = None,
        fresh: bool = False,
        allow_exact: bool = False,
    ) -> list[TableResult]:
        """Answer several questions together, under one guarantee and one ledger entry.

        Args:
            questions: What is asked, for instance ``[Count(), Sum("income", bounds=(0, 9))]``.
            privacy: The total guarantee for one unit.
            key: The key in the ledger. Default: made of the questions, the guarantee and the noise.
                If you repeat a key, the stored answers are returned and cost nothing.
            fresh: Whether to charge and draw again under a key that has answers.
            allow_exact: Whether to accept noise that releases exact values with some probability.

        Raises:
            InvalidParameter: If a question makes no sense; nothing is charged.
            BudgetExceeded: If the remaining budget is too small; nothing is charged.
            QueryFailed: If the engine fails; the charge stands.
        """
        if not isinstance(questions, tuple | list):
            raise InvalidParameter(
                f"questions must be a list, got {quote(questions)}. Give for instance [Count()]."
            )
        prepared = self._prepare(questions, privacy)
        return release(prepared, self.ledger, key=key, fresh=fresh, allow_exact=allow_exact)

    def explain(self, *questions: Question, privacy: Privacy) -> Explanation:
        """Return the queries, sensitivities, noise and price of questions.

        No data is read, and nothing is charged.
        """
        listed = questions[0] if len(questions) == 1 else questions
        return Explanation(
            self._prepare(listed if isinstance(listed, list) else questions, privacy)
        )

    def _prepare(self, questions: Sequence[Question], privacy: Privacy) -> PreparedRelease:
        if self.closed:
            raise InvalidParameter(
                "a table must be open to be asked, got one that was closed. Protect it again."
            )
        return prepare(questions, self.source, self.unit, privacy)

    def close(self) -> None:
        """Close what :func:`protect` opened: the engine of a file, or a database connection."""
        self.source.close()
        object.__setattr__(self, "closed", True)

    def __enter__(self) -> "Protected":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        """Print the source and the unit, and no data."""
        who = "every row" if self.unit.column is None else f"{self.unit.column!r}"
        return f"Protected({self.source.name}, unit: {who}, {self.unit.neighbours})"


def _parse_max_rows(unit: object, max_rows: int | None) -> int:
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
            f"unit must be the name of a column, or None if every row is a unit, "
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


for _query in QUERIES.values():
    _query.load()  # raises here, at once, if a query lacks a part
