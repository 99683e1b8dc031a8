"""A condition as frozen data: comparisons of one column, joined by and, or, not.

``str`` of a node is its canonical text. Two conditions that differ only in spaces, in the case of
keywords, in redundant brackets or in the spelling of a number have the same text, and the text
parses as the same nodes again.
"""

import re
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

EQUAL, UNEQUAL = "=", "!="
# Of two operators here exactly one is true for a number.
OPPOSITES = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
RESERVED = frozenset(
    ("and", "between", "date", "false", "in", "is", "not", "null", "or", "true"),
)
_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Literal:
    """A literal value.

    Attributes:
        kind: "number", "text", "boolean" or "date"; in Python alone True would equal 1.
        value: A Decimal (without trailing zeros), str, bool or date.
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
            case day:
                return f"date '{day.isoformat()}'"


@dataclass(frozen=True, slots=True)
class Comparison:
    """A column compared with one value, by an operator of OPPOSITES."""

    column: str
    operator: str
    value: Literal

    def __str__(self) -> str:
        return f"{_name(self.column)} {self.operator} {self.value}"


@dataclass(frozen=True, slots=True)
class Membership:
    """Whether a column is one of the values, or none of them; they are all of one kind."""

    column: str
    values: tuple[Literal, ...]
    negated: bool

    def __str__(self) -> str:
        listed = ", ".join(map(str, self.values))
        return f"{_name(self.column)} {'not ' * self.negated}in ({listed})"


@dataclass(frozen=True, slots=True)
class Between:
    """Whether a column lies between two values, both included, or outside them."""

    column: str
    low: Literal
    high: Literal
    negated: bool

    def __str__(self) -> str:
        return f"{_name(self.column)} {'not ' * self.negated}between {self.low} and {self.high}"


@dataclass(frozen=True, slots=True)
class Missing:
    """Whether a column is NULL, or is not."""

    column: str
    negated: bool

    def __str__(self) -> str:
        return f"{_name(self.column)} is {'not ' * self.negated}null"


@dataclass(frozen=True, slots=True)
class Not:
    """The negation of a node; NULL if the node is NULL."""

    term: "Node"

    def __str__(self) -> str:
        return f"not {_within(self.term, (And, Or))}"


@dataclass(frozen=True, slots=True)
class And:
    """All of at least two nodes, none of which is an And itself."""

    terms: tuple["Node", ...]

    def __str__(self) -> str:
        return " and ".join(_within(term, (Or,)) for term in self.terms)


@dataclass(frozen=True, slots=True)
class Or:
    """Any of at least two nodes, none of which is an Or itself."""

    terms: tuple["Node", ...]

    def __str__(self) -> str:
        return " or ".join(map(str, self.terms))  # and binds closer: no brackets


Leaf = Comparison | Membership | Between | Missing
Node = Leaf | Not | And | Or


def join_nodes(join: type[And] | type[Or], terms: list[Node]) -> Node:
    """Join nodes, without redundant brackets."""
    flat = list[Node]()
    for term in terms:
        flat.extend(term.terms if isinstance(term, And | Or) and type(term) is join else (term,))
    return flat[0] if len(flat) == 1 else join(tuple(flat))


def leaves(node: Node) -> list[Leaf]:
    """Return the comparisons of a node, from left to right."""
    match node:
        case And(terms) | Or(terms):
            return [leaf for term in terms for leaf in leaves(term)]
        case Not(term):
            return leaves(term)
        case _:
            return [node]


def literals(leaf: Leaf) -> tuple[Literal, ...]:
    """Return the values that a column is compared with; they are all of one kind."""
    match leaf:
        case Comparison():
            return (leaf.value,)
        case Membership():
            return leaf.values
        case Between():
            return (leaf.low, leaf.high)
        case Missing():
            return ()


def _within(node: Node, bracketed: tuple[type, ...]) -> str:
    return f"({node})" if isinstance(node, bracketed) else str(node)


def _name(column: str) -> str:
    if _BARE.fullmatch(column) and column.lower() not in RESERVED:
        return column
    return '"' + column.replace('"', '""') + '"'


def _number(number: Decimal) -> str:
    """Write a decimal in full near 1, with an exponent far from it."""
    if -7 <= number.adjusted() < 20:
        return f"{number:f}"
    return f"{number:e}".replace("e+", "e")
