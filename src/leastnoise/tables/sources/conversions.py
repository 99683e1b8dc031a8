"""``types=``: conversions of columns, each a function of one cell that never fails.

The accepted syntax is that of the regular expressions below. They are checked before a cast, and
the cast reads only texts that match, so no engine decides what a number is. Every text that matches
states a value that all engines have. A cell that does not convert is NULL.

::

    int        [+-] 1 to 18 digits [ "." zeros ]
    float      [+-] up to 30 digits [ "." up to 30 digits ] [ ("e" | "E") [+-] exponent up to 269 ]
    decimal    [+-] up to 18 digits [ "." up to 18 digits ]
    bool       true t yes y 1 false f no n 0, in lower or upper case
    date       YYYY-MM-DD, or a timestamp, of which it is the day
    timestamp  YYYY-MM-DD, a blank or "T", HH:MM [ ":SS" [ "." 1 to 6 digits ] ]

Blanks around a text are ignored; with them it has at most 160 characters. Dates lie in the years 1
to 9999.
"""

from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from leastnoise.core.exact import quote
from leastnoise.errors import InvalidParameter, Words
from leastnoise.suggestions import find_nearest
from leastnoise.tables.sources.calendar import parse_time, utc_time
from leastnoise.tables.sources.functions import engine_function

if TYPE_CHECKING:
    import ibis.expr.types as ir

# What callers may write for each kind, its usual name first.
_KINDS: dict[str, tuple[str | type, ...]] = {
    "integer": ("int", "integer", int),
    "real": ("float", "real", float),
    "decimal": ("decimal", Decimal),
    "boolean": ("bool", "boolean", bool),
    "text": ("text", "str", "string", str),
    "date": ("date", date),
    "timestamp": ("timestamp", "datetime", datetime),
}
_NAMES = {name: kind for kind, names in _KINDS.items() for name in names}
_EXAMPLE = Words(
    "types={'month': int, 'joined': 'date'}", "--type Month=integer --type Joined=date"
)
Types = Mapping[str, str | type]


def parse_types(types: object) -> Mapping[str, str]:
    """Return the caller's conversions: the kind of each column that is converted."""
    if not isinstance(types, Mapping):
        raise InvalidParameter(
            Words("types", "--type") + " must name a type for each converted column",
            got=quote(types),
            fix="Write, for example, " + _EXAMPLE + ".",
        )
    parsed = {}
    for column, type_ in types.items():
        name = type_.lower() if isinstance(type_, str) else type_
        kind = _NAMES.get(name) if isinstance(name, str | type) else None
        if not isinstance(column, str) or kind is None:
            raise InvalidParameter(
                Words("types", "--type")
                + " must give columns the type "
                + Words("int, float, decimal, bool", "integer, real, decimal, boolean")
                + ", text, date or timestamp",
                got=f"{quote(type_)} for the column {quote(column)}",
                fix="Write, for example, " + _EXAMPLE + ".",
            )
        parsed[column] = kind
    return MappingProxyType(dict(sorted(parsed.items())))


def check_conversions(
    kinds: Mapping[str, str], zoned: frozenset[str], types: Mapping[str, str]
) -> None:
    """Reject columns that do not exist, and conversions that this module does not have.

    Args:
        kinds: The kind of each column.
        zoned: The columns of timestamps with a time zone.
        types: The kind of each converted column.
    """
    for column, kind in types.items():
        if column not in kinds:
            near = find_nearest(column, kinds)
            raise InvalidParameter(
                Words("types", "--type") + f" names a column {quote(column)} that the table lacks",
                fix=f"Did you mean {near!r}?" if near else "Check the names of its columns.",
            )
        of = "zoned" if column in zoned else kinds[column]
        if of != kind and (of, kind) not in _CONVERSIONS:
            raise InvalidParameter(
                f"A column of kind {kinds[column]} cannot be converted to {kind}",
                got=f"the column {quote(column)}",
                fix="Convert it in the table, and protect that table.",
            )


def convert(value: Any, kind: str, to: str, engine: str) -> "ir.Value":
    """Return a column converted from one kind to another; NULL where it does not convert.

    Args:
        value: The column.
        kind: Its kind, or "zoned" for timestamps with a time zone.
        to: The kind to convert to.
        engine: "duckdb", "postgres" or "pyspark".
    """
    converted: ir.Value = value if kind == to else _CONVERSIONS[kind, to](value, engine)
    return converted


def swap_decimals(texts: Any) -> Any:
    """Return texts of DuckDB with points for commas, and commas for points.

    So a number with a decimal comma is one with a point, and one with a point is none.
    """
    swap = engine_function("translate", ("string", "string", "string"), "string")
    return swap(texts, ",.", ".,")


def parse_texts(texts: Any, kind: str, *, comma: bool) -> "ir.Value":
    """Return the texts of a file as the kind that a query needs; NULL where they are none.

    Numbers, booleans and dates are those that DuckDB reads. A timestamp is one as in ``types=``, or
    a date, which is its midnight: DuckDB would also accept a time zone, and apply it.

    Args:
        texts: The column, of DuckDB.
        kind: "number", "boolean", "date" or "timestamp".
        comma: Whether numbers are written with decimal commas.
    """
    import ibis

    if kind == "number":
        parsed = (swap_decimals(texts) if comma else texts).try_cast("float64")
    elif kind == "timestamp":
        midnight = _text_to_date(texts, "duckdb").cast("timestamp(6)")
        parsed = ibis.coalesce(_text_to_time(texts, "duckdb"), midnight)
    else:
        parsed = texts.try_cast(kind)
    value: ir.Value = parsed
    return value


def describe_types(types: Mapping[str, str]) -> tuple[str, ...]:
    """Return a sentence for answers about the conversions; none without them."""
    if not types:
        return ()
    each = ", ".join(f"{column} to {_KINDS[kind][0]}" for column, kind in types.items())
    return (f"Columns are converted ({each}); a value that does not convert counts as NULL.",)


# ---------------------------------------------------------------- texts

_YEAR = "(?:[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])"
_LEAP = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)"
_DATE = (
    f"(?:{_YEAR}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])"
    "|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))"
    f"|{_LEAP}-02-29)"
)
_TIME = f"{_DATE}[ T](?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:[.][0-9]{{1,6}})?)?"
_INTEGER = "[+-]?[0-9]{1,18}(?:[.]0{0,20})?"
# At most 10³⁰ · 10²⁶⁹, and at least 10⁻³⁰ · 10⁻²⁶⁹ unless it is 0: within the range of doubles.
_REAL = (
    "[+-]?(?:[0-9]{1,30}(?:[.][0-9]{0,30})?|[.][0-9]{1,30})"
    "(?:[eE][+-]?(?:[01]?[0-9]{1,2}|2[0-6][0-9]))?"
)
_DECIMAL = "[+-]?(?:[0-9]{1,18}(?:[.][0-9]{0,18})?|[.][0-9]{1,18})"
_DIGITS = "decimal(36, 18)"  # the most that engines sum exactly: see lattice.fits
_LONGEST = 160  # characters, with the blanks around it
_TRUE, _FALSE = ["true", "t", "yes", "y", "1"], ["false", "f", "no", "n", "0"]


def _trim(text: Any, engine: str) -> Any:
    """Return a text without the blanks around it; NULL if it is too long.

    PostgreSQL fails to trim a text of 300 MB, and to match a regular expression with it. DuckDB
    would remove other spaces, too.
    """
    import ibis

    cut = engine_function("left", ("string", "int32"), "string")(text, _LONGEST + 1)
    if engine == "duckdb":
        trimmed = engine_function("trim", ("string", "string"), "string")(cut, " ")
    else:
        name = "btrim" if engine == "postgres" else "trim"
        trimmed = engine_function(name, ("string",), "string")(cut)
    return ibis.cases((cut.length() <= _LONGEST, trimmed), else_=ibis.null("string"))


def _matching(text: Any, pattern: str, engine: str) -> Any:
    """Return a text without blanks around it; NULL unless it matches the whole pattern."""
    import ibis

    trimmed = _trim(text, engine)
    end = r"\Z" if engine == "postgres" else r"\z"  # "$" could match before a line break
    matches = trimmed.re_search(rf"\A(?:{pattern}){end}")
    return ibis.cases((matches, trimmed), else_=ibis.null("string"))


def _text_to_integer(text: Any, engine: str) -> Any:
    digits = _matching(text, _INTEGER, engine)
    whole = engine_function("split_part", ("string", "string", "int32"), "string")
    return whole(digits, ".", 1).cast("int64")


def _text_to_real(text: Any, engine: str) -> Any:
    return _matching(text, _REAL, engine).cast("float64")


def _text_to_decimal(text: Any, engine: str) -> Any:
    return _matching(text, _DECIMAL, engine).cast(_DIGITS)


def _text_to_boolean(text: Any, engine: str) -> Any:
    import ibis

    word = _trim(text, engine).lower()
    return ibis.cases(
        (word.isin(_TRUE), True), (word.isin(_FALSE), False), else_=ibis.null("boolean")
    )


def _text_to_date(text: Any, engine: str) -> Any:
    day = engine_function("left", ("string", "int32"), "string")
    return day(_matching(text, f"(?:{_DATE}|{_TIME})", engine), len("YYYY-MM-DD")).cast("date")


def _text_to_time(text: Any, engine: str) -> Any:
    import ibis

    time = _matching(text, _TIME, engine).replace("T", " ")
    minutes = len("YYYY-MM-DD HH:MM")
    return parse_time(
        ibis.cases((time.length() == minutes, time + ibis.literal(":00")), else_=time), engine
    )


# ---------------------------------------------------------------- other kinds


def _real_to_integer(value: Any, engine: str) -> Any:
    import ibis

    real = value.cast("float64")
    nearest = engine_function("rint" if engine == "pyspark" else "floor", ("float64",), "float64")
    most = ibis.literal(float(1 << 63), "float64")
    whole = (real >= -most) & (real < most) & (nearest(real) == real)  # NaN is above all, or unlike
    return ibis.cases((whole, real), else_=ibis.null("float64")).cast("int64")


def _decimal_to_integer(value: Any, engine: str) -> Any:
    return _text_to_integer(value.cast("string"), engine)


def _boolean_to_integer(value: Any, engine: str) -> Any:  # noqa: ARG001 -- as the others
    import ibis

    return ibis.cases((value, 1), (~value, 0), else_=ibis.null("int64")).cast("int64")


def _integer_to_real(value: Any, engine: str) -> Any:  # noqa: ARG001 -- as the others
    return value.cast("float64")


def _time_to_date(value: Any, engine: str) -> Any:  # noqa: ARG001 -- as the others
    return value.cast("date")


def _zoned_to_date(value: Any, engine: str) -> Any:
    return utc_time(value, engine).cast("date")


_CONVERSIONS: dict[tuple[str, str], Callable[[Any, str], Any]] = {
    ("text", "integer"): _text_to_integer,
    ("text", "real"): _text_to_real,
    ("text", "decimal"): _text_to_decimal,
    ("text", "boolean"): _text_to_boolean,
    ("text", "date"): _text_to_date,
    ("text", "timestamp"): _text_to_time,
    ("real", "integer"): _real_to_integer,
    ("decimal", "integer"): _decimal_to_integer,
    ("boolean", "integer"): _boolean_to_integer,
    ("integer", "real"): _integer_to_real,
    ("timestamp", "date"): _time_to_date,
    ("zoned", "timestamp"): utc_time,
    ("zoned", "date"): _zoned_to_date,
}
