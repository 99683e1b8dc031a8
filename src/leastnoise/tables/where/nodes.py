"""A condition as frozen data: comparisons of one column, joined by and, or, not.

``str`` of a node is its canonical text. Two conditions that differ only in spaces, in the case of
keywords, in redundant brackets or in the spelling of a number have the same text, and the text
parses as the same nodes again.
"""

import re
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

# Of two operators here exactly one is true for a number.
SIGNS = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
# Of these, one is true for each value, and those of NULL for NULL, too.
_WORDS = {"in": "not in", "between": "not between", "is null": "is not null"}
OPPOSITES = SIGNS | _WORDS | {opposite: words for words, opposite in _WORDS.items()}
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
    """A column compared with values, which are all of one kind.

    Attributes:
        column: The name of the column.
        operator: One of OPPOSITES.
        values: For "is null" none, for "between" two, for "in" one or more, else one.
    """

    column: str
    operator: str
    values: tuple[Literal, ...] = ()

    def __str__(self) -> str:
        if self.operator in ("in", "not in"):
            return f"{_name(self.column)} {self.operator} ({', '.join(map(str, self.values))})"
        values = " and ".join(map(str, self.values))
        return f"{_name(self.column)} {self.operator} {values}".rstrip()


@dataclass(frozen=True, slots=True)
class Not:
    """The negation of a node; NULL if the node is NULL."""

    term: "Node"

    def __str__(self) -> str:
        return f"not ({self.term})" if isinstance(self.term, Joined) else f"not {self.term}"


@dataclass(frozen=True, slots=True)
class Joined:
    """All ("and") or any ("or") of at least two nodes, none of which is joined by the same word."""

    word: str
    terms: tuple["Node", ...]

    def __str__(self) -> str:
        # "and" binds closer, so only an "or" within it needs brackets.
        any_of = (isinstance(term, Joined) and term.word == "or" for term in self.terms)
        parts = zip(self.terms, any_of, strict=True)
        return f" {self.word} ".join(f"({term})" if one else str(term) for term, one in parts)


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
            return [one for term in terms for one in comparisons(term)]
        case Not(term):
            return comparisons(term)
        case _:
            return [node]


def _name(column: str) -> str:
    if _BARE.fullmatch(column) and column.lower() not in RESERVED:
        return column
    return '"' + column.replace('"', '""') + '"'


def _number(number: Decimal) -> str:
    """Write a decimal in full near 1, with an exponent far from it."""
    if -7 <= number.adjusted() < 20:
        return f"{number:f}"
    return f"{number:e}".replace("e+", "e")
