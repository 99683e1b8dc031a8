"""Types of JSON."""

from collections.abc import Mapping, Sequence

JsonValue = str | int | float | None | Sequence["JsonValue"] | Mapping[str, "JsonValue"]
Json = dict[str, JsonValue]
