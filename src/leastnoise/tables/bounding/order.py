"""The order of a unit's groups, by a hash that is equal on all engines.

The hash must prefer no group, and two units must choose as if independently. It is not a security
measure: every order that depends on the rows of the unit alone satisfies the guarantee. Groups with
equal hashes are ordered by their names, so the order is never left to the engine.

* If unit and group have integers, booleans or dates alone, they are hashed in integers of 64 bits.
  Three linear forms of the names, each modulo another prime, are multiplied modulo further primes.
  No form is negative: all engines compute remainders with the sign of the dividend, so groups with
  negative names would come before others. Nothing can overflow.
* Otherwise their names are joined to one string, of which md5 is the hash. All engines have it, but
  it takes longer than the rest of the choice.
"""

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from leastnoise.tables.bounding.lattice import builtin
from leastnoise.tables.bounding.names import day_number, join_texts, to_text
from leastnoise.tables.sources import engine_function

if TYPE_CHECKING:
    import ibis.expr.types as ir

_LONG = 1_000  # characters
# The least prime above 2³¹, so integers of 32 bits are their own remainders. Those of the forms and
# the products are below 2³¹.
_NAMES = 2147483659
_FORMS = 2147483629, 2147483587, 2147483563
_PRODUCTS = 2147483579, 2147483549
# A form of at most 8 names, each raised to lie from 1 to 2³² + 20, is below 2⁶² + 2⁴⁰.
_MOST_NAMES, _FACTOR = 8, 1 << 27
_WIDTH = 1 << 32


def order_groups(
    unit: "ir.Value",
    groups: Sequence["ir.Value"],
    salt: str,
    *,
    one: bool,
    engine: str,
    narrow: bool,
) -> list[Any]:
    """Return the values that order the groups of a unit; no two groups have the same.

    Args:
        unit: The name of the unit.
        groups: The names of the group, one for each column.
        salt: A string that is hashed with names, so that queries order groups independently.
        one: Whether one value must order the groups, which DuckDB compares faster than several.
        engine: "duckdb", "postgres" or "pyspark".
        narrow: Whether the names of all groups lie within 2³² of each other, if they are integers.
    """
    import ibis

    numbers = [_to_number(name) for name in (unit, *groups)]
    known = [number for number in numbers if number is not None]
    packed = None
    if len(known) < len(numbers) or len(known) > _MOST_NAMES:
        hashed = _hash_texts([to_text(name, engine) for name in (unit, *groups)], salt)
    else:
        hashed = _hash_numbers(known, salt)
        if narrow:
            packed = hashed * _WIDTH + (groups[0].cast("int64") & (_WIDTH - 1))
    if not one:
        return [hashed, *groups]
    if packed is not None:
        return [packed]
    return [ibis.struct({"hash": hashed} | {f"name{i}": name for i, name in enumerate(groups)})]


def _to_number(name: Any) -> Any:
    """Return a name as an integer within ±_NAMES; None if it has a type that is not read as one."""
    import ibis

    kind = name.type()
    if kind.is_boolean():
        return ibis.cases((name, 1), else_=0).cast("int64")
    if kind.is_date():
        return day_number(name)
    if not kind.is_integer() or kind.is_uint64():
        return None
    number = name.cast("int64")
    return number if kind.nbytes <= 4 and not kind.is_uint32() else number % _NAMES


def _hash_numbers(names: Sequence[Any], salt: str) -> Any:
    """Return the hash of integers: an integer from 0 to 2³¹.

    A single product would prefer some of few groups; the product of three forms does not.
    """
    first, second, third = (
        _add_up(names, f"{salt}:{place}") % prime for place, prime in enumerate(_FORMS)
    )
    inner, outer = _PRODUCTS
    return (first * second % inner) * third % outer


def _add_up(names: Sequence[Any], salt: str) -> Any:
    """Return a linear form of integers, with factors that depend on the salt; it is positive.

    Each name is raised by ``_NAMES``, which only changes the constant.
    """
    constant, *factors = (_find_factor(f"{salt}:{place}") for place in range(len(names) + 1))
    form: Any = constant + _NAMES * sum(factors)
    for name, factor in zip(names, factors, strict=True):
        form = name * factor + form
    return form


def _find_factor(salt: str) -> int:
    """Return a factor from 1 to 2²⁷."""
    return int.from_bytes(hashlib.sha256(salt.encode()).digest()[:8]) % _FACTOR + 1


def _hash_texts(texts: Sequence[Any], salt: str) -> Any:
    """Return the hash of strings. Its first 12 digits are enough, and faster to sort."""
    import ibis

    joined = join_texts([ibis.literal(salt), *map(_shorten, texts)])
    left = engine_function("substr", ("string", "int32", "int32"), "string")
    return left(builtin("md5", "string")(joined), 1, 12)


def _shorten(text: Any) -> Any:
    """Return a text to hash; a long text is replaced by its own hash.

    Two strings of one row could otherwise be joined to 1 GB, at which PostgreSQL fails.
    """
    import ibis

    return ibis.cases((text.length() > _LONG, builtin("md5", "string")(text)), else_=text)
