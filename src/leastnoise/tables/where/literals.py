"""Values of Python as literals of conditions, and parameters: never pasted into a text."""

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from numbers import Integral

from leastnoise.core.exact import quote
from leastnoise.errors import InvalidParameter, Words
from leastnoise.tables.where.nodes import Literal
from leastnoise.tables.where.tokens import check_text, read_number

# The value of a parameter, or of a comparison in a program; for "in" a list of them.
Scalar = str | bool | int | float | Decimal | Fraction | date | datetime | Literal
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(_DAY.pattern + r"[ T][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?")
Parameters = Mapping[str, Scalar | Iterable[Scalar]]


def to_literal(value: object, what: str) -> Literal:
    """Return a value of Python as a literal, by its type.

    Args:
        value: A string, boolean, finite number, date, or timestamp without a time zone. A float
            stands for the shortest decimal that Python prints for it.
        what: What the value is, for errors, which never quote it.
    """
    if isinstance(value, Literal):  # of the command line
        return value
    if isinstance(value, bool):
        return Literal("boolean", value)
    if isinstance(value, str):
        check_text(value, what)
        return Literal("text", str(value))
    if isinstance(value, datetime):
        return Literal("timestamp", _check_time(value, what))
    if isinstance(value, date):
        return Literal("date", date(value.year, value.month, value.day))
    text = _write_number(value)
    if text is None:
        raise InvalidParameter(
            f"{what} must be a string, a boolean, a finite number, a date or a timestamp",
            got=f"an object of type {type(value).__name__}",
            fix=Words("Ask for missing values by .is_null() or 'is null'.", "Give such a value."),
        )
    return Literal("number", read_number(text, what))


def read_day(text: str) -> date | None:
    """Return the day that a text states as YYYY-MM-DD; None for other texts."""
    if _DAY.fullmatch(text):
        with suppress(ValueError):  # the 30th of February
            return date.fromisoformat(text)
    return None


def read_time(text: str) -> datetime | None:
    """Return the time that a text states as YYYY-MM-DD HH:MM or to the microsecond, without a zone.

    None for other texts.
    """
    if _TIME.fullmatch(text):
        with suppress(ValueError):
            return datetime.fromisoformat(text)
    return None


def read_moment(value: Literal, kind: str) -> Literal:
    """Return the date or time that a string states beside a column of dates or timestamps."""
    if value.kind != "text" or kind not in ("date", "timestamp"):
        return value
    day, time = read_day(str(value.value)), read_time(str(value.value))
    if day is not None:
        return Literal("date", day)
    return value if time is None else Literal("timestamp", time)


def _check_time(value: datetime, what: str) -> datetime:
    """Return a time as Python's own; reject a time zone, and what is finer than microseconds."""
    if value.tzinfo is not None or value != value:  # noqa: PLR0124 -- pandas' NaT
        raise InvalidParameter(
            f"{what} must be a timestamp without a time zone",
            got="one with a time zone" if value.tzinfo is not None else "a missing one",
            fix="Convert it to the zone of the column, and remove the zone.",
        )
    if getattr(value, "nanosecond", 0):
        raise InvalidParameter(
            f"{what} must be a timestamp in microseconds",
            got="one with nanoseconds",
            fix="Round it.",
        )
    return datetime.fromisoformat(value.isoformat())


def _write_number(value: object) -> str | None:
    """Return the digits of a number; None for other values."""
    if isinstance(value, Integral):
        # A number of thousands of digits is rejected by its size, because str() would raise.
        return str(int(value)) if int(value).bit_length() < 10_000 else "1e9999"
    if isinstance(value, float) and isfinite(value):
        return repr(float(value))
    if isinstance(value, Decimal) and value.is_finite():
        return str(value)
    if isinstance(value, Fraction) and value.denominator == 1:
        return _write_number(value.numerator)
    return None


class GivenParameters:
    """The parameters of one text: each may be used several times, and must be used once.

    ``in_sql`` means that the text is a whole query and not a condition.
    """

    def __init__(self, params: Parameters | None, *, in_sql: bool = False) -> None:
        if params is not None and not isinstance(params, Mapping):
            raise InvalidParameter(
                "params must be a mapping of names to values",
                got=quote(params),
                fix='Write, for example, params={"dest": "Oslo"}.',
            )
        self._given, self._in_sql = dict(params or {}), in_sql
        self._used = set[str]()

    def take(self, name: str) -> list[Literal] | None:
        """Return the values of a parameter; None if it is not given."""
        if name not in self._given:
            return None
        self._used.add(name)
        value, what = self._given[name], _describe(name)
        if isinstance(value, list | tuple | set | frozenset):
            values = sorted(value, key=repr) if isinstance(value, set | frozenset) else value
            return [to_literal(each, what) for each in values]
        return [to_literal(value, what)]

    def is_list(self, name: str) -> bool:
        """Return whether a parameter is a list."""
        return isinstance(self._given.get(name), list | tuple | set | frozenset)

    def check_used(self) -> None:
        """Reject a parameter that the text does not name."""
        unused = [name for name in self._given if name not in self._used]
        if unused:
            text = Words("where", "--where") if not self._in_sql else "the SQL"
            raise InvalidParameter(
                Words("params", "--param") + " must be named in " + text,
                got=f"{quote(unused[0])}, which is not",
                fix=f"Write, for example, dest = :{unused[0]}, or omit it."
                if str(unused[0]).isidentifier()
                else "Names are letters, digits and _, as in dest = :dest.",
            )


def _describe(name: str) -> str:
    return f"The parameter {name!r}"
