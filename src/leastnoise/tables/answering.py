"""The part of a protected table that the methods of queries use."""

from typing import TYPE_CHECKING, TypedDict, TypeVar, Unpack

from leastnoise.core.exact import Number
from leastnoise.core.privacy import Privacy
from leastnoise.tables.answers import GroupedAnswers, TableAnswer
from leastnoise.tables.queries.query import Query

One = TypeVar("One", bound=TableAnswer)


class Amounts(TypedDict):
    """How much a query may cost, by one of these arguments; ``at_most`` belongs to ``error``."""

    privacy: Privacy | None
    share: Number | None
    error: Number | None
    at_most: Number | None


class Asked(Amounts):
    """The arguments of a method that are not those of its query."""

    key: str | None
    fresh: bool
    allow_exact: bool


class Answering:
    """Types of the methods that :class:`ProtectedTable` defines."""

    if TYPE_CHECKING:

        def _answer(
            self,
            kind: type[One],
            query: Query,
            **terms: Unpack[Asked],
        ) -> One | GroupedAnswers[One]:
            """Answer one query; ``kind`` is the type of its answers."""

        def _answer_by_group(
            self,
            kind: type[One],
            query: Query,
            **terms: Unpack[Asked],
        ) -> GroupedAnswers[One]:
            """Answer a query that always has groups."""
