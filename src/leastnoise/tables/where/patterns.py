r"""Patterns of ``like``: ``%`` stands for any characters, ``_`` for one, ``\`` escapes both.

Engines differ where an escape precedes another character or ends the pattern, so such a pattern is
rejected. In every other pattern the three agree: DuckDB is told the escape, and PostgreSQL and
Spark have it by default. A character is a code point, a line break is one, and case matters.
"""

from functools import cache
from typing import Any

ESCAPE = "\\"
_LONGEST = 1_000


def check_pattern(pattern: str) -> str | None:
    """Return what is wrong with a pattern, for an error; None if it is valid."""
    if len(pattern) > _LONGEST:
        return f"more than {_LONGEST} characters"
    characters = iter(pattern)
    for character in characters:
        if character == ESCAPE and next(characters, "") not in ("%", "_", ESCAPE):
            return "a backslash that escapes nothing"
    return None


def matches(column: Any, pattern: str, engine: str) -> Any:
    """Return whether a column of strings matches a valid pattern."""
    if engine == "duckdb":
        return _function("like_escape", 3)(column, pattern, ESCAPE)
    if engine == "postgres":  # the blanks that pad CHAR(n) are no part of a value
        column = _text()(column)
    return _function("like", 2)(column, pattern)


@cache
def _function(name: str, texts: int) -> Any:
    """Return a function of strings that all versions of an engine have."""
    import ibis

    declare = ibis.udf.scalar.builtin(name=name, signature=(("string",) * texts, "boolean"))

    def with_default(value, pattern):  # type: ignore[no-untyped-def]  # ibis reads the signature
        ...

    def with_escape(value, pattern, escape):  # type: ignore[no-untyped-def]  # as above
        ...

    return declare(with_default if texts == 2 else with_escape)


@cache
def _text() -> Any:
    import ibis

    @ibis.udf.scalar.builtin(name="text", signature=(("string",), "string"))
    def function(value):  # type: ignore[no-untyped-def]  # ibis reads the signature
        ...

    return function
