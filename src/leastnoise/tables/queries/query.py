"""``Query``, the base of all table queries.

A query is public: bounds, edges, groups and limits come from the caller, never from the data. Its
constructor checks everything that does not depend on a table.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING
from fractions import Fraction
from typing import Any, ClassVar, Self

from leastnoise.core.exact import (
    format_exact,
    format_rounded,
    parse_count,
    quote,
)
from leastnoise.deprecation import RenamedAttribute
from leastnoise.errors import InvalidParameter, QueryFailed, Words, parameter
from leastnoise.json_types import Json
from leastnoise.mechanism import AnyMechanism, as_noise, half_width
from leastnoise.tables.answers import (
    NULL_NOTE,
    USUAL,
    Statement,
    Subject,
    TableAnswer,
    TableNumber,
)
from leastnoise.tables.bounding import Contribution
from leastnoise.tables.defaults import TableDefaults
from leastnoise.tables.keys import Key, Part, check_keys, keys_to_json, parse_keys
from leastnoise.tables.queries.planned_query import (
    PlannedQuery,
    Rows,
    Unit,
    check_groupable,
)
from leastnoise.tables.released_number import ReleasedNumber
from leastnoise.tables.sources import Source
from leastnoise.tables.where import (
    Column,
    ColumnExpression,
    Node,
    check_node,
    comparisons,
    parse_condition,
    parse_expression,
)
from leastnoise.tables.where import check as check_condition

# The result of an engine: for each group its key, then integers.
Result = Sequence[tuple[Part, ...]]
# Adds noise to true numbers of one kind; for a selection, selects a candidate by the errors of all.
AddNoise = Callable[[Sequence[int]], list[int]]


@dataclass(frozen=True, kw_only=True)
class Query(ABC):
    """Base of all table queries.

    Args:
        by: The columns to group by, one name or several.
        groups: The groups to answer for, whether the table has them or not; tuples if there are
            several columns. Default: discover the groups, and show those that many units share.
        where: A condition on rows in the grammar of docs/where.md, such as
            ``"age >= 18 and region = 'n'"``. Default: all rows count.
        max_groups: Maximum groups per unit; for units in more groups, a hash picks which. It is
            required if a unit can be in several groups. Default: 1.
        max_rows: Maximum rows per unit per group. Default: that of the table.
    """

    # Whether keys are sorted, because the order of rows in a table could reveal data.
    keys_in_order: ClassVar[bool] = True
    # The fields of to_dict() that do not select rows or groups.
    selects_nothing: ClassVar[tuple[str, ...]] = ()
    # Whether the answers are by group even without ``by``.
    groups_itself: ClassVar[bool] = False
    # Whether the count that decides which discovered groups are shown is part of the answer.
    selects_by_its_count: ClassVar[bool] = True

    by: tuple[str, ...] = ()
    groups: tuple[Key, ...] | None = None
    where: Node | None = None
    max_groups: int | None = None
    max_rows: int | None = None
    # Whether an earlier query of the same release decides which groups are shown.
    _follows: bool = field(init=False, repr=False, compare=False, default=False)
    keys = RenamedAttribute[tuple[Key, ...] | None]("groups")

    def __post_init__(self) -> None:
        self._set("by", parse_columns(self.by))
        if self.groups is not None:
            self._set("groups", parse_keys(self.groups, len(self.by)))
        self._set("where", _parse_where(self.where))
        if self.max_groups is not None:
            self._set("max_groups", parse_count(self.max_groups, "max_groups", least=1))
        if self.max_rows is not None:
            self._set("max_rows", parse_count(self.max_rows, "max_rows", least=1))
        if self.groups_per_unit != 1 and not self.by and not self.groups_itself:
            raise InvalidParameter(
                Words("max_groups", "--max-groups") + " requires " + Words("by", "--by"),
                got="no column to group by",
                fix="Add "
                + Words("by=", "--by")
                + ", or omit "
                + Words("max_groups=", "--max-groups")
                + ".",
            )

    def _start(self, **fields: object) -> None:
        """Set the fields to the caller's values, and parse them.

        The ``__init__`` of a built-in query calls it. That ``__init__`` has the types that callers
        pass, while the fields have the types after parsing.
        """
        for name, value in fields.items():
            self._set(name, value)
        self.__post_init__()

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    @property
    @abstractmethod
    def title(self) -> str:
        """The query in a few words. Ledgers store it: it must never change."""

    def to_dict(self) -> Json:
        """Return the query as JSON. Ledgers store it: it must never change."""
        words: Json = {"ask": type(self).__name__.lower()}
        if self.by:
            words |= {"by": list(self.by), "keys": keys_to_json(self.groups)}
        if self.where is not None:
            words["where"] = str(self.where)
        if self.groups_per_unit != 1:
            words["max_groups"] = self.groups_per_unit
        if self.max_rows is not None:
            words["max_rows"] = self.max_rows
        return words

    def selection_words(self) -> Json:
        """Return the fields of :meth:`to_dict` that select groups.

        Queries with equal words, equal rows and an equal ``max_rows`` read the table together.
        """
        omitted = ("where", "max_rows", *self.selects_nothing)
        return {name: word for name, word in self.to_dict().items() if name not in omitted}

    def find_max_rows(self, of_table: int | None) -> int | None:
        """Return the rows per unit per group: its own, or those of its table if it states none."""
        return of_table if self.max_rows is None else self.max_rows

    def complete(self, defaults: TableDefaults) -> Self:
        """Return the query with the defaults of its table in place of what it omits.

        A query that states bounds or edges keeps them. Without groups, it is answered for those
        of the defaults; if a column has none there, groups are discovered.

        Raises:
            InvalidParameter: If neither the query nor the defaults state what it needs.
        """
        groups = defaults.list_groups(self.by) if self.groups is None else None
        query = self if groups is None else replace(self, groups=groups)
        grouped = bool(query.by) or query.groups_itself
        if query.max_groups is not None or defaults.max_groups is None or not grouped:
            return query
        # A unit is in no more groups than there are.
        most = [defaults.max_groups]
        if query.answered_groups is not None:
            most.append(len(query.answered_groups))
        return replace(query, max_groups=min(most))

    def check(self, source: Source) -> None:
        """Reject columns that the table does not have, or whose kind does not fit."""
        kinds = tuple(source.kind(name) for name in self.by)
        for name, kind in zip(self.by, kinds, strict=True):
            check_groupable(name, kind, "a column to group by")
        if self.groups is not None:
            check_keys(self.groups, self.by, kinds)
        if self.where is not None:
            check_condition(self.where, source)

    @abstractmethod
    def plan(self, rows: Rows) -> PlannedQuery:
        """Return the plan: the rows that count, the sums and the released numbers."""

    def add_noise(
        self, result: Result, keys: Sequence[Key], noise: Sequence[AddNoise], threshold: int | None
    ) -> list[tuple[int, ...]]:
        """Return the noisy numbers of each group, an empty tuple for a hidden group.

        True numbers must be released through ``noise`` alone, each through its own function. A
        query overrides this method if it does not release the numbers that the engine returns.

        Args:
            result: For each group its key, then an integer for each number.
            keys: The groups.
            noise: For each number of the query, the function that adds its noise.
            threshold: The count that a shown group exceeds; None if all groups are shown.
        """
        columns = len(keys[0]) if keys else 0
        groups: dict[Key, tuple[Any, ...]] = {row[:columns]: row[columns:] for row in result}
        if len(groups) != len(result):
            raise QueryFailed(
                "The engine returned a group twice. The charge stands",
                fix="Check the column names of the table.",
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
        """Return an answer for each group: its last noisy number.

        A query overrides this method if its answer has several numbers or another class.

        Args:
            numbers: The noisy numbers of each group, from :meth:`add_noise`.
            mechanisms: The mechanism of each number.
            statement: The subject, guarantees and receipt that all answers share.
        """
        last = as_noise(mechanisms[-1])
        return [TableNumber(own[-1], last, statement) for own in numbers]

    def subject(self, rows: Rows, hidden_up_to: int | None = None) -> Subject:
        """Return the subject of the answers; ``hidden_up_to`` as in :class:`Subject`."""
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
            table_notes=source.notes,
            hidden_up_to=hidden_up_to,
            selected=self.selects_by_its_count,
        )
        if unit.column is None:
            return subject
        return replace(subject, contributions=self.contributions(subject))

    @abstractmethod
    def contributions(self, subject: Subject) -> str:
        """Return the contribution bounds as a phrase, with how a unit beyond them counts.

        It is called only if a column names units. ``subject`` has the bounds and their phrases.
        """

    @property
    def statistic(self) -> str:
        """The name of the printed column of values."""
        return "value"

    @property
    def clipping_bounds(self) -> tuple[Fraction, Fraction] | None:
        """The clipping bounds of values; None if no value is clipped."""
        return None

    def omitted(self, unit: Unit) -> tuple[str, ...]:
        """Return a phrase for each rule that omits rows."""
        without = [*([] if unit.column is None else [unit.column]), *self.by]
        phrases = [f"rows without {' or '.join(dict.fromkeys(without))}"] if without else []
        if self.by and self.groups is not None:
            phrases.append("rows of other groups")
        if self.where is not None:
            phrases.append(f"rows for which {self.where} is not true")
        return tuple(phrases)

    def notes(self, rows: Rows) -> tuple[str, ...]:
        """Return sentences about how values are read."""
        asked = comparisons(self.where) if self.where is not None else []
        missing = [each.column for each in asked if each.operator.endswith("null")]
        return (NULL_NOTE,) if any(map(rows.source.is_text, missing)) else ()

    def plan_notes(self) -> tuple[str, ...]:
        """Return phrases about the released numbers, for a dry run."""
        return ()

    def result_errors(
        self,
        mechanisms: Sequence[AnyMechanism],  # noqa: ARG002 -- for queries with a computed result
    ) -> tuple[str, ...]:
        """Return phrases about the error of a result that is computed from the numbers."""
        return ()

    def expected_error(self, number: ReleasedNumber, mechanism: AnyMechanism) -> tuple[str, str]:
        """Return the sensitivity and the 95% error of a number, for a dry run."""
        error = half_width(as_noise(mechanism), USUAL)
        return format_exact(number.sensitivity), f"± {format_rounded(error, 4, ROUND_CEILING)}"

    def answer_error(self, mechanisms: Sequence[AnyMechanism]) -> Fraction:
        """Return the 95% error of each answer, given the mechanism of each number.

        A query overrides this method if its answer is not its last number.
        """
        return half_width(as_noise(mechanisms[-1]), USUAL)

    def name_keys(self, keys: tuple[Key, ...]) -> tuple[Key, ...]:
        """Return the keys as they are printed."""
        return keys

    # ------------------------------------------------- properties and methods that plan() uses

    @property
    def makes_numbers(self) -> bool:
        """Whether the query computes its released numbers itself, by its own ``add_noise``."""
        return type(self).add_noise is not Query.add_noise

    @property
    def discovered(self) -> bool:
        """Whether groups are discovered from the data, by a noisy count of this query."""
        return bool(self.by) and self.groups is None and not self._follows

    @property
    def follows(self) -> bool:
        """Whether groups are discovered by an earlier query of the same release."""
        return self._follows

    def follow(self) -> Self:
        """Return the query with the groups that an earlier query of its release discovers."""
        query = copy(self)
        query._set("_follows", True)
        return query

    @property
    def groups_per_unit(self) -> int:
        """Maximum groups per unit."""
        return 1 if self.max_groups is None else self.max_groups

    def several_groups(self, unit: Unit) -> bool:
        """Return whether a unit can be in several groups, by the declared unit and groups."""
        grouped = bool(self.by) or self.groups_itself
        groups = self.answered_groups
        return unit.column is not None and grouped and (groups is None or len(groups) > 1)

    @property
    def key_columns(self) -> tuple[str, ...]:
        """The names of the key columns of the answer."""
        return self.by

    @property
    def answered_groups(self) -> tuple[Key, ...] | None:
        """The groups to answer for; without ``by`` the empty key; None if groups are discovered."""
        return self.groups if self.by else ((),)

    def contribution(self, unit: Unit) -> Contribution:
        """Return the contribution of one unit, which determines sensitivities."""
        return Contribution(
            rows=unit.max_rows,
            neighbors=unit.neighbors,
            groups=self.groups_per_unit if unit.column is not None else 1,
            grouped=bool(self.by) or self.groups_itself,
        )

    def group_count(self, unit: Unit) -> ReleasedNumber:
        """Return the count of a group, with bounded noise if it decides which groups are shown."""
        contribution = self.contribution(unit)
        return ReleasedNumber(
            name="count",
            shift=contribution.count,
            step=Fraction(1),
            touched=contribution.touched,
            integer=True,
            family="canonical" if self.discovered else None,
        )

    def deciding_count(self, unit: Unit) -> tuple[ReleasedNumber, ...]:
        """Return the count that decides which groups are shown; empty for public groups."""
        return (self.group_count(unit),) if self.discovered else ()


def make_title(what: str, by: tuple[str, ...]) -> str:
    """Return a title with the columns to group by."""
    return f"{what} by {', '.join(by)}" if by else what


def parse_column(name: object, what: str) -> str:
    """Return the name of a column or the text of an expression.

    ``what`` describes the column in an error.
    """
    if isinstance(name, str) and name:
        return name
    if isinstance(name, ColumnExpression):
        node = name.node
        return node.name if isinstance(node, Column) else str(parse_expression(str(node)))
    raise InvalidParameter(
        f"{what} must be a name", got=quote(name), fix="Write the name of a column."
    )


def _parse_where(where: Any) -> Node | None:
    if where is None:
        return None
    return check_node(where) if isinstance(where, Node) else parse_condition(where)


def parse_columns(by: object) -> tuple[str, ...]:
    """Return the names of the columns to group by, from one name or several."""
    names = (by,) if isinstance(by, str | ColumnExpression) else by
    if not isinstance(names, tuple | list):
        raise InvalidParameter(
            parameter("by") + " must be the name of a column, or a list of names",
            got=quote(by),
            fix='Write, for example, by="region".',
        )
    columns = tuple(parse_column(name, "a column to group by") for name in names)
    if len(set(columns)) != len(columns):
        raise InvalidParameter(
            parameter("by") + " must name different columns",
            got="a column twice",
            fix="Name each column once.",
        )
    return columns
