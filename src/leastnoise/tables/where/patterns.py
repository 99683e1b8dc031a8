r"""Patterns of ``like``: ``%`` stands for any characters, ``_`` for one, ``\`` escapes both.

Engines differ where an escape precedes another character or ends the pattern, so such a pattern is
rejected. In every other pattern the three agree: the query passes the escape to DuckDB, and
PostgreSQL and Spark have it by default. A character is a code point, a line break is one, and case
matters.
"""

from functools import cache
from typing import Any

ESCAPE = "\\"
_LONGEST = 1_000


def check_pattern(pattern: str) -> str | None:
    """Return the fault of a pattern, for an error; None if it is valid."""
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
        return _functions()[0](column, pattern, ESCAPE)
    # The blanks that pad PostgreSQL's CHAR(n) are no part of a value.
    return (_functions()[1](column) if engine == "postgres" else column).like(pattern)


@cache
def _functions() -> tuple[Any, Any]:
    """Return a match with an escape, and a string without the blanks that pad it."""
    import ibis

    @ibis.udf.scalar.builtin(name="like_escape", signature=(("string",) * 3, "boolean"))
    def match(value, pattern, escape):  # type: ignore[no-untyped-def]  # ibis reads the signature
        ...

    @ibis.udf.scalar.builtin(name="text", signature=(("string",), "string"))
    def unpad(value):  # type: ignore[no-untyped-def]  # as above
        ...

    return match, unpad
