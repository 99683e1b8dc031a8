"""``col``: conditions and expressions that a program builds, without writing text.

>>> condition = (col("age") >= 18) & ~col("region").isin(["north", "O'Hare"])
>>> str(condition)
"age >= 18 and not region in ('north', 'O''Hare')"
>>> str(col("arr_delay") - col("dep_delay"))
'arr_delay - dep_delay'
"""

from collections.abc import Iterable
from dataclasses import dataclass

from leastnoise.core.exact import quote
from leastnoise.errors import InvalidParameter
from leastnoise.tables.where.literals import Scalar, to_literal
from leastnoise.tables.where.nodes import Arithmetic, Column, Comparison, Literal, Part, Value


def col(name: str) -> "ColumnExpression":
    """Return a column, for conditions and expressions: ``col("age") >= 18``.

    Compare it by ``==``, ``!=``, ``<``, ``<=``, ``>``, ``>=``, ``isin``, ``between``, ``like`` and
    ``is_null``; join comparisons by ``&``, ``|`` and ``~``, with brackets around each. Compute with
    ``+``, ``-``, ``*`` and ``/``. ``where=`` takes a condition, ``column=`` and ``by=`` a column or
    an expression. Values are never written into a text that is parsed for its meaning.

    Args:
        name: The name of the column, as the table has it.

    >>> import leastnoise as ln
    >>> from leastnoise.tables import census
    >>> people = ln.protect(census(), unit="person_id", max_rows=1, ledger=ln.UNRECORDED)
    >>> adults = people.count(where=ln.col("age") >= 18, privacy=ln.Privacy(1))
    >>> 0 < adults.value < 8100
    True
    """
    if not (name and isinstance(name, str)):
        raise InvalidParameter(
            "The column of col() must be named by a string", got=quote(name), fix="Pass its name."
        )
    return ColumnExpression(Column(name))


@dataclass(frozen=True, eq=False, repr=False)
class ColumnExpression:
    """A column, or an expression of columns. :func:`col` makes the first one.

    Attributes:
        node: The frozen node. Expressions with equal nodes are the same.
    """

    node: Value

    def __str__(self) -> str:
        """Return the text that means the same, as ``column=`` and ``by=`` take it."""
        return str(self.node)

    def __repr__(self) -> str:
        return f"<column expression {self.node}>"

    def __bool__(self) -> bool:
        raise TypeError("a column is neither true nor false; write for instance col('a') == True")

    __hash__ = None  # type: ignore[assignment]  # == makes a condition

    # ------------------------------------------------------------------------ comparisons

    def __eq__(self, other: "Operand") -> Comparison:  # type: ignore[override]
        return self._compare("=", other)

    def __ne__(self, other: "Operand") -> Comparison:  # type: ignore[override]
        return self._compare("!=", other)

    def __lt__(self, other: "Operand") -> Comparison:
        return self._compare("<", other)

    def __le__(self, other: "Operand") -> Comparison:
        return self._compare("<=", other)

    def __gt__(self, other: "Operand") -> Comparison:
        return self._compare(">", other)

    def __ge__(self, other: "Operand") -> Comparison:
        return self._compare(">=", other)

    def isin(self, values: Iterable[Scalar]) -> Comparison:
        """Return whether the column is one of the values, which are of one kind."""
        if isinstance(values, str | bytes) or not isinstance(values, Iterable):
            raise InvalidParameter(
                "isin() must be given a list", got=quote(values), fix="Write isin(['a', 'b'])."
            )
        return self._with("in", *values)

    def between(self, low: Scalar, high: Scalar) -> Comparison:
        """Return whether the column is at least ``low`` and at most ``high``."""
        return self._with("between", low, high)

    def like(self, pattern: str) -> Comparison:
        r"""Return whether a column of strings matches a pattern, in which case matters.

        ``%`` stands for any characters, ``_`` for one; ``\%``, ``\_`` and ``\\`` for the characters
        themselves.
        """
        return self._with("like", pattern)

    def is_null(self) -> Comparison:
        """Return whether the value is missing."""
        return self._with("is null")

    def is_not_null(self) -> Comparison:
        """Return whether the value is not missing."""
        return self._with("is not null")

    def _with(self, operator: str, *values: Scalar) -> Comparison:
        return Comparison(self._left, operator, tuple(map(_to_literal, values)))

    def _compare(self, operator: str, other: object) -> Comparison:
        return Comparison(self._left, operator, (_to_operand(other),))

    @property
    def _left(self) -> str | Value:
        return self.node.name if isinstance(self.node, Column) else self.node

    # ------------------------------------------------------------------------- arithmetic

    def __add__(self, other: "Operand") -> "ColumnExpression":
        return self._compute("+", self, other)

    def __radd__(self, other: "Operand") -> "ColumnExpression":
        return self._compute("+", other, self)

    def __sub__(self, other: "Operand") -> "ColumnExpression":
        return self._compute("-", self, other)

    def __rsub__(self, other: "Operand") -> "ColumnExpression":
        return self._compute("-", other, self)

    def __mul__(self, other: "Operand") -> "ColumnExpression":
        return self._compute("*", self, other)

    def __rmul__(self, other: "Operand") -> "ColumnExpression":
        return self._compute("*", other, self)

    def __truediv__(self, other: "Operand") -> "ColumnExpression":
        return self._compute("/", self, other)

    def __neg__(self) -> "ColumnExpression":
        return self._compute("*", -1, self)

    def _compute(self, operator: str, left: object, right: object) -> "ColumnExpression":
        return ColumnExpression(Arithmetic(operator, _to_operand(left), _to_operand(right)))

    # --------------------------------------------------------------------- parts of a date

    def year(self) -> "ColumnExpression":
        """Return the year of a date or a time."""
        return self._part("year")

    def quarter(self) -> "ColumnExpression":
        """Return the quarter, from 1 to 4."""
        return self._part("quarter")

    def month(self) -> "ColumnExpression":
        """Return the month, from 1 to 12."""
        return self._part("month")

    def week(self) -> "ColumnExpression":
        """Return the ISO week, from 1 to 53."""
        return self._part("week")

    def weekday(self) -> "ColumnExpression":
        """Return the day of the week, from 1 for Monday to 7."""
        return self._part("weekday")

    def day(self) -> "ColumnExpression":
        """Return the day of the month, from 1 to 31."""
        return self._part("day")

    def hour(self) -> "ColumnExpression":
        """Return the hour of a time, from 0 to 23."""
        return self._part("hour")

    def _part(self, part: str) -> "ColumnExpression":
        return ColumnExpression(Part(part, self.node))


# The values that a column can be compared with and computed with.
Operand = ColumnExpression | Scalar


def _to_literal(value: object) -> Literal:
    return to_literal(value, "A value of a condition")


def _to_operand(value: object) -> Value | Literal:
    return value.node if isinstance(value, ColumnExpression) else _to_literal(value)
