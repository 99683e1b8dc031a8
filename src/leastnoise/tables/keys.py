"""Group keys: tuples of integers, strings, booleans, dates and timestamps."""

from collections.abc import Iterable, Sequence
from datetime import date, datetime
from numbers import Integral
from typing import Any

from leastnoise.core.exact import quote
from leastnoise.errors import InvalidParameter, Words, parameter

Part = int | str | bool | date | datetime
Key = tuple[Part, ...]
# Groups as callers pass them: values, or tuples if there are several columns.
Groups = Iterable[Part | Sequence[Part]]

_KINDS: dict[str, type] = {
    "integer": int,
    "text": str,
    "boolean": bool,
    "date": date,
    "timestamp": datetime,
}


def parse_keys(keys: object, columns: int) -> tuple[Key, ...]:
    """Return the caller's groups as sorted keys; reject an empty list and repeated groups."""
    if not columns:
        raise InvalidParameter(
            Words("groups=", "--group") + " needs a column to group by",
            got=Words("groups without by", "--group without --by"),
            fix="Add " + Words("by=", "--by") + ", or omit the groups.",
        )
    if isinstance(keys, str | bytes) or not hasattr(keys, "__iter__"):
        raise InvalidParameter(
            parameter("groups") + " must be a list",
            got=quote(keys),
            fix="Write, for example, "
            + Words('groups=["north", "south"]', "--group north --group south")
            + ".",
        )
    parsed = tuple(_parse_key(key, columns) for key in keys)
    if not parsed:
        raise InvalidParameter(
            parameter("groups") + " must not be empty",
            got="an empty list",
            fix="Name a group, or omit "
            + Words("groups=", "--group and --groups-file")
            + " to discover groups.",
        )
    # True equals 1 in Python, but a column cannot have both, because its keys have one type.
    if len(set(parsed)) != len(parsed):
        raise InvalidParameter(
            parameter("groups") + " must not repeat",
            got="a group twice",
            fix="Write each group once.",
        )
    types = [{type(part) for part in column} for column in zip(*parsed, strict=True)]
    if any(len(column) > 1 for column in types):
        raise InvalidParameter(
            "The groups of a column must have one type",
            got="several types",
            fix="Write all groups as strings, or all as integers, as the column has them.",
        )
    return tuple(sorted(parsed))


def check_keys(keys: tuple[Key, ...], by: tuple[str, ...], kinds: tuple[str, ...]) -> None:
    """Reject keys whose kind differs from that of their column."""
    for name, kind, part in zip(by, kinds, keys[0], strict=True):
        if type(part) is not _KINDS[kind]:
            raise InvalidParameter(
                parameter("groups") + f" for {name!r} must be of kind {kind}",
                got=f"a group of type {type(part).__name__}",
                fix="Write groups as the column has them. CSV columns are read as text.",
            )


def keys_to_json(keys: tuple[Key, ...] | None) -> list[list[Any]] | None:
    """Return keys as JSON. The first key shows the types, because those of a column are equal."""
    if keys is None or not any(isinstance(part, date) for key in keys[:1] for part in key):
        return None if keys is None else [*map(list, keys)]
    return [
        [_part_to_json(part) if isinstance(part, date) else part for part in key] for key in keys
    ]


def _part_to_json(part: date) -> dict[str, str]:
    return {"timestamp" if isinstance(part, datetime) else "date": part.isoformat()}


def keys_from_json(keys: list[list[Any]]) -> tuple[Key, ...]:
    """Return keys from JSON."""
    return tuple(tuple(_part_from_json(part) for part in key) for key in keys)


def _part_from_json(part: Any) -> Part:
    if isinstance(part, dict):
        if "timestamp" in part:
            return datetime.fromisoformat(part["timestamp"])
        return date.fromisoformat(part["date"])
    if type(part) not in (int, str, bool):
        raise ValueError
    return part  # type: ignore[no-any-return]


def _parse_key(key: object, columns: int) -> Key:
    parts = key if isinstance(key, tuple | list) else (key,)
    if len(parts) != columns:
        raise InvalidParameter(
            f"A group must have a value for each of the {columns} columns of " + parameter("by"),
            got=f"{len(parts)}",
            fix=Words(
                "Write tuples if by has several columns.",
                "Separate the values by commas, as in --group north,f.",
            ),
        )
    return tuple(_parse_part(part) for part in parts)


def _parse_part(part: object) -> Part:
    if isinstance(part, datetime):  # also pandas' own, which may have nanoseconds
        if part.tzinfo is None and not getattr(part, "nanosecond", 0):
            return datetime.fromisoformat(part.isoformat())
    elif isinstance(part, bool | date):
        return part
    if isinstance(part, Integral) and -(1 << 63) <= int(part) < 1 << 63:
        return int(part)
    if isinstance(part, str) and "\0" not in part and encodes(part):
        return str(part)
    raise InvalidParameter(
        "A group must be a 64-bit integer, a string in UTF-8, a boolean, a date or a timestamp "
        "without a time zone",
        got=quote(part),
        fix="Group by a column of one of these types.",
    )


def encodes(text: str) -> bool:
    """Return whether UTF-8 can encode a text. It cannot encode half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
