"""The keys of groups: integers, strings, booleans and dates."""

from collections.abc import Iterable, Sequence
from datetime import date, datetime
from numbers import Integral
from typing import Any

from leastnoise.core.exact import quote
from leastnoise.errors import InvalidParameter, Words

Part = int | str | bool | date
Key = tuple[Part, ...]
# Groups as callers give them: values, or with several columns tuples.
Groups = Iterable[Part | Sequence[Part]]

_KINDS: dict[str, type] = {"integer": int, "text": str, "boolean": bool, "date": date}


def parse_keys(keys: object, columns: int) -> tuple[Key, ...]:
    """Return the groups that a caller gave, sorted; reject an empty list and repeated groups."""
    if not columns:
        raise InvalidParameter(
            Words("groups=", "--group") + " needs a column to group by",
            got=Words("groups without by", "--group without --by"),
            fix="Add " + Words("by=", "--by") + ", or omit the groups.",
        )
    if isinstance(keys, str | bytes) or not hasattr(keys, "__iter__"):
        raise InvalidParameter(
            "groups must be a list",
            got=quote(keys),
            fix='Write for instance groups=["north", "south"].',
        )
    read = tuple(_parse_key(key, columns) for key in keys)
    if not read:
        raise InvalidParameter(
            "groups must not be empty",
            got="an empty list",
            fix="Name a group, or omit "
            + Words("groups=", "--group and --groups-file")
            + " to discover groups.",
        )
    # True equals 1 in Python, but a column never holds both: its keys are of one type, below.
    if len(set(read)) != len(read):
        raise InvalidParameter("groups must be different", got="one twice", fix="Write each once.")
    kinds = [{type(part) for part in column} for column in zip(*read, strict=True)]
    if any(len(found) > 1 for found in kinds):
        raise InvalidParameter(
            "the groups of a column must have one type",
            got="several types",
            fix="Write all of them as the column holds them: all strings, or all integers.",
        )
    return tuple(sorted(read))


def check_keys(keys: tuple[Key, ...], by: tuple[str, ...], kinds: tuple[str, ...]) -> None:
    """Reject keys of another kind than their column."""
    for name, kind, part in zip(by, kinds, keys[0], strict=True):
        if type(part) is not _KINDS[kind]:
            raise InvalidParameter(
                f"groups for {name!r} must be of kind {kind}",
                got=f"one of type {type(part).__name__}",
                fix="Write them as the column holds them. CSV columns are read as text.",
            )


def keys_to_json(keys: tuple[Key, ...] | None) -> list[list[Any]] | None:
    """Return keys as JSON has them; all keys of a column are of one type."""
    if keys is None or not any(isinstance(part, date) for key in keys[:1] for part in key):
        return None if keys is None else [*map(list, keys)]
    return [
        [{"date": part.isoformat()} if isinstance(part, date) else part for part in key]
        for key in keys
    ]


def keys_from_json(written: list[list[Any]]) -> tuple[Key, ...]:
    """Return keys from JSON."""
    return tuple(tuple(_part_from_json(part) for part in key) for key in written)


def _part_from_json(part: Any) -> Part:
    if isinstance(part, dict):
        return date.fromisoformat(part["date"])
    if type(part) not in (int, str, bool):
        raise ValueError
    return part  # type: ignore[no-any-return]


def _parse_key(key: object, columns: int) -> Key:
    parts = key if isinstance(key, tuple | list) else (key,)
    if len(parts) != columns:
        raise InvalidParameter(
            f"a group must have a value for each of the {columns} columns of by",
            got=f"{len(parts)}",
            fix="Write tuples if by has several columns.",
        )
    return tuple(_parse_part(part) for part in parts)


def _parse_part(part: object) -> Part:
    if isinstance(part, bool) or (isinstance(part, date) and not isinstance(part, datetime)):
        return part
    if isinstance(part, Integral) and -(1 << 63) <= int(part) < 1 << 63:
        return int(part)
    if isinstance(part, str) and "\0" not in part and encodes(part):
        return str(part)
    raise InvalidParameter(
        "a group must be a 64-bit integer, a string in UTF-8, a boolean or a date",
        got=quote(part),
        fix="Group by a column that holds such values.",
    )


def encodes(text: str) -> bool:
    """Return whether UTF-8 can write a text, which half of a surrogate pair cannot be."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
