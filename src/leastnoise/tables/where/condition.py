"""Conditions: the closed grammar of ``where=``, and the nodes that a text is parsed to.

::

    condition   = conjunction { "or" conjunction }
    conjunction = term { "and" term }
    term        = "not" term | "(" condition ")" | comparison
    comparison  = column ( "=" | "!=" | "<>" | "<" | "<=" | ">" | ">=" ) value
                | column [ "not" ] "in" "(" value { "," value } ")"
                | column [ "not" ] "between" value "and" value
                | column "is" [ "not" ] "null"
    column      = a bare name, or any name in double quotes
    value       = 18 | -2.5 | 1e6 | 'text' | true | false | date '2024-02-29'

Keywords have no case, names do. Numbers are exact decimals. A quote inside quotes is written twice.
Strings and booleans have no order. Nothing outside this grammar is accepted, and nothing is
evaluated. A condition is parsed to frozen nodes, and these become an expression of typed columns
and values.

``str`` of a node is its canonical text. Two conditions that differ only in spaces, in the case of
keywords, in redundant brackets or in the spelling of a number have the same text, and the text
parses as the same nodes again.

NULL is as in SQL: a comparison with it is neither true nor false, and only rows for which the whole
condition is true count. NaN counts as NULL on every engine.
"""

import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import partial

from leastnoise.core.exact import quote
from leastnoise.errors import InvalidParameter, Words
from leastnoise.tables.where.tokens import (
    END,
    EXAMPLE,
    LONGEST,
    NAME,
    NUMBER,
    QUOTED,
    SIGN,
    TEXT,
    Token,
    make_error,
    tokens,
)

# For every number, exactly one of an operator and its opposite is true.
SIGNS = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
# For every value, exactly one of these and its opposite is true; "is null" also for NULL.
_WORDS = {"in": "not in", "between": "not between", "is null": "is not null"}
OPPOSITES = SIGNS | _WORDS | {opposite: words for words, opposite in _WORDS.items()}
RESERVED = frozenset(("and", "between", "date", "false", "in", "is", "not", "null", "or", "true"))
_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_DEEPEST = 32
_LONGEST_LIST = 1_000
_COMPARISONS = "a comparison (=, !=, <, <=, >, >=, in, between, is null)"
_VALUES = "a value (a number, 'text', true, false or date 'YYYY-MM-DD')"
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


@dataclass(frozen=True, slots=True)
class Literal:
    """A literal value.

    Attributes:
        kind: "number", "text", "boolean" or "date", because True equals 1 in Python.
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
        # "and" binds more tightly, so only an "or" within it needs brackets.
        any_of = (isinstance(term, Joined) and term.word == "or" for term in self.terms)
        parts = zip(self.terms, any_of, strict=True)
        return f" {self.word} ".join(f"({term})" if inner else str(term) for term, inner in parts)


Node = Comparison | Not | Joined


def parse_condition(text: str) -> Node:
    """Parse a condition.

    Raises:
        InvalidParameter: For a text outside the grammar, with the place, the token there and
            what is expected. It quotes the condition and nothing else.

    >>> str(parse_condition("AGE>=18.0 And ((region = 'north'))"))
    "AGE >= 18 and region = 'north'"
    """
    if not isinstance(text, str):
        raise InvalidParameter(
            Words("where", "--where") + " must be a condition as a string",
            got=quote(text),
            fix="Write it as in " + Words(f'where="{EXAMPLE}"', f'--where "{EXAMPLE}"') + ".",
        )
    if len(text) > LONGEST:
        raise InvalidParameter(
            Words("where", "--where") + f" must have at most {LONGEST} characters",
            got=str(len(text)),
            fix="Give a shorter condition, or store a column that marks the rows.",
        )
    return _Parser(text).whole()


class _Parser:
    """A parser that never looks further than one token ahead."""

    def __init__(self, condition: str) -> None:
        self._condition = condition
        self._tokens = tokens(condition)
        self._place = 0

    def whole(self) -> Node:
        """Parse the whole text."""
        node = self._parse_joined("or", 0)
        if self._here.kind != END:
            raise self._error_here("and, or or the end", "Join comparisons by and or or.")
        return node

    @property
    def _here(self) -> Token:
        return self._tokens[self._place]

    def _take(self, *words: str) -> bool:
        """Consume these words if they come next, in this order."""
        coming = self._tokens[self._place : self._place + len(words)]
        if tuple(token.word or (token.text * (token.kind == SIGN)) for token in coming) != words:
            return False
        self._place += len(words)
        return True

    def _error_here(self, expected: str, advice: str) -> InvalidParameter:
        here = self._here
        return make_error(self._condition, here.start, here.shown, expected, advice)

    def _parse_joined(self, word: str, depth: int) -> Node:
        """Parse an or-expression of and-expressions."""
        part = partial(self._parse_joined, "and") if word == "or" else self._term
        terms = [part(depth)]
        while self._take(word):
            terms.append(part(depth))
        return join_nodes(word, terms)

    def _term(self, depth: int) -> Node:
        if depth > _DEEPEST:
            raise self._error_here(
                f"nothing deeper than {_DEEPEST} brackets and nots", "Write it with fewer of them."
            )
        if self._take("not"):
            return Not(self._term(depth + 1))
        if self._take("("):
            node = self._parse_joined("or", depth + 1)
            if not self._take(")"):
                raise self._error_here("and, or or )", "Close the bracket.")
            return node
        return self._comparison()

    def _comparison(self) -> Node:
        column = self._column()
        for operator in OPPOSITES:
            if operator not in SIGNS and self._take(*operator.split()):
                return Comparison(column, operator, self._values(operator))
        operator = {"<>": "!="}.get(self._here.text, self._here.text)
        if self._here.kind != SIGN or operator not in SIGNS:
            raise self._error_here(_COMPARISONS, self._advice_after_column())
        self._place += 1
        return Comparison(column, operator, (self._value(ordered=operator not in ("=", "!=")),))

    def _advice_after_column(self) -> str:
        here = self._here
        if here.kind == SIGN and here.text == "(":
            return "Functions and queries are not part of a condition."
        if here.kind == END or here.word in ("and", "or") or here.text == ")":
            return "A column alone is no condition: of a boolean one write column = true."
        if here.word in ("is", "not"):
            return "Write is null, is not null, not in or not between."
        return "Compare the column with a value by one of these."

    def _column(self) -> str:
        here = self._here
        if here.kind == QUOTED or (here.kind == NAME and here.word not in RESERVED - {"date"}):
            self._place += 1
            return here.text
        if here.kind in (NUMBER, TEXT) or here.word in ("true", "false", "null"):
            advice = "The column stands on the left: write age >= 18, not 18 <= age."
        elif here.kind == NAME:
            advice = "Write a column that is called like a keyword in double quotes."
        else:
            advice = "Begin a comparison with the column's name."
        raise self._error_here("a column, not or (", advice)

    def _values(self, operator: str) -> tuple[Literal, ...]:
        """Parse the values after an operator of words."""
        if operator.endswith("null"):
            return ()
        if operator.endswith("between"):
            low = self._value(ordered=True)
            if not self._take("and"):
                raise self._error_here("and", "Write it as in age between 18 and 65.")
            return low, self._value(ordered=True, like=low)
        if not self._take("("):
            raise self._error_here("( and a list of values", "Write it as in region in ('a', 'b').")
        values = [self._value(ordered=False)]
        while self._take(","):
            if len(values) == _LONGEST_LIST:
                raise self._error_here(
                    f"a list of at most {_LONGEST_LIST} values", "Give a shorter list."
                )
            values.append(self._value(ordered=False, like=values[0]))
        if not self._take(")"):
            raise self._error_here(", or )", "Separate values by commas and close the list.")
        return tuple(values)

    def _value(self, *, ordered: bool, like: Literal | None = None) -> Literal:
        """Parse a value, of a kind that has an order or of the same kind as ``like``."""
        start = self._place
        value = self._literal()
        if ordered and value.kind in ("text", "boolean"):
            self._place = start
            raise self._error_here(
                "a number or a date",
                "Strings and booleans have no order here: engines sort strings differently. "
                "Compare them by =, !=, in or not in.",
            )
        if like is not None and value.kind != like.kind:
            self._place = start
            raise self._error_here(
                f"a {like.kind} like the value before it", "Give one kind of them."
            )
        return value

    def _literal(self) -> Literal:
        here = self._here
        if here.kind == NUMBER:
            self._place += 1
            return Literal("number", here.number)
        if here.kind == TEXT:
            self._place += 1
            return Literal("text", here.text)
        if here.word in ("true", "false"):
            self._place += 1
            return Literal("boolean", here.word == "true")
        if self._take("date"):
            return Literal("date", self._day())
        if here.kind == SIGN and here.text == "=":
            advice = "Write one =."
        elif here.word == "null":
            advice = "Nothing equals NULL: write is null or is not null."
        elif here.kind in (NAME, QUOTED):
            advice = "Compare columns with values only, and write text in single quotes."
        else:
            advice = ""
        raise self._error_here(_VALUES, advice)

    def _day(self) -> date:
        here = self._here
        if here.kind == TEXT and _DAY.fullmatch(here.text):
            with suppress(ValueError):  # the 30th of February
                day = date.fromisoformat(here.text)
                self._place += 1
                return day
        raise self._error_here("a day as 'YYYY-MM-DD'", "Write it as in date '2024-02-29'.")


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


def _name(column: str) -> str:
    if _BARE.fullmatch(column) and column.lower() not in RESERVED:
        return column
    return '"' + column.replace('"', '""') + '"'


def _number(number: Decimal) -> str:
    """Write a decimal in full near 1, with an exponent far from it."""
    if -7 <= number.adjusted() < 20:
        return f"{number:f}"
    return f"{number:e}".replace("e+", "e")
