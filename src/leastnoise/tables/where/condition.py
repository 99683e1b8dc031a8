"""Conditions: the closed grammar of ``where=``, and the nodes that a text is parsed to.

::

    condition   = conjunction { "or" conjunction }
    conjunction = term { "and" term }
    term        = "not" term | "(" condition ")" | comparison
    comparison  = expression ( "=" | "!=" | "<>" | "<" | "<=" | ">" | ">=" ) ( value | expression )
                | expression [ "not" ] "in" ( "(" value { "," value } ")" | parameter )
                | expression [ "not" ] "between" value "and" value
                | expression [ "not" ] "like" ( text | parameter )
                | expression "is" [ "not" ] "null"
    column      = a bare name, or any name in double quotes
    value       = 18 | -2.5 | 1e6 | 'text' | true | false | date '2024-02-29'
                | timestamp '2024-02-29 12:30:00' | parameter

An expression is a column, or computed from columns (operands.py). Keywords have no case, names do.
Numbers are exact decimals. A quote inside quotes is written twice. Strings and booleans have no
order, but beside a column of dates or timestamps a string that states one is that date or time.
Nothing outside this grammar is accepted, and nothing is evaluated. A condition is parsed to frozen
nodes, and these become an expression of typed columns and values. The value of a parameter becomes
a node too: it is never written into the text.

NULL is as in SQL: a comparison with it is neither true nor false, and only rows for which the whole
condition is true count. NaN counts as NULL on every engine.
"""

import re
from functools import partial

from leastnoise.core.exact import quote
from leastnoise.errors import InvalidParameter, Words
from leastnoise.tables.where.literals import Parameters, read_day, read_time
from leastnoise.tables.where.nodes import (
    BINDING,
    OPPOSITES,
    RESERVED,
    SIGNS,
    Column,
    Comparison,
    Literal,
    Node,
    Not,
    Value,
    join_nodes,
)
from leastnoise.tables.where.operands import NO_FUNCTION, OperandParser
from leastnoise.tables.where.patterns import check_pattern
from leastnoise.tables.where.tokens import (
    END,
    EXAMPLE,
    LONGEST,
    NAME,
    NUMBER,
    PARAMETER,
    SIGN,
    TEXT,
)

_LONGEST_LIST = 1_000
_CONSTANTS = ("true", "false", "null")
_COMPARISONS = "a comparison (=, !=, <, <=, >, >=, in, between, like, is null)"
_NO_ORDER = (
    "Strings and booleans have no order here: engines sort strings differently. "
    "Compare them by =, !=, in or not in."
)
_NO_MOMENT = "Write a day as '2024-02-29', and a time as '2024-02-29 12:30:00', without a zone."
_LIKE_DATE = re.compile(r"[0-9]{4}-[0-9]")


def parse_condition(text: str, params: Parameters | None = None) -> Node:
    """Parse a condition.

    Args:
        text: The condition.
        params: The value of each parameter that the text names, as ``:name``; for ``in`` also a
            list. Each value becomes a literal by its type.

    Raises:
        InvalidParameter: For a text outside the grammar, with the place, the token there and
            what is expected. It quotes the condition and nothing else.

    >>> str(parse_condition("AGE>=18.0 And ((region = 'north'))"))
    "AGE >= 18 and region = 'north'"
    >>> str(parse_condition("dest = :dest", {"dest": "O'Hare"}))
    "dest = 'O''Hare'"
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
    return _Parser(text, params).whole()


def bind_parameters(where: str | Node | None, params: Parameters | None) -> str | Node | None:
    """Return a condition in which parameters have their values, as nodes.

    Raises:
        InvalidParameter: If a parameter is unknown or unused, or there is no text that names it.
    """
    if params is None:
        return where
    if isinstance(where, str):
        return parse_condition(where, params)
    raise InvalidParameter(
        Words("params must come with a condition as a string", "--param must come with --where"),
        got=Words("params without one", "--param alone"),
        fix=Words(
            'Write, for example, where="dest = :dest", params={"dest": "Oslo"}.',
            'Write, for example, --where "dest = :dest" --param dest=Oslo.',
        ),
    )


def check_node(node: Node) -> Node:
    """Return a node that a program has built, if its text is in the grammar.

    So a node has the same limits as a text, and its text in a ledger says what it means.
    """
    return _Parser(str(node), None).whole()


class _Parser(OperandParser):
    """A parser of conditions."""

    def whole(self) -> Node:
        """Parse the whole text."""
        node = self._parse_joined("or", 0)
        if self._here.kind != END:
            advice = NO_FUNCTION if self._here.text == "(" else "Join comparisons by and or or."
            raise self._error_here("and, or or the end", advice)
        self._params.check_used()
        return node

    def _parse_joined(self, word: str, depth: int) -> Node:
        """Parse an or-expression of and-expressions."""
        part = partial(self._parse_joined, "and") if word == "or" else self._term
        terms = [part(depth)]
        while self._take(word):
            terms.append(part(depth))
        return join_nodes(word, terms)

    def _term(self, depth: int) -> Node:
        self._check_depth(depth)
        if self._take("not"):
            return Not(self._term(depth + 1))
        if not self._brackets_value() and self._take("("):
            node = self._parse_joined("or", depth + 1)
            if not self._take(")"):
                raise self._error_here("and, or or )", "Close the bracket.")
            return node
        return self._comparison(depth)

    def _brackets_value(self) -> bool:
        """Return whether the bracket that opens here is around an operand: a sign comes after it.

        After a bracket around a condition comes and, or, a bracket or the end.
        """
        opened = 0
        for place in range(self._place, len(self._tokens)):
            token = self._tokens[place]
            opened += (token.kind == SIGN) * ((token.text == "(") - (token.text == ")"))
            if opened <= 0:
                after = self._tokens[min(place + 1, len(self._tokens) - 1)]
                sign = after.kind == SIGN and (after.text in BINDING or after.text[0] in "<>=!")
                return sign or after.word in ("between", "in", "is", "like", "not")
        return False

    # ------------------------------------------------------------------------- comparisons

    def _comparison(self, depth: int) -> Comparison:
        column = self._left(depth)
        for operator in OPPOSITES:
            if operator not in SIGNS and self._take(*operator.split()):
                return Comparison(column, operator, self._values(operator))
        operator = {"<>": "!="}.get(self._here.text, self._here.text)
        if self._here.kind != SIGN or operator not in SIGNS:
            raise self._error_here(_COMPARISONS, self._advice_after_column())
        self._place += 1
        return Comparison(column, operator, (self._right(operator, depth),))

    def _left(self, depth: int) -> str | Value:
        """Parse the operand on the left, which has a column; of a column alone, return the name."""
        start, here = self._place, self._here
        after = self._tokens[min(start + 1, len(self._tokens) - 1)]
        computes = after.kind == SIGN and after.text in BINDING
        if (
            self._is_column()
            or (here.kind == SIGN and here.text == "(")
            or (here.kind in (NUMBER, PARAMETER) and computes)
        ):
            operand = self._operand(depth)
            if not isinstance(operand, Literal):
                return operand.name if isinstance(operand, Column) else operand
            self._place = start
        moment = here.word in ("date", "timestamp") and after.kind == TEXT
        if here.kind in (NUMBER, TEXT, PARAMETER) or here.word in _CONSTANTS or moment:
            advice = "The column stands on the left: write age >= 18, not 18 <= age."
        elif here.kind == NAME:
            advice = "Write a column that is called like a keyword in double quotes."
        else:
            advice = "Begin a comparison with the column's name."
        raise self._error_here("a column, not or (", advice)

    def _advice_after_column(self) -> str:
        here = self._here
        if here.kind == SIGN and here.text == "(":
            return NO_FUNCTION
        if here.kind == END or here.word in ("and", "or") or here.text == ")":
            return "A column alone is no condition: of a boolean one write column = true."
        if here.kind == NAME and here.word not in RESERVED:
            return 'Write a column\'s name with blanks in double quotes, as in "age group" > 3.'
        if here.word in ("is", "not"):
            return "Write is null, is not null, not in, not like or not between."
        return "Compare the column with a value by one of these."

    def _right(self, operator: str, depth: int) -> Literal | Value:
        """Parse the operand after a sign."""
        start = self._place
        operand = self._operand(depth)
        if isinstance(operand, Literal) and operator not in ("=", "!="):
            self._check_ordered(start, operand)
        return operand

    def _values(self, operator: str) -> tuple[Literal, ...]:
        """Parse the values after an operator of words."""
        if operator.endswith("null"):
            return ()
        if operator.endswith("like"):
            return (self._pattern(),)
        if operator.endswith("between"):
            low = self._value(ordered=True)
            if not self._take("and"):
                raise self._error_here("and", "Write it as in age between 18 and 65.")
            return low, self._value(ordered=True, like=low)
        if self._here.kind == PARAMETER:
            return self._check_list(self._place, self._parameter(several=True))
        return self._list()

    def _list(self) -> tuple[Literal, ...]:
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

    def _check_list(self, start: int, values: list[Literal]) -> tuple[Literal, ...]:
        """Return the values of a parameter that is a list; reject lists that ``in`` cannot have."""
        kinds = {value.kind for value in values}
        if len(kinds) == 1 and len(values) <= _LONGEST_LIST:
            return tuple(values)
        self._place = start
        raise self._error_here(
            f"a list of 1 to {_LONGEST_LIST} values of one kind", "Give another list."
        )

    def _pattern(self) -> Literal:
        """Parse the pattern of like."""
        start = self._place
        value = self._literal()
        problem = "another value" if value.kind != "text" else check_pattern(str(value.value))
        if problem is None:
            return value
        self._place = start
        raise self._error_here(
            "a pattern in single quotes",
            f"It has {problem}. % stands for any characters, _ for one; write \\%, \\_ and \\\\ "
            "for the characters themselves.",
        )

    def _value(self, *, ordered: bool, like: Literal | None = None) -> Literal:
        """Parse a value, of a kind that has an order or of the same kind as ``like``."""
        start = self._place
        value = self._literal()
        if ordered:
            self._check_ordered(start, value)
        if like is not None and value.kind != like.kind:
            self._place = start
            raise self._error_here(
                f"a {like.kind} like the value before it", "Give one kind of them."
            )
        return value

    def _check_ordered(self, start: int, value: Literal) -> None:
        if value.kind == "text" and (read_day(value.value) or read_time(value.value)):  # type: ignore[arg-type]
            return  # it is one beside a column of dates or timestamps: expression.check
        if value.kind in ("text", "boolean"):
            typed = self._tokens[start].kind == PARAMETER and value.kind == "text"
            no_order = _NO_MOMENT if _LIKE_DATE.match(str(value.value)) else _NO_ORDER
            name = self._tokens[start].text
            self._place = start
            raise self._error_here(
                "a number, a date or a timestamp",
                Words(no_order, f"Write --param {name}:=18 for a number." if typed else no_order),
            )
