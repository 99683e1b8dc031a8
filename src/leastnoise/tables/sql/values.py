"""Columns, column expressions and literals of SQL, as the nodes of ``where``.

An identifier without quotes names the column of exactly this spelling, or else the only column that
differs in case alone. In double quotes it names the column of exactly this spelling.
"""

import re
from contextlib import suppress
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING

from leastnoise.core.exact import quote
from leastnoise.errors import InvalidParameter, Words
from leastnoise.tables.sources import Source
from leastnoise.tables.sql.rejections import check_fields, reject, reject_node
from leastnoise.tables.where import (
    Arithmetic,
    Column,
    GivenParameters,
    Literal,
    Part,
    Value,
    read_number,
    to_literal,
)

if TYPE_CHECKING:
    from sqlglot import exp

_NUMBER = re.compile(r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MIDNIGHT = re.compile(r"[ T]00:00(?::00(?:\.0+)?)?")
_OPERATORS = {"Add": "+", "Sub": "-", "Mul": "*", "Div": "/"}
_PARTS = {
    "YEAR": "year",
    "QUARTER": "quarter",
    "MONTH": "month",
    "WEEK": "week",
    "ISODOW": "weekday",
    "DAY": "day",
    "HOUR": "hour",
}
# The classes of sqlglot for functions of the same names.
_FUNCTIONS = {
    **{name.capitalize(): part for name, part in _PARTS.items() if name != "ISODOW"},
    "DayOfWeekIso": "weekday",
}


class ValueReader:
    """Reads the values of one query.

    Args:
        source: The table.
        tables: The names by which the query calls its table, before a column's name.
        params: The values of the parameters that the text names.
    """

    def __init__(self, source: Source, tables: tuple[str, ...], params: GivenParameters) -> None:
        self.source, self.params = source, params
        self._tables = tables

    def read_value(self, node: "exp.Expression") -> Value:
        """Return a column or an expression of columns."""
        operand = self.read_operand(node)
        if isinstance(operand, Literal):
            raise InvalidParameter(
                "A constant in place of a column has no private answer",
                got=str(operand),
                fix="Name a column.",
            )
        if not isinstance(operand, Column) and str(operand) in self.source.kinds:
            raise InvalidParameter(
                "An expression must not be spelled like a column of the table",
                got=quote(str(operand)),
                fix="Write the column in double quotes, or the expression in another order.",
            )
        return operand

    def read_operand(self, node: "exp.Expression") -> Value | Literal:
        """Return a column, an expression of columns or a literal."""
        from sqlglot import exp

        kind = type(node).__name__
        if isinstance(node, exp.Paren):
            return self.read_operand(node.this)
        if isinstance(node, exp.Column):
            return self.read_column(node)
        if kind in _OPERATORS:
            return self._read_arithmetic(node, _OPERATORS[kind])
        if isinstance(node, exp.Neg):
            return self._read_negative(node)
        if kind in _FUNCTIONS:
            check_fields(node, "this")
            return self._read_part(_FUNCTIONS[kind], node.this)
        if isinstance(node, exp.Extract):
            part = _PARTS.get(node.name.upper())
            if part is None:
                raise reject(
                    f"EXTRACT({node.name.upper()} FROM …)", f"Extract {', '.join(_PARTS)}."
                )
            return self._read_part(part, node.expression)
        return self._read_literal(node)

    def read_column(self, node: "exp.Column") -> Column:
        """Return a column of the table."""
        from sqlglot import exp

        if not isinstance(node.this, exp.Identifier):
            raise reject_node(node.this)
        check_fields(node, "this", "table")
        table = node.args.get("table")
        if table is not None and not any(_is_named(table, name) for name in self._tables):
            raise InvalidParameter(
                "A column must be of the table in FROM",
                got=quote(f"{table.name}.{node.name}"),
                fix=f"Write {node.name}; joined lookups add their columns to the table.",
            )
        return Column(self._find(node.this))

    def is_column(self, node: "exp.Expression") -> bool:
        """Return whether an identifier names a column of the table."""
        from sqlglot import exp

        return isinstance(node, exp.Column) and any(
            _is_named(node.this, name) for name in self.source.kinds
        )

    def _find(self, identifier: "exp.Identifier") -> str:
        """Return the name of the column that an identifier means."""
        name = identifier.name
        near = [known for known in self.source.kinds if _is_named(identifier, known)]
        if name in near:
            near = [name]
        if len(near) > 1:
            raise InvalidParameter(
                "A name without quotes must be that of one column, in any case",
                got=f"{quote(name)}, which could be {' or '.join(map(quote, near))}",
                fix="Write it in double quotes.",
            )
        found = near[0] if near else name
        self.source.kind(Column(found))  # rejects what does not exist or is not allowed
        return found

    def _read_arithmetic(self, node: "exp.Expression", operator: str) -> Value:
        check_fields(node, "this", "expression", "typed", "safe")
        left, right = self.read_operand(node.this), self.read_operand(node.expression)
        constants = [side for side in (left, right) if isinstance(side, Literal)]
        if len(constants) == 2:
            raise reject("Arithmetic between constants", "Write the result.")
        if any(constant.kind != "number" for constant in constants):
            raise reject(f"{operator} beside strings, booleans or dates", "Compute with numbers.")
        if operator == "/" and not (isinstance(right, Literal) and right.value != 0):
            raise reject("Division by a column or by 0", "Divide by a number: a column can be 0.")
        return Arithmetic(operator, left, right)

    def _read_negative(self, node: "exp.Expression") -> Value | Literal:
        operand = self.read_operand(node.this)
        if not isinstance(operand, Literal):
            return Arithmetic("*", to_literal(-1, ""), operand)
        if operand.kind != "number":
            raise reject("- before a string, a boolean or a date", "Remove it.")
        number = operand.value
        assert isinstance(number, Decimal)  # noqa: S101 -- for mypy
        return Literal("number", number.copy_negate() if number else number)

    def _read_part(self, part: str, node: "exp.Expression") -> Value:
        return Part(part, self.read_value(node))

    # ---------------------------------------------------------------------------- literals

    def read_literal(self, node: "exp.Expression") -> Literal:
        """Return a literal; reject a column or an expression."""
        operand = self.read_operand(node)
        if isinstance(operand, Literal):
            return operand
        raise reject("A column in BETWEEN, IN or LIKE", "Give values; compare columns with = or <.")

    def read_list(self, node: "exp.Expression") -> list[Literal]:
        """Return the values of a literal, or of a parameter that can be a list."""
        from sqlglot import exp

        if isinstance(node, exp.Placeholder):
            return self._take(node, several=True)
        return [self.read_literal(node)]

    def _read_literal(self, node: "exp.Expression") -> Literal:
        from sqlglot import exp

        if isinstance(node, exp.Literal):
            return _read_text(node) if node.is_string else _read_number(node)
        if isinstance(node, exp.Boolean):
            return Literal("boolean", bool(node.this))
        if isinstance(node, exp.Placeholder):
            return self._take(node, several=False)[0]
        if isinstance(node, exp.Cast) and type(node) is exp.Cast:
            day = _read_day(node)
            if day is not None:
                return day
        raise reject_node(node)

    def _take(self, node: "exp.Expression", *, several: bool) -> list[Literal]:
        name = node.args.get("this")
        values = self.params.take(name) if isinstance(name, str) else None
        if values is None:
            shown = f":{name}" if isinstance(name, str) else "?"
            raise InvalidParameter(
                "SQL must name parameters that are given",
                got=quote(shown),
                fix="Write :name in the SQL, and pass its value by "
                + Words("params={'name': …}.", "--param NAME=VALUE."),
            )
        if len(values) != 1 and not several:
            raise InvalidParameter(
                f"The parameter {quote(str(name))} must be a single value",
                got="a list",
                fix="A list is for IN.",
            )
        return values


def read_day(text: str) -> Literal | None:
    """Return the date that a string spells as YYYY-MM-DD; None for other strings."""
    if _DAY.fullmatch(text):
        with suppress(ValueError):  # the 30th of February
            return Literal("date", date.fromisoformat(text))
    return None


def _read_number(node: "exp.Literal") -> Literal:
    if not _NUMBER.fullmatch(node.name):
        raise InvalidParameter(
            "A number must be written as 1000, 2.5 or 1e6", got=quote(node.name), fix="Rewrite it."
        )
    return Literal("number", read_number(node.name, "A number"))


def _read_text(node: "exp.Literal") -> Literal:
    return to_literal(node.name, "A string")


def _read_day(node: "exp.Expression") -> Literal | None:
    """Return the date of DATE '…', or of the TIMESTAMP '…' of a midnight."""
    from sqlglot import exp

    check_fields(node, "this", "to")
    text = node.this
    if not (isinstance(text, exp.Literal) and text.is_string):
        return None
    kind = node.args["to"].this.name
    if kind == "DATE":
        day = read_day(text.name)
        if day is not None:
            return day
        raise InvalidParameter(
            "DATE must be followed by a day", got=quote(text.name), fix="Write DATE '2024-02-29'."
        )
    if kind in ("TIMESTAMP", "TIMESTAMPNTZ"):
        midnight = _MIDNIGHT.fullmatch(text.name[10:]) or len(text.name) == 10
        day = read_day(text.name[:10]) if midnight else None
        if day is not None:
            return day
        raise reject(
            "A TIMESTAMP with a time of day",
            "Write DATE '2024-02-29' for its midnight, or HOUR(column).",
        )
    return None


def _is_named(identifier: "exp.Expression", name: str) -> bool:
    """Return whether an identifier means a name: in any case, unless it is in quotes."""
    if identifier.args.get("quoted"):
        return identifier.name == name
    return identifier.name.casefold() == name.casefold()
