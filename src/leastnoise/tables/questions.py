"""What can be asked of a table: read once, and refused before anything is touched.

A question is public, all of it: bounds, edges, keys and caps are the caller's knowledge of the
world, never taken from the data.
"""

from dataclasses import dataclass, field
from decimal import Context, Decimal, Inexact, localcontext
from fractions import Fraction
from itertools import pairwise
from typing import Any

from leastnoise.core.exact import format_exact, format_ratio, parse_count, parse_rational, quote
from leastnoise.errors import InvalidParameter, Words
from leastnoise.tables.bounding import bounds_read
from leastnoise.tables.keys import keys_read, keys_written
from leastnoise.tables.where import Condition, parsed

_MOST_CELLS = 1 << 16
_MOST_EDGES = 1_001
_LONGEST_EDGE = 40


@dataclass(frozen=True, kw_only=True)
class Question:
    """What all questions have.

    Args:
        by: The columns to group by: a name, or several.
        keys: The groups that are answered, whether the table has them or not; with several columns
            tuples. Left out, groups are discovered: only those that many units share are shown.
        where: Which rows count, in the grammar of docs/tables.md: ``"age >= 18 and region = 'n'"``.
        max_groups: In how many groups a unit counts at the most; chosen by a hash, not by you.
    """

    by: Any = ()
    keys: Any = None
    where: Any = None
    max_groups: Any = 1

    def __post_init__(self) -> None:
        """Read what all questions have."""
        self._set("by", _columns(self.by))
        if self.keys is not None:
            self._set("keys", keys_read(self.keys, len(self.by)))
        if self.where is not None and not isinstance(self.where, Condition):
            self._set("where", parsed(self.where))
        self._set("max_groups", parse_count(self.max_groups, "max_groups", least=1))
        if self.max_groups != 1 and not self.by and not isinstance(self, Histogram):
            raise InvalidParameter(
                "max_groups is for answers by group",
                got="it without " + Words("by", "--by"),
                fix="Give " + Words("by=", "--by") + ", or leave it out.",
            )

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    @property
    def title(self) -> str:
        """What is asked, in a few words."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return the question for JSON: the same question, the same words."""
        written: dict[str, Any] = {"ask": type(self).__name__.lower()}
        if self.by:
            written |= {"by": list(self.by), "keys": keys_written(self.keys)}
        if self.where is not None:
            written["where"] = self.where.text
        if self.max_groups != 1:
            written["max_groups"] = self.max_groups
        return written


@dataclass(frozen=True)
class Count(Question):
    """How many rows there are.

    >>> Count(by="region", keys=["north", "south"]).title
    'count by region'
    """

    @property
    def title(self) -> str:
        """What is asked, in a few words."""
        return f"count{_by(self.by)}"


@dataclass(frozen=True)
class Sum(Question):
    """The sum of a column.

    Args:
        column: The column.
        bounds: What a value can be, the lower end first; values beyond are taken as the nearest
            end. Missing values count as the number between the bounds that is nearest to 0.
    """

    column: Any
    bounds: Any = field(kw_only=True)

    def __post_init__(self) -> None:
        """Read the question."""
        super().__post_init__()
        self._set("column", _column(self.column, "the column to add up"))
        self._set("bounds", bounds_read(self.bounds))

    @property
    def title(self) -> str:
        """What is asked, in a few words."""
        return f"{type(self).__name__.lower()} of {self.column}{_by(self.by)}"

    def to_dict(self) -> dict[str, Any]:
        """Return the question for JSON."""
        low, high = self.bounds
        of = {"column": self.column, "bounds": [format_ratio(low), format_ratio(high)]}
        return super().to_dict() | of


@dataclass(frozen=True)
class Mean(Sum):
    """The mean of a column: a count, and a sum of what values are above the middle of the bounds.

    Both are released, and both can be used. Missing values are left out.
    """


@dataclass(frozen=True)
class Quantile(Sum):
    """The value below which a share of the rows lies, on a public grid between the bounds.

    Args:
        column: The column.
        share: The share, above 0 and below 1: 0.5 for the median.
        bounds: Where the grid begins and ends; values beyond are taken as the nearest end. Missing
            values are left out.
        cells: Into how many cells of equal width the grid divides the bounds. The answer is a cell.
    """

    share: Any = "1/2"
    cells: Any = field(kw_only=True, default=1024)

    def __post_init__(self) -> None:
        """Read the question."""
        super().__post_init__()
        share = parse_rational(self.share, "the share of a quantile")
        if not 0 < share < 1:
            raise InvalidParameter(
                f"the share of a quantile must be above 0 and below 1; got {quote(self.share)}."
                " Give for instance 0.5 for the median."
            )
        if share.denominator > 1000:
            raise InvalidParameter(
                "the share of a quantile must be a ratio of whole numbers up to 1000; "
                f"got {format_exact(share)}. Round it."
            )
        cells = parse_count(self.cells, "cells", least=2)
        if cells > _MOST_CELLS:
            raise InvalidParameter(
                f"cells must be at most {_MOST_CELLS}; got {quote(self.cells)}. Give fewer."
            )
        if self.max_groups != 1:
            raise InvalidParameter(
                "for a quantile a unit counts in one group; got max_groups = "
                f"{self.max_groups}. Leave it out."
            )
        self._set("share", share)
        self._set("cells", cells)

    @property
    def title(self) -> str:
        """What is asked, in a few words."""
        what = "median" if self.share == Fraction(1, 2) else f"{format_exact(self.share)}-quantile"
        return f"{what} of {self.column}{_by(self.by)}"

    def to_dict(self) -> dict[str, Any]:
        """Return the question for JSON."""
        return super().to_dict() | {"share": format_ratio(self.share), "cells": self.cells}


@dataclass(frozen=True)
class Histogram(Question):
    """How many rows there are in each of several ranges of a column.

    Args:
        column: The column.
        edges: Where the ranges begin and end, rising. Each holds its lower edge; the last holds
            both. Rows outside of all, or without a value, are left out.
    """

    column: Any
    edges: Any = field(kw_only=True)

    def __post_init__(self) -> None:
        """Read the question."""
        super().__post_init__()
        self._set("column", _column(self.column, "the column of a histogram"))
        self._set("edges", _edges(self.edges))
        if self.column in self.by:
            raise InvalidParameter(
                "a histogram must be of a column that it is not grouped by; got the same. "
                "Leave it out of by."
            )
        if self.by and self.keys is None:
            raise InvalidParameter(
                "a histogram by group must be for given groups",
                got=Words("by without keys", "--by without --group"),
                fix=Words("Give keys=.", "Give --group."),
            )

    @property
    def title(self) -> str:
        """What is asked, in a few words."""
        return f"histogram of {self.column}{_by(self.by)}"

    @property
    def ranges(self) -> list[str]:
        """What each range is called."""
        ends = [format_exact(Fraction(edge)) for edge in self.edges]
        last = len(ends) - 2
        return [f"[{ends[i]}, {ends[i + 1]}{']' if i == last else ')'}" for i in range(last + 1)]

    def to_dict(self) -> dict[str, Any]:
        """Return the question for JSON."""
        edges = [format_ratio(Fraction(edge)) for edge in self.edges]
        return super().to_dict() | {"column": self.column, "edges": edges}


def _by(by: tuple[str, ...]) -> str:
    return f" by {', '.join(by)}" if by else ""


def _columns(by: object) -> tuple[str, ...]:
    names = (by,) if isinstance(by, str) else by
    if not isinstance(names, tuple | list):
        raise InvalidParameter(
            f"by must be the name of a column, or a list of names; got {quote(by)}. "
            'Give for instance by="region".'
        )
    read = tuple(_column(name, "a column to group by") for name in names)
    if len(set(read)) != len(read):
        raise InvalidParameter(
            "the columns to group by must be different; got one twice. Leave one out."
        )
    return read


def _column(name: object, what: str) -> str:
    if isinstance(name, str) and name:
        return name
    raise InvalidParameter(f"{what} must be a name; got {quote(name)}. Give a text.")


def _edges(edges: object) -> tuple[Decimal, ...]:
    edges = edges.tolist() if hasattr(edges, "tolist") else edges  # an array's
    if not isinstance(edges, tuple | list | range) or not 2 <= len(edges) <= _MOST_EDGES:
        raise InvalidParameter(
            f"edges must be a list of 2 to {_MOST_EDGES} rising numbers",
            got=quote(edges),
            fix="Give for instance " + Words("edges=[0, 18, 65, 120]", "--edges 0,18,65,120") + ".",
        )
    read = tuple(_decimal(parse_rational(edge, "an edge")) for edge in edges)
    if any(a >= b for a, b in pairwise(read)):
        raise InvalidParameter(
            "edges must rise; got one that is not above the one before. Sort them, and leave out "
            "what is there twice."
        )
    return read


def _decimal(edge: Fraction) -> Decimal:
    """Return an edge as the decimal it is: what conditions compare columns with."""
    with localcontext(Context(prec=_LONGEST_EDGE, traps=[Inexact])):
        try:
            return Decimal(edge.numerator) / Decimal(edge.denominator)
        except Inexact:
            raise InvalidParameter(
                f"an edge must be a decimal of at most {_LONGEST_EDGE} digits; got "
                f"{format_exact(edge)}. Round it."
            ) from None
