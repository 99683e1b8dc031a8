"""The grammar of column expressions, and the cursor that all parsers here share.

::

    expression = product { ( "+" | "-" ) product }
    product    = factor { "*" factor | "/" number }
    factor     = column | number | part "(" expression ")" | "(" expression ")" | parameter
    part       = "year" | "quarter" | "month" | "week" | "weekday" | "day" | "hour"
    parameter  = ":" name

An expression has at least one column, and so has each of its products and sums.
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import date, datetime
from functools import lru_cache

from leastnoise.core.exact import quote
from leastnoise.errors import InvalidParameter, Text, Words
from leastnoise.tables.where.literals import GivenParameters, Parameters, read_day, read_time
from leastnoise.tables.where.nodes import (
    PARTS,
    RESERVED,
    Arithmetic,
    Column,
    Literal,
    Part,
    Value,
)
from leastnoise.tables.where.tokens import (
    END,
    EXAMPLE,
    LONGEST,
    NAME,
    NUMBER,
    PARAMETER,
    QUOTED,
    SIGN,
    TEXT,
    Token,
    make_error,
    tokens,
)

_DEEPEST = 32
# Names that stand before a text; elsewhere they are columns.
_MOMENTS = ("date", "timestamp")
VALUES = "a value (a number, 'text', true, false, date '…' or timestamp '…')"
NO_FUNCTION = (
    f"Functions and queries are not part of a condition. Parts of a date are: {', '.join(PARTS)}."
)


def parse_expression(text: str) -> Value:
    """Parse a column expression.

    Raises:
        InvalidParameter: For a text outside the grammar, with the place, the token there and what
            is expected.

    >>> str(parse_expression("( arr_delay-dep_delay ) * 2.0"))
    '(arr_delay - dep_delay) * 2'
    """
    if len(text) > LONGEST:
        raise InvalidParameter(
            f"A column expression must have at most {LONGEST} characters",
            got=str(len(text)),
            fix="Give a shorter one, or store the column.",
        )
    try:
        return _parse_cached(text)
    except InvalidParameter as error:
        rejected = error
    raise InvalidParameter(
        "A column expression must be as in arr_delay - dep_delay or month(joined)",
        got=rejected.got,
        fix="Check the names of columns." if EXAMPLE in rejected.fix else rejected.fix,
    )


@lru_cache(maxsize=256)
def _parse_cached(text: str) -> Value:
    return _ExpressionParser(text, None).whole()


_PARAMETER = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(:?=)(.*)", re.DOTALL)


def parse_params(texts: Sequence[str]) -> dict[str, str | Literal | list[str | Literal]] | None:
    """Return the parameters of a command: ``name=text``, or ``name:=`` and a literal.

    A name that repeats is a list.

    >>> parse_params(["dest=O'Hare", "day:=date '2024-02-29'"])
    {'dest': "O'Hare", 'day': Literal(kind='date', value=datetime.date(2024, 2, 29))}
    """
    params: dict[str, str | Literal | list[str | Literal]] = {}
    for text in texts:
        match = _PARAMETER.fullmatch(text)
        if match is None:
            raise InvalidParameter(
                "--param must be a name and a value",
                got=quote(text),
                fix="Write NAME=VALUE for text, or NAME:=VALUE for a number or a date.",
            )
        name, sign, value = match.groups()
        given = value if sign == "=" else _parse_literal(name, value)
        before = params.get(name)
        if before is None:
            params[name] = given
        else:
            params[name] = [*(before if isinstance(before, list) else [before]), given]
    return params or None


def _parse_literal(name: str, text: str) -> Literal:
    with suppress(InvalidParameter):  # its words are of conditions
        return _LiteralParser(text, None).single()
    raise InvalidParameter(
        f"--param {name}:= must be followed by a number, true, false, date '2024-02-29' or "
        "timestamp '2024-02-29 12:30'",
        got=quote(text),
        fix="Write = in place of := for text.",
    )


class OperandParser:
    """A parser of operands that never looks further than one token ahead."""

    def __init__(self, text: str, params: Parameters | None) -> None:
        self._text = text
        self._tokens = tokens(text)
        self._place = 0
        self._params = GivenParameters(params)

    @property
    def _here(self) -> Token:
        return self._tokens[self._place]

    @property
    def _next_is_bracket(self) -> bool:
        after = self._tokens[min(self._place + 1, len(self._tokens) - 1)]
        return after.kind == SIGN and after.text == "("

    def _take(self, *words: str) -> bool:
        """Consume these words if they come next, in this order."""
        coming = self._tokens[self._place : self._place + len(words)]
        if tuple(token.word or (token.text * (token.kind == SIGN)) for token in coming) != words:
            return False
        self._place += len(words)
        return True

    def _take_one(self, *words: str) -> str | None:
        """Consume one of these words if it comes next, and return it."""
        return next((word for word in words if self._take(word)), None)

    def _error_here(self, expected: str, advice: Text) -> InvalidParameter:
        here = self._here
        return make_error(self._text, here.start, here.shown, expected, advice)

    def _check_depth(self, depth: int) -> None:
        if depth > _DEEPEST:
            raise self._error_here(
                f"nothing deeper than {_DEEPEST} brackets and nots", "Write it with fewer of them."
            )

    # ------------------------------------------------------------------------- expressions

    def _operand(self, depth: int) -> Value | Literal:
        """Parse an expression, or a single literal."""
        left = self._product(depth)
        while operator := self._take_one("+", "-"):
            at = self._place - 1
            left = self._combine(at, operator, left, self._product(depth))
        return left

    def _product(self, depth: int) -> Value | Literal:
        left = self._factor(depth)
        while operator := self._take_one("*", "/"):
            at = self._place - 1
            right = self._factor(depth)
            if operator == "/" and (not isinstance(right, Literal) or right.value == 0):
                self._place = at + 1
                raise self._error_here(
                    "a number other than 0",
                    "Divide by a constant only: a column can be 0.",
                )
            left = self._combine(at, operator, left, right)
        return left

    def _combine(
        self, at: int, operator: str, left: Value | Literal, right: Value | Literal
    ) -> Arithmetic:
        """Return the arithmetic of two operands, of which at least one has a column."""
        constants = [side for side in (left, right) if isinstance(side, Literal)]
        if len(constants) == 2:
            self._place = at
            raise self._error_here("no operator between constants", "Write the result.")
        if any(constant.kind != "number" for constant in constants):
            self._place = at
            raise self._error_here(
                "no operator beside text, booleans or dates", "Compute with numbers only."
            )
        return Arithmetic(operator, left, right)

    def _factor(self, depth: int) -> Value | Literal:
        self._check_depth(depth)
        here = self._here
        if here.kind == NAME and self._next_is_bracket and here.word in PARTS:
            self._place += 2
            value = self._operand(depth + 1)
            if isinstance(value, Literal):
                self._place -= 1
                raise self._error_here("a column", "Write it as in month(joined).")
            self._close()
            return Part(here.word, value)
        if self._take("("):
            inner = self._operand(depth + 1)
            self._close()
            return inner
        if self._is_column():
            self._place += 1
            return Column(here.text)
        return self._literal()

    def _close(self) -> None:
        if not self._take(")"):
            advice = NO_FUNCTION if self._here.text == "(" else "Close the bracket."
            raise self._error_here(")", advice)

    def _is_column(self) -> bool:
        """Return whether a column's name comes next, and not the word before a date or a time."""
        here, after = self._here, self._tokens[min(self._place + 1, len(self._tokens) - 1)]
        if here.word in _MOMENTS:
            return after.kind not in (TEXT, NUMBER)
        return here.kind == QUOTED or (here.kind == NAME and here.word not in RESERVED)

    # ---------------------------------------------------------------------------- literals

    def _literal(self) -> Literal:
        here = self._here
        if here.kind == NUMBER:
            self._place += 1
            return Literal("number", here.number)
        if here.kind == TEXT:
            self._place += 1
            return Literal("text", here.text)
        if here.kind == PARAMETER:
            (value,) = self._parameter(several=False)
            return value
        if here.word in ("true", "false"):
            self._place += 1
            return Literal("boolean", here.word == "true")
        if self._take("date"):
            return Literal("date", self._day())
        if here.word == "timestamp" and not self._is_column():
            self._place += 1
            return Literal("timestamp", self._time())
        raise self._error_here(VALUES, self._advice_for_value())

    def _advice_for_value(self) -> str:
        here = self._here
        if here.kind == SIGN and here.text == "=":
            return "Write one =."
        if here.kind == SIGN and here.text == "-":
            return "Write -1 * a for the negative of a column."
        if here.word == "null":
            return "Nothing equals NULL: write is null or is not null."
        if here.kind in (NAME, QUOTED):
            return "A list, between and like take values only; write text in single quotes."
        return ""

    def _parameter(self, *, several: bool) -> list[Literal]:
        """Return the values of the parameter that comes next."""
        name = self._here.text
        values = self._params.take(name)
        if values is None:
            raise self._error_here(
                "a parameter that is given",
                Words(
                    f"Pass its value, as in params={{{name!r}: …}}.",
                    f"Pass its value, as in --param {name}=VALUE.",
                ),
            )
        if self._params.is_list(name) and not several:
            raise self._error_here("a single value", "A list is for in: write dest in :dests.")
        self._place += 1
        return values

    def _day(self) -> date:
        day = read_day(self._here.text) if self._here.kind == TEXT else None
        if day is None:
            raise self._error_here("a day as 'YYYY-MM-DD'", "Write it as in date '2024-02-29'.")
        self._place += 1
        return day

    def _time(self) -> datetime:
        time = read_time(self._here.text) if self._here.kind == TEXT else None
        if time is None:
            raise self._error_here(
                "a time without a zone as 'YYYY-MM-DD HH:MM:SS'",
                "Write it as in timestamp '2024-02-29 12:30:00'.",
            )
        self._place += 1
        return time


class _LiteralParser(OperandParser):
    """A parser of one literal."""

    def single(self) -> Literal:
        literal = self._literal()
        if self._here.kind != END:
            raise self._error_here("the end", "Give one value.")
        return literal


class _ExpressionParser(OperandParser):
    """A parser of one column expression."""

    def whole(self) -> Value:
        value = self._operand(0)
        if self._here.kind != END:
            raise self._error_here("an operator (+, -, *, /) or the end", self._advice())
        if isinstance(value, Literal):
            self._place = 0
            raise self._error_here("a column", "Compute with at least one column.")
        return value

    def _advice(self) -> str:
        return NO_FUNCTION if self._here.text == "(" else "Write it as in arr_delay - dep_delay."
