"""Keys of queries: a key that is repeated must be for the same query."""

from leastnoise.errors import InvalidParameter
from leastnoise.ledger.rows import Content

# The fields of a charge that must agree, in words.
_QUERY_PARTS = {"epsilon": "ε", "delta": "δ", "asked": "query", "mechanisms": "noise"}
# The fields of a table query that identify its data. Versions are written since 0.6.0.
_DATA_FIELDS = ("of", "table", "version")


def check_same_query(
    key: str, recorded: Content, charge: Content, formerly: Content | None
) -> None:
    """Reject a key that was used for another query; the analyst may differ.

    Args:
        key: The key.
        recorded: The content of an earlier charge under the key.
        charge: The content of the new charge.
        formerly: The query of the new charge as earlier versions wrote it, or None.
    """
    recorded, charge = _without_card(recorded), _without_card(charge)
    if formerly is not None and recorded["asked"] == formerly:
        charge = {**charge, "asked": formerly}
    different = [field for field in _QUERY_PARTS if recorded[field] != charge[field]]
    if different == ["asked"] and _differ_only_in_data(recorded["asked"], charge["asked"]):
        before, now = _describe_data(recorded["asked"]), _describe_data(charge["asked"])
        raise InvalidParameter(
            f"The key {key!r} was used for {before}",
            got=f"{now} with other columns or filters" if now == before else now,
            fix="Choose another key. Without one, every table has a key of its own.",
        )
    if different:
        raise InvalidParameter(
            f"The key {key!r} was used with a different {_name_parts(recorded, charge, different)}",
            fix="Choose another key.",
        )


def _without_card(content: Content) -> Content:
    """Return a charge without the hash of a card.

    The query itself states the effect of a card, so another card does not change the query.
    """
    query = content["asked"]
    if query.get("answer") != "tables":
        return content
    return {**content, "asked": {name: word for name, word in query.items() if name != "card"}}


def _name_parts(recorded: Content, charge: Content, different: list[str]) -> str:
    """Name the parts that differ; the noise, which follows from them, only if it differs alone."""
    before, now = (
        {name: part for name, part in content["asked"].items() if name != "noise"}
        for content in (recorded, charge)
    )
    hidden = {"mechanisms", *(["asked"] if before == now else [])}
    named = [_QUERY_PARTS[field] for field in different if field not in hidden]
    return " and ".join(named or ["noise"])


def _differ_only_in_data(recorded: Content, query: Content) -> bool:
    """Return whether two queries are the same query to different tables."""
    fields = recorded.keys() | query.keys()
    return "table" in recorded and all(
        field in _DATA_FIELDS or recorded.get(field) == query.get(field) for field in fields
    )


def _describe_data(query: Content) -> str:
    version = query.get("version")
    return f"{query.get('of')!r}" + (f" (version {version!r})" if version else "")
