"""``Question``: what all table queries have, and the parts that each one must define.

A question is public, all of it: bounds, edges, keys and limits are the caller's knowledge of the
world, never taken from the data. It is checked completely when it is made.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar

from leastnoise.core.exact import format_ratio, parse_count, quote
from leastnoise.errors import InvalidParameter, QueryFailed, Words
from leastnoise.mechanism import AnyMechanism, as_noise
from leastnoise.tables.answers import Statement, Subject, TableAnswer, TableNumber
from leastnoise.tables.bounding import Contribution, parse_bounds
from leastnoise.tables.budget import ReleasedNumber
from leastnoise.tables.keys import Key, check_keys, keys_to_json, parse_keys
from leastnoise.tables.queries.query import Query, Rows, Unit, check_groupable, check_numeric
from leastnoise.tables.sources import Source
from leastnoise.tables.where import Node, parse_condition
from leastnoise.tables.where import check as check_condition

# A result of the engine: for each group its key, then integers.
Result = Sequence[tuple[Any, ...]]
# Adds noise to true numbers of one kind; of a selection, selects by the errors of all candidates.
AddNoise = Callable[[Sequence[int]], list[int]]


@dataclass(frozen=True, kw_only=True)
class Question(ABC):
    """What all questions have.

    Args:
        by: The columns to group by: a name, or several.
        keys: The groups to answer for, whether the table has them or not; with several columns
            tuples. Default: groups are discovered, and only those that many units share are shown.
        where: Which rows count, in the grammar of docs/tables.md: ``"age >= 18 and region = 'n'"``.
        max_groups: In how many groups a unit counts; a hash chooses which. It must be given if a
            unit can be in several groups: with a column of units, and more than one group.
    """

    # The order of keys is that of the groups, which could reveal something in no other order.
    keys_in_order: ClassVar[bool] = True
    # The words of a count and of sums that do not tell which rows and groups they are about.
    selects_nothing: ClassVar[tuple[str, ...]] = ()
    # Whether the question makes groups of its own, without ``by``.
    groups_itself: ClassVar[bool] = False
    # Whether the count that decides which discovered groups are shown is a part of the answer.
    selects_by_its_count: ClassVar[bool] = True

    by: Any = ()
    keys: Any = None
    where: Any = None
    max_groups: Any = None

    def __post_init__(self) -> None:
        self._set("by", _parse_columns(self.by))
        if self.keys is not None:
            self._set("keys", parse_keys(self.keys, len(self.by)))
        if self.where is not None and not isinstance(self.where, Node):
            self._set("where", parse_condition(self.where))
        if self.max_groups is not None:
            self._set("max_groups", parse_count(self.max_groups, "max_groups", least=1))
        if self.groups_per_unit != 1 and not self.by and not self.groups_itself:
            raise InvalidParameter(
                "max_groups is for answers by group",
                got="it without " + Words("by", "--by"),
                fix="Give " + Words("by=", "--by") + ", or leave it out.",
            )

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    @property
    @abstractmethod
    def title(self) -> str:
        """What is asked, in a few words. Stored in ledgers: it must never change."""

    def to_dict(self) -> dict[str, Any]:
        """Return the question as JSON. Stored in ledgers: it must never change."""
        written: dict[str, Any] = {"ask": type(self).__name__.lower()}
        if self.by:
            written |= {"by": list(self.by), "keys": keys_to_json(self.keys)}
        if self.where is not None:
            written["where"] = str(self.where)
        if self.groups_per_unit != 1:
            written["max_groups"] = self.groups_per_unit
        return written

    def selection_words(self) -> dict[str, Any]:
        """Return which groups of which rows it is about, beside the conditions on rows.

        Two questions that agree in these and in their rows share one query.
        """
        words = self.to_dict().items()
        return {name: word for name, word in words if name not in ("where", *self.selects_nothing)}

    def check(self, source: Source) -> None:
        """Reject columns that the table does not have, or of another kind."""
        kinds = tuple(source.kind(name, "a group") for name in self.by)
        for name, kind in zip(self.by, kinds, strict=True):
            check_groupable(name, kind, "a column to group by")
        if self.keys is not None:
            check_keys(self.keys, self.by, kinds)
        if self.where is not None:
            check_condition(self.where, source)

    @abstractmethod
    def query(self, rows: Rows) -> Query:
        """Return the query: which rows count, the sums, and the numbers that are released."""

    def add_noise(
        self, result: Result, keys: Sequence[Key], noise: Sequence[AddNoise], threshold: int | None
    ) -> list[tuple[int, ...]]:
        """Return the noisy numbers of each group; none for a group that must not be shown.

        True numbers must be released through ``noise`` alone, each through its own. A question
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
            raise QueryFailed("a group must have one row in a result, got several. Mend its names.")
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

        A question overrides this if its answer consists of several numbers, or is another kind.

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
        if self.by and self.keys is not None:
            phrases.append("rows of other groups")
        if self.where is not None:
            phrases.append(f"rows for which {self.where} is not true")
        return tuple(phrases)

    def notes(self, rows: Rows) -> tuple[str, ...]:  # noqa: ARG002 -- of questions about values
        """Return sentences about how values are read."""
        return ()

    def name_keys(self, keys: tuple[Key, ...]) -> tuple[Key, ...]:
        """Return the keys as they are printed."""
        return keys

    # ------------------------------------------------------------------- for query()

    @property
    def makes_numbers(self) -> bool:
        """Whether it releases other numbers than those that the engine returns."""
        return type(self).add_noise is not Question.add_noise

    @property
    def discovered(self) -> bool:
        """Whether groups are discovered: then a count decides which are shown."""
        return bool(self.by) and self.keys is None

    @property
    def groups_per_unit(self) -> int:
        """In how many groups a unit counts."""
        return 1 if self.max_groups is None else int(self.max_groups)

    def several_groups(self, unit: Unit) -> bool:
        """Return whether a unit can be in several groups, by what is declared."""
        grouped = bool(self.by) or self.groups_itself
        groups = self.groups
        return unit.column is not None and grouped and (groups is None or len(groups) > 1)

    @property
    def key_columns(self) -> tuple[str, ...]:
        """The names of the columns of keys in the answer."""
        names: tuple[str, ...] = self.by
        return names

    @property
    def groups(self) -> tuple[Key, ...] | None:
        """The groups to answer for: one without ``by``, the given ones, or None."""
        groups: tuple[Key, ...] | None = self.keys if self.by else ((),)
        return groups

    def contribution(self, unit: Unit) -> Contribution:
        """Return what one unit can change."""
        return Contribution(
            rows=unit.max_rows,
            neighbours=unit.neighbours,
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
class BoundedQuestion(Question):
    """A question about the values of a column between bounds.

    Args:
        column: The column.
        bounds: The clipping bounds, the lower one first.
    """

    column: Any
    bounds: Any = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("column", parse_column(self.column, "the column to add up"))
        self._set("bounds", parse_bounds(self.bounds))

    def to_dict(self) -> dict[str, Any]:
        """Return the question as JSON."""
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
        low, high = self.bounds
        return low, high

    def notes(self, rows: Rows) -> tuple[str, ...]:
        """Return sentences about how values are read."""
        return note_text(rows.source)


def build_query(question: Question, source: Source, unit: Unit) -> Query:
    """Return the query of a question: what is asked, and what one unit can change in it."""
    if not isinstance(question, Question):
        raise InvalidParameter(
            "a question must be a Count, Sum, Mean, Histogram or Quantile, got one of type "
            f"{type(question).__name__}. Make one, or call count, sum, mean, …"
        )
    question.check(source)
    _check_max_groups(question, unit)
    query = question.query(Rows.where(source, unit, question.where))
    if replace(query.rows.unit, max_rows=unit.max_rows) != unit:  # fewer rows of it may count
        raise TypeError(f"{type(question).__name__} is about another privacy unit than its table")
    _check_parts(query)
    _check_shifts(query)
    _ = query.selection  # rejects here what it cannot bound
    return query


def _check_max_groups(question: Question, unit: Unit) -> None:
    """Reject a question that leaves open in how many groups a unit counts."""
    if question.max_groups is None and question.several_groups(unit):
        raise InvalidParameter(
            Words("max_groups", "--max-groups")
            + " must be given with "
            + (Words("by", "--by") if question.by else "the ranges of a histogram")
            + f": it is the number of groups in which one {unit.column} counts. Write "
            + Words("max_groups=1", "--max-groups 1")
            + " if each is in one group, or a larger number for more noise. A "
            + f"{unit.column} in more groups counts in that many of them, chosen by a hash."
        )


def _check_parts(query: Query) -> None:
    """Raise a TypeError for a query that the parts its question inherits do not fit.

    They would release a wrong number, or show groups by one; and not before it is charged.
    """
    kind, numbers, discovered = type(query.question), query.numbers, query.question.discovered
    returned = query.counted + len(query.sums)
    if not query.question.makes_numbers and returned != len(numbers):
        raise TypeError(f"{kind.__name__} lacks add_noise: its numbers are not those of a result")
    if kind.answers is Question.answers and len(numbers) > 1 + discovered:
        raise TypeError(f"{kind.__name__} lacks answers: it releases several numbers")
    if discovered and (numbers[0].step != 1 or numbers[0].shift != query.rows.unit.max_rows):
        raise TypeError(f"{kind.__name__} lacks deciding_count, the first number of its query")


def _check_shifts(query: Query) -> None:
    """Raise a TypeError for a number that one unit can change by more than its query states.

    Numbers that a question makes itself, as a quantile does, are its own to prove.
    """
    kind = type(query.question)
    if query.question.makes_numbers:
        return
    if query.cell is not None and not query.question.groups_itself:
        raise TypeError(f"{kind.__name__} lacks groups_itself: its cells are groups")
    unit_can = query.question.contribution(query.rows.unit)
    shifts = [unit_can.count] * query.counted
    shifts += [unit_can.sum(summed.low, summed.high) for summed in query.sums]
    for number, shift in zip(query.numbers, shifts, strict=True):
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
    raise InvalidParameter(f"{what} must be a name, got {quote(name)}. Give a text.")


def _parse_columns(by: object) -> tuple[str, ...]:
    names = (by,) if isinstance(by, str) else by
    if not isinstance(names, tuple | list):
        raise InvalidParameter(
            f"by must be the name of a column, or a list of names, got {quote(by)}. "
            'Give for instance by="region".'
        )
    read = tuple(parse_column(name, "a column to group by") for name in names)
    if len(set(read)) != len(read):
        raise InvalidParameter(
            "the columns to group by must be different, got one twice. Leave one out."
        )
    return read
