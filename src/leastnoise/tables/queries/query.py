"""``Query``: what all table queries have, and the parts that each one must define.

A query is public, all of it: bounds, edges, keys and limits are the caller's knowledge of the
world, never taken from the data. It is checked completely when it is made.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING
from fractions import Fraction
from typing import Any, ClassVar

from leastnoise.core.exact import (
    format_exact,
    format_ratio,
    format_rounded,
    parse_count,
    quote,
)
from leastnoise.deprecation import RenamedAttribute
from leastnoise.errors import InvalidParameter, QueryFailed, Words
from leastnoise.mechanism import AnyMechanism, as_noise, half_width
from leastnoise.tables.answers import USUAL, Statement, Subject, TableAnswer, TableNumber
from leastnoise.tables.bounding import Contribution, parse_bounds
from leastnoise.tables.budget import ReleasedNumber
from leastnoise.tables.keys import Key, check_keys, keys_to_json, parse_keys
from leastnoise.tables.queries.planned_query import (
    PlannedQuery,
    Rows,
    Unit,
    check_groupable,
    check_numeric,
)
from leastnoise.tables.sources import Source
from leastnoise.tables.where import Node, parse_condition
from leastnoise.tables.where import check as check_condition

# A result of the engine: for each group its key, then integers.
Result = Sequence[tuple[Any, ...]]
# Adds noise to true numbers of one kind; of a selection, selects by the errors of all candidates.
AddNoise = Callable[[Sequence[int]], list[int]]


@dataclass(frozen=True, kw_only=True)
class Query(ABC):
    """Base of all table queries.

    Args:
        by: The columns to group by: a name, or several.
        groups: The groups to answer for, whether the table has them or not; with several columns
            tuples. Default: groups are discovered, and only those that many units share are shown.
        where: Which rows count, in the grammar of docs/tables.md: ``"age >= 18 and region = 'n'"``.
        max_groups: In how many groups a unit counts; a hash chooses which. It must be given if a
            unit can be in several groups: with a column of units, and more than one group.
    """

    # The order of keys is that of the groups, which could reveal something in no other order.
    keys_in_order: ClassVar[bool] = True
    # The words of a count and of sums that do not tell which rows and groups they are about.
    selects_nothing: ClassVar[tuple[str, ...]] = ()
    # Whether the query makes groups of its own, without ``by``.
    groups_itself: ClassVar[bool] = False
    # Whether the count that decides which discovered groups are shown is a part of the answer.
    selects_by_its_count: ClassVar[bool] = True

    by: tuple[str, ...] = ()
    groups: tuple[Key, ...] | None = None
    where: Node | None = None
    max_groups: int | None = None
    keys = RenamedAttribute[tuple[Key, ...] | None]("groups")

    def __post_init__(self) -> None:
        self._set("by", _parse_columns(self.by))
        if self.groups is not None:
            self._set("groups", parse_keys(self.groups, len(self.by)))
        self._set("where", _parse_where(self.where))
        if self.max_groups is not None:
            self._set("max_groups", parse_count(self.max_groups, "max_groups", least=1))
        if self.groups_per_unit != 1 and not self.by and not self.groups_itself:
            raise InvalidParameter(
                Words("max_groups", "--max-groups") + " is for answers by group",
                got="it without " + Words("by", "--by"),
                fix="Add " + Words("by=", "--by") + ", or omit it.",
            )

    def _start(self, **fields: object) -> None:
        """Set the fields to what the caller gave, and parse them: for an ``__init__`` of its own.

        A built-in query has one, to state the types that callers give. Those of the fields are the
        parsed ones.
        """
        for name, value in fields.items():
            self._set(name, value)
        self.__post_init__()

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    @property
    @abstractmethod
    def title(self) -> str:
        """What is asked, in a few words. Stored in ledgers: it must never change."""

    def to_dict(self) -> dict[str, Any]:
        """Return the query as JSON. Stored in ledgers: it must never change."""
        written: dict[str, Any] = {"ask": type(self).__name__.lower()}
        if self.by:
            written |= {"by": list(self.by), "keys": keys_to_json(self.groups)}
        if self.where is not None:
            written["where"] = str(self.where)
        if self.groups_per_unit != 1:
            written["max_groups"] = self.groups_per_unit
        return written

    def selection_words(self) -> dict[str, Any]:
        """Return which groups of which rows it is about, beside the conditions on rows.

        Two queries that agree in these and in their rows share one query.
        """
        words = self.to_dict().items()
        return {name: word for name, word in words if name not in ("where", *self.selects_nothing)}

    def check(self, source: Source) -> None:
        """Reject columns that the table does not have, or of another kind."""
        kinds = tuple(source.kind(name, "a group") for name in self.by)
        for name, kind in zip(self.by, kinds, strict=True):
            check_groupable(name, kind, "a column to group by")
        if self.groups is not None:
            check_keys(self.groups, self.by, kinds)
        if self.where is not None:
            check_condition(self.where, source)

    @abstractmethod
    def plan(self, rows: Rows) -> PlannedQuery:
        """Return the query: which rows count, the sums, and the numbers that are released."""

    def add_noise(
        self, result: Result, keys: Sequence[Key], noise: Sequence[AddNoise], threshold: int | None
    ) -> list[tuple[int, ...]]:
        """Return the noisy numbers of each group; none for a group that must not be shown.

        True numbers must be released through ``noise`` alone, each through its own. A query
        overrides this if it releases other numbers than those that the engine returns.

        Args:
            result: The rows of the groups: the key, then an integer for each number.
            keys: The groups.
            noise: For each number of the query, what adds its noise.
            threshold: A group is shown if its noisy count is above; None if all are shown.
        """
        columns = len(keys[0]) if keys else 0
        groups = {row[:columns]: row[columns:] for row in result}
        if len(groups) != len(result):
            raise QueryFailed(
                "A group has several rows in the result of the engine. The charge stands",
                fix="Check the names of its columns.",
            )
        missing = (0,) * len(noise)
        figures = zip(*[groups.get(key, missing) for key in keys], strict=True)
        noisy = [add(column) for add, column in zip(noise, figures, strict=bool(keys))]
        numbers = list(zip(*noisy, strict=True))
        if threshold is None:
            return numbers
        return [own if own[0] > threshold else () for own in numbers]

    def answers(
        self,
        numbers: Sequence[tuple[int, ...]],
        mechanisms: Sequence[AnyMechanism],
        statement: Statement,
    ) -> Sequence[TableAnswer]:
        """Return an answer for each group: its one number, the last if a count decides.

        A query overrides this if its answer consists of several numbers, or is another kind.

        Args:
            numbers: What :meth:`add_noise` returned for each group.
            mechanisms: What released each number.
            statement: What all of them state: subject, guarantees and receipt.
        """
        last = as_noise(mechanisms[-1])
        return [TableNumber(own[-1], last, statement) for own in numbers]

    def subject(self, rows: Rows, hidden_up_to: int | None = None) -> Subject:
        """Return what the numbers are about; ``hidden_up_to`` as in :class:`Subject`."""
        unit, source = rows.unit, rows.source
        subject = Subject(
            title=self.title,
            statistic=self.statistic,
            unit=unit.column,
            bounds=self.clipping_bounds,
            table=source.short_name,
            version=source.version,
            max_rows=unit.max_rows,
            max_groups=self.groups_per_unit if self.several_groups(unit) else None,
            omitted=(*source.omitted, *self.omitted(unit)),
            notes=(*self.notes(rows), *source.notes),
            hidden_up_to=hidden_up_to,
            selected=self.selects_by_its_count,
        )
        if unit.column is None:
            return subject
        return replace(subject, contributions=self.contributions(subject))

    @abstractmethod
    def contributions(self, subject: Subject) -> str:
        """Return what counts of a unit with more rows or groups than may count, as a phrase.

        It is asked only where a column names units. ``subject`` has the bounds and their phrases.
        """

    @property
    def statistic(self) -> str:
        """The name of the printed column of values."""
        return "value"

    @property
    def clipping_bounds(self) -> tuple[Fraction, Fraction] | None:
        """The bounds that values are clipped to; None if no value is clipped."""
        return None

    def omitted(self, unit: Unit) -> tuple[str, ...]:
        """Return which rows do not count, a phrase for each rule."""
        without = [*([] if unit.column is None else [unit.column]), *self.by]
        phrases = [f"rows without {' or '.join(dict.fromkeys(without))}"] if without else []
        if self.by and self.groups is not None:
            phrases.append("rows of other groups")
        if self.where is not None:
            phrases.append(f"rows for which {self.where} is not true")
        return tuple(phrases)

    def notes(self, rows: Rows) -> tuple[str, ...]:  # noqa: ARG002 -- of queries about values
        """Return sentences about how values are read."""
        return ()

    def plan_notes(self) -> tuple[str, ...]:
        """Return phrases about the released numbers, for a dry run."""
        return ()

    def expected_error(self, number: ReleasedNumber, mechanism: AnyMechanism) -> tuple[str, str]:
        """Return sensitivity and 95% error of a number as a dry run prints them."""
        error = half_width(as_noise(mechanism), USUAL)
        return format_exact(number.sensitivity), f"± {format_rounded(error, 4, ROUND_CEILING)}"

    def name_keys(self, keys: tuple[Key, ...]) -> tuple[Key, ...]:
        """Return the keys as they are printed."""
        return keys

    # ------------------------------------------------------------------- for plan()

    @property
    def makes_numbers(self) -> bool:
        """Whether it releases other numbers than those that the engine returns."""
        return type(self).add_noise is not Query.add_noise

    @property
    def discovered(self) -> bool:
        """Whether groups are discovered: then a count decides which are shown."""
        return bool(self.by) and self.groups is None

    @property
    def groups_per_unit(self) -> int:
        """In how many groups a unit counts."""
        return 1 if self.max_groups is None else self.max_groups

    def several_groups(self, unit: Unit) -> bool:
        """Return whether a unit can be in several groups, by what is declared."""
        grouped = bool(self.by) or self.groups_itself
        groups = self.answered_groups
        return unit.column is not None and grouped and (groups is None or len(groups) > 1)

    @property
    def key_columns(self) -> tuple[str, ...]:
        """The names of the columns of keys in the answer."""
        return self.by

    @property
    def answered_groups(self) -> tuple[Key, ...] | None:
        """The groups to answer for: one without ``by``, the given ones, or None."""
        return self.groups if self.by else ((),)

    def contribution(self, unit: Unit) -> Contribution:
        """Return what one unit can change."""
        return Contribution(
            rows=unit.max_rows,
            neighbors=unit.neighbors,
            groups=self.groups_per_unit if unit.column is not None else 1,
            grouped=bool(self.by) or self.groups_itself,
        )

    def group_count(self, unit: Unit) -> ReleasedNumber:
        """Return the count of a group; its noise is bounded if it decides what is shown."""
        unit_can = self.contribution(unit)
        return ReleasedNumber(
            name="count",
            shift=unit_can.count,
            step=Fraction(1),
            touched=unit_can.touched,
            integer=True,
            family="canonical" if self.discovered else None,
        )

    def deciding_count(self, unit: Unit) -> tuple[ReleasedNumber, ...]:
        """Return the count that decides which groups are shown; nothing if they were given."""
        return (self.group_count(unit),) if self.discovered else ()


@dataclass(frozen=True)
class BoundedQuery(Query):
    """A query about the values of a column between bounds.

    Args:
        column: The column.
        bounds: The clipping bounds, the lower one first.
    """

    column: str
    bounds: tuple[Fraction, Fraction] = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("column", parse_column(self.column, "the column to add up"))
        self._set("bounds", parse_bounds(self.bounds))

    def to_dict(self) -> dict[str, Any]:
        """Return the query as JSON."""
        low, high = self.bounds
        return super().to_dict() | {
            "column": self.column,
            "bounds": [format_ratio(low), format_ratio(high)],
        }

    def check(self, source: Source) -> None:
        """Reject columns that the table does not have, or of another kind."""
        super().check(source)
        check_numeric(source, self.column, booleans=True)

    @property
    def clipping_bounds(self) -> tuple[Fraction, Fraction]:
        """The bounds that values are clipped to."""
        return self.bounds

    def notes(self, rows: Rows) -> tuple[str, ...]:
        """Return sentences about how values are read."""
        return note_text(rows.source)


def plan_query(query: Query, source: Source, unit: Unit) -> PlannedQuery:
    """Plan a query: which rows count, and what one unit can change in its numbers."""
    if not isinstance(query, Query):
        raise InvalidParameter(
            "a query must be a Count, Sum, Mean, Histogram or Quantile",
            got=f"an object of type {type(query).__name__}",
            fix="Write for instance [Count()].",
        )
    query.check(source)
    _check_max_groups(query, unit)
    planned = query.plan(Rows.where(source, unit, query.where))
    if replace(planned.rows.unit, max_rows=unit.max_rows) != unit:  # fewer rows of it may count
        raise TypeError(f"{type(query).__name__} is about another privacy unit than its table")
    _check_parts(planned)
    _check_shifts(planned)
    _ = planned.selection  # rejects here what it cannot bound
    return planned


def _check_max_groups(query: Query, unit: Unit) -> None:
    """Reject a query that leaves open in how many groups a unit counts."""
    if query.max_groups is None and query.several_groups(unit):
        raise InvalidParameter(
            Words("max_groups", "--max-groups")
            + " must be given with "
            + (Words("by", "--by") if query.by else "the ranges of a histogram")
            + f": it is the number of groups in which one {unit.column} counts",
            fix="Write "
            + Words("max_groups=1", "--max-groups 1")
            + " if each is in one group, or a larger number for more noise. A "
            + f"{unit.column} in more groups counts in that many of them, chosen by a hash.",
        )


def _check_parts(planned: PlannedQuery) -> None:
    """Raise a TypeError for a plan that the parts its query inherits do not fit.

    They would release a wrong number, or show groups by one; and not before it is charged.
    """
    kind, numbers, discovered = type(planned.query), planned.numbers, planned.query.discovered
    returned = planned.counted + len(planned.sums)
    if not planned.query.makes_numbers and returned != len(numbers):
        raise TypeError(f"{kind.__name__} lacks add_noise: its numbers are not those of a result")
    if kind.answers is Query.answers and len(numbers) > 1 + discovered:
        raise TypeError(f"{kind.__name__} lacks answers: it releases several numbers")
    if discovered and (numbers[0].step != 1 or numbers[0].shift != planned.rows.unit.max_rows):
        raise TypeError(f"{kind.__name__} lacks deciding_count, the first number of its query")


def _check_shifts(planned: PlannedQuery) -> None:
    """Raise a TypeError for a number that one unit can change by more than its query states.

    Numbers that a query makes itself, as a quantile does, are its own to prove.
    """
    kind = type(planned.query)
    if planned.query.makes_numbers:
        return
    if planned.cell is not None and not planned.query.groups_itself:
        raise TypeError(f"{kind.__name__} lacks groups_itself: its cells are groups")
    unit_can = planned.query.contribution(planned.rows.unit)
    shifts = [unit_can.count] * planned.counted
    shifts += [unit_can.sum(summed.low, summed.high) for summed in planned.sums]
    for number, shift in zip(planned.numbers, shifts, strict=True):
        if number.shift < shift or number.touched < unit_can.touched:
            raise TypeError(f"{kind.__name__} understates what one unit changes in {number.name}")


def make_title(what: str, by: tuple[str, ...]) -> str:
    """Return a title with its groups."""
    return f"{what} by {', '.join(by)}" if by else what


def note_text(source: Source) -> tuple[str, ...]:
    """Return a note if the source holds text, in which a value may not be a number."""
    if not source.text:
        return ()
    return ("CSV values are text; values that are not numbers are treated as missing (NULL).",)


def parse_column(name: object, what: str) -> str:
    """Return the name of a column; ``what`` says in an error what it is for."""
    if isinstance(name, str) and name:
        return name
    raise InvalidParameter(
        f"{what} must be a name", got=quote(name), fix="Write the name of a column."
    )


def _parse_where(where: Any) -> Node | None:
    return where if where is None or isinstance(where, Node) else parse_condition(where)


def _parse_columns(by: object) -> tuple[str, ...]:
    names = (by,) if isinstance(by, str) else by
    if not isinstance(names, tuple | list):
        raise InvalidParameter(
            "by must be the name of a column, or a list of names",
            got=quote(by),
            fix='Write for instance by="region".',
        )
    read = tuple(parse_column(name, "a column to group by") for name in names)
    if len(set(read)) != len(read):
        raise InvalidParameter(
            "by must name different columns", got="one twice", fix="Name each column once."
        )
    return read
