"""From a question to a query that is not yet asked, and to what one unit can change in its result.

Everything here is public: columns are looked up in the table's schema, rows are not.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from typing import Any

from leastnoise.errors import InvalidParameter
from leastnoise.planning import Wanted
from leastnoise.tables.bounding import Bounding, Lattice, Reach, Summed, among
from leastnoise.tables.budget import Kind
from leastnoise.tables.keys import Key, keys_fit
from leastnoise.tables.questions import Histogram, Mean, Quantile, Question, Sum
from leastnoise.tables.sources import Source
from leastnoise.tables.where import Comparison, Literal, Missing, truth

_NAMEABLE = ("integer", "text", "boolean", "date")
_NUMBERS = ("integer", "real", "decimal")
# More keys than this are not written into a query; what is not among them is left out afterwards.
_MOST_WRITTEN = 1000
# Whole-number sums up to this sensitivity are released on the integers; the optimum on the line is
# as good beyond it.
_LARGEST_WHOLE = 64


@dataclass(frozen=True)
class Unit:
    """Whom a promise is for, and how much of one counts.

    Attributes:
        column: The column that names units; None where a row is a unit.
        rows: How many rows of a unit count in a group.
        neighbours: Whether tables are compared with one unit more or less, or another one.
    """

    column: str | None
    rows: int
    neighbours: str


@dataclass(frozen=True, repr=False)
class Rows:
    """Which rows are asked about, and by which groups: what questions can have in common.

    Attributes:
        bounding: How much of a unit counts.
        table: The rows, as an Ibis expression.
        by: What makes a group.
        keys: The groups that count in the engine; None for all.
        words: What all of that is, in public words.
    """

    bounding: Bounding
    table: Any
    by: dict[str, Any]
    keys: tuple[Key, ...] | None
    words: str

    def __repr__(self) -> str:
        """Say nothing of the table."""
        return f"Rows({self.words})"

    def query(self, *, count: bool, sums: Sequence[Summed]) -> Any:
        """Return a query: a row for each group, of its key and of whole numbers."""
        return self.bounding.query(
            self.table, self.by, keys=self.keys, count=count, sums=list(sums)
        )


@dataclass(frozen=True, repr=False)
class Prepared:
    """A question with its query, not yet asked.

    Attributes:
        question: The question.
        rows: Which rows it asks about.
        counted: Whether rows are counted.
        summed: What is added up, if anything is.
        by: What the columns of keys are called in the answer.
        keys: The groups that are answered; None if they are discovered. One empty key without by.
        kinds: The numbers that are released for a group.
        threshold: The largest number of rows that one unit can have in a group.
        lattice: Of a column that is added up or ordered.
    """

    question: Question
    rows: Rows
    counted: bool
    summed: Summed | None
    by: tuple[str, ...]
    keys: tuple[Key, ...] | None
    kinds: tuple[Kind, ...]
    threshold: int
    lattice: Lattice | None

    def __repr__(self) -> str:
        """Say what is asked; Ibis, asked for its own, might show records."""
        return f"Prepared({self.question.title})"

    @property
    def query(self) -> Any:
        """The query of this question alone."""
        sums = [] if self.summed is None else [self.summed]
        return self.rows.query(count=self.counted, sums=sums)

    @property
    def discovered(self) -> bool:
        """Whether groups are discovered: then the first kind is the count that decides it."""
        return self.keys is None


def prepared(question: Question, source: Source, unit: Unit) -> Prepared:
    """Return the query of a question and what one unit can change in it."""
    if not isinstance(question, Question):
        raise InvalidParameter(
            "a question must be a Count, Sum, Mean, Histogram or Quantile; got one of type "
            f"{type(question).__name__}. Make one, or call count, sum, mean, …"
        )
    _check(question, source)
    table = source.table
    if question.where is not None:
        table = table.filter(question.where.expression(source, table))
    if isinstance(question, Histogram):
        return _histogram(question, source, unit, table)
    if isinstance(question, Quantile):
        return _quantile(question, source, unit, table)
    if isinstance(question, Mean):
        return _mean(question, source, unit, table)
    if isinstance(question, Sum):
        return _sum(question, source, unit, table)
    return _count(question, source, unit, table)


def _check(question: Question, source: Source) -> None:
    """Refuse columns that are missing or hold something else."""
    kinds = tuple(source.kind(name, "a group") for name in question.by)
    for name, kind in zip(question.by, kinds, strict=True):
        nameable(name, kind, "a column to group by")
    if question.keys is not None:
        keys_fit(question.keys, question.by, kinds)
    if question.where is not None:
        question.where.check(source)
    if isinstance(question, Sum | Histogram):
        kind = source.kind(question.column, "a column of numbers")
        truths = isinstance(question, Sum) and kind == "boolean"
        if kind not in _NUMBERS and not truths and not source.text:
            raise InvalidParameter(
                "a column of numbers must hold integers, floats or decimals, or truth values to be "
                f"added up; got {question.column!r}, of kind {kind}. Choose another, or convert "
                'it: objects of pandas by astype("Float64").'
            )


def nameable(name: str, kind: str, what: str) -> None:
    """Refuse a column whose values cannot name a unit or a group the same way on all engines."""
    if kind not in _NAMEABLE:
        raise InvalidParameter(
            f"{what} must hold whole numbers, texts, truth values or dates; got {name!r}, of kind "
            f"{kind}. Choose another, or convert it: times to dates, numbers to integers, objects "
            'of pandas by astype("string").'
        )


def _count(question: Question, source: Source, unit: Unit, table: Any) -> Prepared:
    kinds = (_counted(_reach(question, unit), discovered=_discovered(question)),)
    rows = _rows(question, source, unit, table)
    keys = _keys(question)
    return Prepared(question, rows, True, None, question.by, keys, kinds, unit.rows, None)


def _sum(question: Sum, source: Source, unit: Unit, table: Any) -> Prepared:
    discovered = _discovered(question)
    whole = source.kind(question.column, "a column of numbers") in ("integer", "boolean")
    # So fine that what rounding adds up to stays far below the noise, of 10¹² rows too.
    lattice = Lattice.between(question.bounds, whole=whole, steps=1 << 40)
    index = lattice.index(source.number(question.column), source.engine)
    summed = Summed(index, lattice.low, lattice.high)
    reach = _reach(question, unit)
    moved = reach.sum(summed.low, summed.high) * lattice.step
    integer = lattice.step == 1 and moved <= _LARGEST_WHOLE
    kinds = [Kind(Wanted("sum", sensitivity=moved, integer=integer), reach.touched)]
    if discovered:
        kinds.insert(0, _counted(reach, discovered=True))
    rows, keys = _rows(question, source, unit, table), _keys(question)
    return Prepared(
        question, rows, discovered, summed, question.by, keys, tuple(kinds), unit.rows, lattice
    )


def _mean(question: Mean, source: Source, unit: Unit, table: Any) -> Prepared:
    # About 2²⁰ steps, so that sums of a unit's rows are doubles, and averages the same everywhere.
    lattice = Lattice.between(question.bounds, whole=False)
    index = lattice.index(source.number(question.column), source.engine) - lattice.middle
    low, high = lattice.low - lattice.middle, lattice.high - lattice.middle
    summed = Summed(index, low, high, averaged=True)
    reach = _reach(question, unit)
    moved = reach.sum(low, high) * lattice.step
    counted = _counted(reach, discovered=_discovered(question))
    kinds = (counted, Kind(Wanted("sum", sensitivity=moved), reach.touched))
    rows = _rows(question, source, unit, _known(table, question.column, source))
    keys = _keys(question)
    return Prepared(question, rows, True, summed, question.by, keys, kinds, unit.rows, lattice)


def _quantile(question: Quantile, source: Source, unit: Unit, table: Any) -> Prepared:
    lattice = Lattice.between(question.bounds, whole=False)
    table = _among(_known(table, question.column, source), question)
    index = lattice.index(source.number(question.column), source.engine)
    cell = {_CELL: _cell(index, lattice, question.cells)}
    reach = _reach(question, unit)
    steps = (question.cells - 1).bit_length()
    moved = reach.rank(question.share.numerator, question.share.denominator)
    kinds = [Kind(Wanted("comparison", sensitivity=moved, integer=True), steps * reach.touched)]
    if _discovered(question):
        kinds.insert(0, _counted(reach, discovered=True))
    rows, keys = _rows(question, source, unit, table, cell), _keys(question)
    return Prepared(question, rows, True, None, question.by, keys, tuple(kinds), unit.rows, lattice)


def _histogram(question: Histogram, source: Source, unit: Unit, table: Any) -> Prepared:
    table = _among(table, question)
    rows = _rows(question, source, unit, table, {_CELL: _range(question, source, table)})
    kinds = (_counted(_reach(question, unit, grouped=True)),)
    cells = range(len(question.edges) - 1)
    keys = tuple((*key, cell) for key, cell in product(_keys(question) or ((),), cells))
    by = (*question.by, question.column)
    return Prepared(question, rows, True, None, by, keys, kinds, unit.rows, None)


def _rows(
    question: Question,
    source: Source,
    unit: Unit,
    table: Any,
    cell: dict[str, Any] | None = None,
) -> Rows:
    """Return which rows a question asks about.

    The words are the salt of the choice of groups: two questions about the same rows by the same
    groups choose the same, so that a sum fits its count.
    """
    left_out = () if isinstance(question, Mean) or cell else ("ask", "column", "bounds")
    words = json.dumps(
        {name: said for name, said in question.to_dict().items() if name not in left_out},
        sort_keys=True,
    )
    bounding = Bounding(
        unit=unit.column,
        rows=unit.rows,
        groups=question.max_groups,
        salt=hashlib.sha256(words.encode()).hexdigest()[:32],
        engine=source.engine,
    )
    by = {f"{_GROUP}{i}": table[name] for i, name in enumerate(question.by)}
    keys = None if cell else _written(question.keys)
    return Rows(bounding, table, by | (cell or {}), keys, words)


def _cell(index: Any, lattice: Lattice, cells: int) -> Any:
    """Return in which cell of equal width an index lies; the last holds its upper end, too."""
    import ibis

    place = ((index - lattice.low) * cells) // (lattice.high - lattice.low)
    last = ibis.literal(cells - 1, "int64")
    return ibis.cases((place > last, last), else_=place).cast("int64")


def _range(question: Histogram, source: Source, table: Any) -> Any:
    """Return in which range a row lies, NULL if in none; compared as ``where`` compares."""
    import ibis

    def at(sign: str, edge: Decimal) -> Any:
        return truth(Comparison(question.column, sign, Literal("number", edge)), source, table)

    def of(number: int) -> Any:
        return ibis.literal(number, "int64")

    *starts, end = question.edges
    cases = [(at(">", end), ibis.null("int64"))]
    cases += [(at(">=", start), of(i)) for i, start in enumerate(starts)][::-1]
    return ibis.cases(*cases, else_=ibis.null("int64"))


def _known(table: Any, column: str, source: Source) -> Any:
    """Leave out the rows without a value: NULL, NaN, and texts that are no number."""
    if not source.text:
        return table.filter(truth(Missing(column, negated=True), source, table))
    value = source.number(column)
    return table.filter(value.notnull() & ~value.isnan())


def _among(table: Any, question: Question) -> Any:
    """Leave out the rows of groups that were not asked for, where a group has several parts."""
    keys = _written(question.keys)
    if keys is None:
        return table
    return table.filter(among([table[name] for name in question.by], keys))


def _counted(reach: Reach, *, discovered: bool = False) -> Kind:
    """Return the count of a group; of bounded noise where it decides what is shown."""
    family = "canonical" if discovered else None
    wanted = Wanted("count", sensitivity=reach.count, integer=True, family=family)
    return Kind(wanted, reach.touched)


def _reach(question: Question, unit: Unit, *, grouped: bool = False) -> Reach:
    """Return what one unit can do."""
    return Reach(
        rows=unit.rows,
        neighbours=unit.neighbours,
        groups=question.max_groups if unit.column is not None else 1,
        grouped=bool(question.by) or grouped,
    )


def _discovered(question: Question) -> bool:
    return bool(question.by) and question.keys is None


def _keys(question: Question) -> tuple[Key, ...] | None:
    """Return the groups to answer for: the one there is without by, the given ones, or None."""
    return question.keys if question.by else ((),)


def _written(keys: tuple[Key, ...] | None) -> tuple[Key, ...] | None:
    return keys if keys is not None and len(keys) <= _MOST_WRITTEN else None


# What the columns of a query are called: nothing that a table has.
_GROUP, _CELL = "leastnoise_g", "leastnoise_c"
