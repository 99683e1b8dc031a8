"""The nodes of conditions and of column expressions: frozen, and printed as canonical text.

Two texts that differ only in spaces, in the case of keywords, in redundant brackets or in the
spelling of a number have the same nodes, and the text of a node parses as the same node again.
"""

import re
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

# For every number, exactly one of an operator and its opposite is true.
SIGNS = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
# For every value, exactly one of these and its opposite is true; "is null" also for NULL.
_WORDS = {"in": "not in", "between": "not between", "like": "not like", "is null": "is not null"}
OPPOSITES = SIGNS | _WORDS | {opposite: words for words, opposite in _WORDS.items()}
RESERVED = frozenset(("and", "between", "date", "false", "in", "is", "not", "null", "or", "true"))
# The parts of a date, and of a time; the last one is of times only.
PARTS = ("year", "quarter", "month", "week", "weekday", "day", "hour")
# How tightly the operators of arithmetic bind.
BINDING = {"+": 1, "-": 1, "*": 2, "/": 2}
_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Literal:
    """A literal value.

    Attributes:
        kind: "number", "text", "boolean", "date" or "timestamp", because True equals 1 in Python.
        value: A Decimal (without trailing zeros), str, bool, date, or datetime without a time zone.
    """

    kind: str
    value: Decimal | str | bool | date

    def __str__(self) -> str:
        match self.value:
            case Decimal():
                return _number(self.value)
            case bool():
                return "true" if self.value else "false"
            case str():
                return "'" + self.value.replace("'", "''") + "'"
            case datetime():
                return f"timestamp '{self.value.isoformat(' ')}'"
            case day:
                return f"date '{day.isoformat()}'"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table, by its name."""

    name: str

    def __str__(self) -> str:
        return _name(self.name)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a date or a time.

    Attributes:
        part: One of PARTS.
        value: A column, or another expression whose kind is a date.
    """

    part: str
    value: "Value"

    def __str__(self) -> str:
        return f"{self.part}({self.value})"


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """The sum, difference, product or quotient of two numbers.

    Attributes:
        operator: One of BINDING.
        left: A column expression, or a number.
        right: A column expression, or a number; of a quotient always a number that is not 0.
    """

    operator: str
    left: "Value | Literal"
    right: "Value | Literal"

    def __str__(self) -> str:
        # Operators of equal binding are computed from the left, so one on the right needs brackets.
        binding = BINDING[self.operator]
        left = _bracket(self.left, binding)
        return f"{left} {self.operator} {_bracket(self.right, binding + 1)}"


Value = Column | Part | Arithmetic


class Condition:
    """The base of the nodes that are true or false: they are joined by ``&``, ``|`` and ``~``."""

    __slots__ = ()

    def __and__(self, other: "Condition") -> "Node":
        return self._join("and", other)

    def __or__(self, other: "Condition") -> "Node":
        return self._join("or", other)

    def __invert__(self) -> "Node":
        assert isinstance(self, Node)  # noqa: S101 -- for mypy
        return Not(self)

    def __bool__(self) -> bool:
        raise TypeError(
            "a condition is neither true nor false here; join conditions by &, | and ~, "
            "with brackets around each, and write between() instead of a < col < b"
        )

    def _join(self, word: str, other: "Condition") -> "Node":
        if not isinstance(self, Node) or not isinstance(other, Node):
            raise TypeError(
                f"a condition must be joined with a condition, not {type(other).__name__}"
            )
        return join_nodes(word, [self, other])


@dataclass(frozen=True, slots=True)
class Comparison(Condition):
    """A column or an expression, compared with values of one kind or with another one.

    Attributes:
        column: The name of a column, or an expression.
        operator: One of OPPOSITES.
        values: For "is null" none, for "between" two, for "in" one or more, else one. Only a value
            after a sign may be a column or an expression.
    """

    column: str | Value
    operator: str
    values: tuple[Literal | Value, ...] = ()

    def __str__(self) -> str:
        column = _name(self.column) if isinstance(self.column, str) else str(self.column)
        if self.operator in ("in", "not in"):
            return f"{column} {self.operator} ({', '.join(map(str, self.values))})"
        values = " and ".join(map(str, self.values))
        return f"{column} {self.operator} {values}".rstrip()


@dataclass(frozen=True, slots=True)
class Not(Condition):
    """The negation of a node; NULL if the node is NULL."""

    term: "Node"

    def __str__(self) -> str:
        return f"not ({self.term})" if isinstance(self.term, Joined) else f"not {self.term}"


@dataclass(frozen=True, slots=True)
class Joined(Condition):
    """All ("and") or any ("or") of at least two nodes, none of which is joined by the same word."""

    word: str
    terms: tuple["Node", ...]

    def __str__(self) -> str:
        # "and" binds more tightly, so only an "or" within it needs brackets.
        any_of = (isinstance(term, Joined) and term.word == "or" for term in self.terms)
        parts = zip(self.terms, any_of, strict=True)
        return f" {self.word} ".join(f"({term})" if inner else str(term) for term, inner in parts)


Node = Comparison | Not | Joined


def join_nodes(word: str, terms: list[Node]) -> Node:
    """Join nodes, without redundant brackets."""
    flat = list[Node]()
    for term in terms:
        flat.extend(term.terms if isinstance(term, Joined) and term.word == word else (term,))
    return flat[0] if len(flat) == 1 else Joined(word, tuple(flat))


def comparisons(node: Node) -> list[Comparison]:
    """Return the comparisons of a node, from left to right."""
    match node:
        case Joined(_, terms):
            return [comparison for term in terms for comparison in comparisons(term)]
        case Not(term):
            return comparisons(term)
        case _:
            return [node]


def columns_of(node: Value | Literal) -> list[str]:
    """Return the names of the columns of an expression, from left to right."""
    match node:
        case Column(name):
            return [name]
        case Part(_, value):
            return columns_of(value)
        case Arithmetic(_, left, right):
            return columns_of(left) + columns_of(right)
        case _:
            return []


def _bracket(operand: Value | Literal, binding: int) -> str:
    """Write an operand, in brackets if it binds less tightly."""
    loose = isinstance(operand, Arithmetic) and BINDING[operand.operator] < binding
    return f"({operand})" if loose else str(operand)


def _name(column: str) -> str:
    if _BARE.fullmatch(column) and column.lower() not in RESERVED:
        return column
    return '"' + column.replace('"', '""') + '"'


def _number(number: Decimal) -> str:
    """Write a decimal in full near 1, with an exponent far from it."""
    if -7 <= number.adjusted() < 20:
        return f"{number:f}"
    return f"{number:e}".replace("e+", "e")
