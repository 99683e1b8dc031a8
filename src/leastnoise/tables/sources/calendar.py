"""Dates and timestamps that Python has too: the years 1 to 9999, to the microsecond.

Engines have more: years before Christ and after 9999, and ±∞. Python would read two of them as the
same key, or fail. So such dates name no group or unit, and such timestamps are NULL in a source.
Digits of a timestamp beyond microseconds are dropped.

Spark has two types of timestamps, which Ibis does not tell apart. Those with a local time zone are
moments, whose date depends on a setting of the session. Those without (``timestamp_ntz``) are read
here, and written by functions of Spark: a cast by Ibis would be to the other type.
"""

from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from leastnoise.tables.sources.functions import engine_function

if TYPE_CHECKING:
    import ibis.expr.types as ir

_FIRST, _LAST = datetime.min, datetime.max  # noqa: DTZ901 -- without a zone, as the columns
# DuckDB compares timestamps of other units in their own type only: casting them can fail.
_SECONDS = {0: "9999-12-31 23:59:59", 3: "9999-12-31 23:59:59.999"}
_NANOSECONDS = 9
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 -- without a time zone, as the columns
_DAY = 86_400_000_000  # microseconds
_MOST = (_LAST - _EPOCH).days * _DAY + _DAY - 1
_LEAST = (_FIRST - _EPOCH).days * _DAY


def known_days(value: "ir.Value") -> "ir.Value":
    """Return dates, those that Python does not have as NULL."""
    import ibis

    known = value.between(ibis.literal(date.min), ibis.literal(date.max))
    return ibis.cases((known, value), else_=ibis.null("date"))


def known_times(value: Any, engine: str) -> Any:
    """Return timestamps in microseconds, those that Python does not have as NULL."""
    import ibis

    scale = value.type().scale
    if engine == "duckdb" and scale in _SECONDS:
        ends = (ibis.literal(end).cast(value.type()) for end in (str(_FIRST), _SECONDS[scale]))
        value = ibis.cases((value.between(*ends), value))
    if engine == "duckdb" and scale == _NANOSECONDS:  # a cast would round
        nanos = engine_function("epoch_ns", ("timestamp(9)",), "int64")(value)
        micros = engine_function("divide", ("int64", "int64"), "int64")(nanos, 1_000)
        value = engine_function("make_timestamp", ("int64",), "timestamp(6)")(micros)
    elif engine == "duckdb":
        value = value.cast("timestamp(6)")
    known = value.between(time_literal(_FIRST, engine), time_literal(_LAST, engine))
    return ibis.cases((known, value))


def time_literal(value: datetime, engine: str) -> "ir.Value":
    """Return a timestamp without time zone as a literal."""
    import ibis

    return parse_time(ibis.literal(value.isoformat(" ", "microseconds")), engine)


def parse_time(text: Any, engine: str) -> Any:
    """Return the timestamp that a text such as 2024-02-29 12:00:00 states; it must be valid."""
    if engine == "pyspark":
        return engine_function("to_timestamp_ntz", ("string",), "timestamp")(text)
    return text.cast("timestamp(6)")


def time_to_text(value: datetime) -> str:
    """Return a timestamp as :func:`write_time` writes it."""
    day = value.year * 10_000 + value.month * 100 + value.day
    clock = (value.hour * 100 + value.minute) * 100_000_000 + value.second * 1_000_000
    return f"{day}T{clock + value.microsecond}"


def write_time(value: Any, engine: str) -> Any:
    """Return a known timestamp as a string of two numbers, the same on all engines."""
    import ibis

    year, month, day, hour, minute = (
        part.cast("int64")
        for part in (value.year(), value.month(), value.day(), value.hour(), value.minute())
    )
    date_ = (year * 10_000 + month * 100 + day).cast("string")
    clock = (hour * 100 + minute) * 100_000_000 + _microseconds(value, engine)
    return date_ + ibis.literal("T") + clock.cast("string")


def _microseconds(value: Any, engine: str) -> Any:
    """Return the microseconds since the last full minute."""
    if engine == "duckdb":
        return engine_function("microsecond", ("timestamp(6)",), "int64")(value)
    if engine == "postgres":
        part = engine_function("date_part", ("string", "timestamp"), "float64")
        return part("microseconds", value).cast("int64")
    part = engine_function("date_part", ("string", "timestamp"), "decimal(8, 6)")
    return (part("SECOND", value) * 1_000_000).cast("int64")


def utc_time(value: Any, engine: str) -> Any:
    """Return moments, which have a time zone, as timestamps in UTC."""
    import ibis

    if engine == "postgres":
        local = engine_function("timezone", ("string", "timestamp('UTC')"), "timestamp")
        return known_times(local("UTC", value), engine)
    if engine == "duckdb":
        micros = engine_function("epoch_us", ("timestamp('UTC')",), "int64")(value)
    else:
        micros = engine_function("unix_micros", ("timestamp",), "int64")(value)
    micros = ibis.cases((micros.between(_LEAST, _MOST), micros), else_=ibis.null("int64"))
    if engine == "duckdb":
        return engine_function("make_timestamp", ("int64",), "timestamp(6)")(micros)
    return _from_microseconds(micros)


def _from_microseconds(micros: Any) -> Any:
    """Return a timestamp of Spark from the microseconds since 1970.

    Spark divides in doubles. They are exact here: a whole number of days has few binary digits, and
    the rest of a day is below 2³⁷.
    """
    import ibis

    rest = engine_function("pmod", ("int64", "int64"), "int64")(micros, _DAY)
    days = ((micros - rest) / float(_DAY)).cast("int32")
    day = engine_function("date_add", ("date", "int32"), "date")(ibis.date("1970-01-01"), days)
    minute = rest // 60_000_000
    # The cast rounds a double of up to 8 digits to the decimal that it stands for.
    second = ((rest % 60_000_000) / 1_000_000.0).cast("decimal(16, 6)")
    make = engine_function("make_timestamp_ntz", (*("int32",) * 5, "decimal(16, 6)"), "timestamp")
    parts = (day.year(), day.month(), day.day(), minute // 60, minute % 60)
    return make(*(part.cast("int32") for part in parts), second)
