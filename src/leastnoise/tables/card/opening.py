"""Open the table of a card, with the columns that queries may use, and its ledger."""

import os
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from glob import escape, has_magic
from types import MappingProxyType

from leastnoise.core.exact import quote
from leastnoise.core.privacy import Privacy, format_guarantee
from leastnoise.errors import InvalidParameter, Words, parameter
from leastnoise.ledger import Ledger, Unrecorded, check_ledger, check_name
from leastnoise.rendering import Fact
from leastnoise.tables.card.card import Card, FromEnvironment, LedgerRules
from leastnoise.tables.card.check import check_contribution
from leastnoise.tables.card.schema import check_schema, naming
from leastnoise.tables.queries.planned_query import Unit
from leastnoise.tables.sources import Source, join_lookup, open_source

# The kinds of columns that are converted, each with the type that the card states.
_CONVERTED = {
    *(("text", type_) for type_ in ("integer", "real", "decimal", "boolean", "date", "timestamp")),
    *((kind, "integer") for kind in ("real", "decimal", "boolean")),
    *(("integer", "real"), ("timestamp", "date")),
}
_ADDRESS = "://"


def open_table(card: Card, *, name: str | None = None, version: str | None = None) -> Source:
    """Open the table of a card, and check the card against its schema. No row is read.

    Args:
        card: The card.
        name: What the data is called, if the card does not state it.
        version: The version of the data, if the card does not state it.

    Raises:
        InvalidParameter: If there is no such table, or its columns do not fit the card.
    """
    name = name if card.name is None else card.name
    version = version if card.version is None else card.version
    place = _resolve(card, card.source, ("source",), pattern=True)
    open_place = partial(
        open_source,
        place,
        card.table,
        name=name,
        version=version,
        delimiter=card.delimiter,
        encoding=card.encoding,
        decimal=card.decimal,
    )
    with naming(card, "source"):
        source = open_place()
    try:
        types = _find_conversions(card, source)
        if types:
            source.close()
            with naming(card, "columns"):
                source = open_place(types=types)
        joined = _join_lookups(card, source)
        check_schema(card, joined)
    except BaseException:
        source.close()
        raise
    return replace(joined, refused=_list_refused(card, source), card=card.hash)


def _find_conversions(card: Card, source: Source) -> dict[str, str]:
    """Return the types of columns that must be converted to have the type that a card states."""
    stated = card.types.items()
    kinds = {name: source.kinds.get(name) for name, _ in stated}
    return {name: type_ for name, type_ in stated if (kinds[name], type_) in _CONVERTED}


def _join_lookups(card: Card, source: Source) -> Source:
    """Return a source with the columns of the lookups of a card."""
    for name, lookup in card.lookups.items():
        line = ("lookups", name, "source")
        place = lookup.source
        if card.table is None:
            place = _resolve(card, lookup.source, line, pattern=False)
        with naming(card, *line):
            source = join_lookup(source, place, lookup.key, lookup.columns or None)
    return source


def make_unit(card: Card, max_rows: int | None) -> Unit:
    """Return the privacy unit of a card, with the ``max_rows`` of the caller, if given."""
    if max_rows is None:
        return Unit(card.unit, card.max_rows.default, card.neighbors)
    unit = Unit(card.unit, max_rows, card.neighbors)
    check_contribution(card, "max_rows", int(max_rows), card.max_rows)
    return unit


def check_given(card: Card, given: Mapping[str, object]) -> None:
    """Reject arguments other than those that a card states.

    Raises:
        InvalidParameter: With the line of the card.
    """
    stated: dict[str, object] = {
        **{name: getattr(card, name) for name in ("unit", "table", "name", "version")},
        "neighbors": card.neighbors,
        "source": ...,  # another object for the same data cannot be compared
        "ledger": None if card.ledger is None else ...,
        **{name: getattr(card, name) for name in ("delimiter", "encoding", "decimal")},
        "types": dict(card.types) or None,
    }
    # Also without a line of their own.
    fixed = ("source", "unit", "neighbors", "table", "types", "delimiter", "encoding", "decimal")
    for name, value in given.items():
        if name in ("name", "version"):
            check_name(value, name)
        free = stated[name] is None and name not in fixed
        if free or value == stated[name]:
            continue
        line = "row_is_unit" if name == "unit" and card.unit is None else name
        raise InvalidParameter(
            f"{card.where(line)} states the {_CALLED.get(name, name)}, which is fixed",
            got="another value",
            fix="Omit " + Words(f"{name}=", _OPTIONS.get(name, f"--{name}")) + ".",
        )


_CALLED = {
    "unit": "privacy unit",
    "neighbors": "neighbor relation",
    "types": "type of columns",
    "decimal": "decimal sign",
}
_OPTIONS = {"types": "--type", "source": "SOURCE", "ledger": "--ledger and --unrecorded"}


def find_ledger(
    card: Card, ledger: Ledger | Unrecorded | None, analyst: str | None
) -> Ledger | Unrecorded:
    """Return the caller's ledger, or else open that of a card for an analyst.

    Raises:
        InvalidParameter: If there is no ledger, it is not as the card states, or the analyst is not
            listed.
    """
    if card.ledger is not None:
        check_analyst(card, analyst)
        return _open_ledger(card, card.ledger, analyst)
    if ledger is None:
        raise InvalidParameter(
            f"{card.document.name} names no ledger",
            fix="Add " + Words("ledger=Ledger(…)", "--ledger FILE") + ", or [ledger] to the card.",
        )
    check_ledger(ledger, "Open one with Ledger('people.ledger').")
    if analyst is not None:
        raise InvalidParameter(
            parameter("analyst") + " is for the ledger of a card",
            got="another ledger",
            fix="Open the ledger with Ledger(path, analyst=…).",
        )
    check_analyst(card, None if isinstance(ledger, Unrecorded) else ledger.analyst)
    _check_largest(card, ledger)
    return ledger


def check_analyst(card: Card, analyst: str | None) -> None:
    """Reject an analyst whom a card does not list; one without a list allows everybody."""
    if not card.analysts or (isinstance(analyst, str) and analyst in card.analysts):
        return
    if analyst is None:
        raise InvalidParameter(
            f"{card.where('analysts')} lists the analysts, so every query needs one",
            got="none",
            fix="Add " + Words("analyst=", "--analyst") + " with one of the names.",
        )
    near = get_close_matches(str(analyst), card.analysts, n=1)
    raise InvalidParameter(
        f"{card.where('analysts')} does not list this analyst",
        got=quote(analyst),
        fix=f"Did you mean {near[0]!r}?" if near else "Ask the owner of the card.",
    )


def _open_ledger(card: Card, rules: LedgerRules, analyst: str | None) -> Ledger:
    """Open the ledger of a card, which must exist and have the limits that the card states."""
    where = _resolve(card, rules.where, ("ledger", "path"))
    witness = None if rules.witness is None else os.path.join(card.folder, rules.witness)
    try:
        ledger = Ledger(where, dataset=rules.dataset, analyst=analyst, witness=witness)
    except InvalidParameter as error:
        raise InvalidParameter(
            f"{card.where('ledger', 'path')}: {error.problem}",
            fix=f"To create the ledger of the card: leastnoise card apply {card.document.name}",
        ) from None
    try:
        _check_limits(card, rules, ledger, analyst)
        opened = ledger if rules.allocation is None else ledger.allocation(rules.allocation)
        _check_largest(card, opened)
    except BaseException:
        ledger.close()
        raise
    return opened


def _check_limits(card: Card, rules: LedgerRules, ledger: Ledger, analyst: str | None) -> None:
    """Reject a ledger with other limits than a card states."""
    if rules.accounting not in (None, ledger.accounting):
        raise InvalidParameter(
            f"{card.where('ledger', 'accounting')} states {rules.accounting} accounting",
            got=f"a ledger with {ledger.accounting} accounting",
            fix="Correct the card: the accounting of a dataset never changes.",
        )
    own = card.analysts.get(analyst or "")
    pairs: list[tuple[str, Privacy | None, Privacy | None]] = [
        (card.where("ledger", "epsilon"), rules.limit, ledger.account.limit),
        (card.where("analysts", analyst or ""), own, ledger.analyst_account.limit),
    ]
    for line, stated, recorded in pairs:
        if stated is not None and stated != recorded:
            limit = "none" if recorded is None else format_guarantee(recorded)
            raise InvalidParameter(
                f"{line} states the limit {format_guarantee(stated)}",
                got=f"{limit} in the ledger",
                fix=f"Run leastnoise card apply {card.document.name}, or set the limit with "
                "leastnoise ledger set-limit.",
            )


def _check_largest(card: Card, ledger: Ledger | Unrecorded) -> None:
    """Reject a largest release that this ledger cannot measure."""
    largest = card.largest
    if isinstance(ledger, Unrecorded):
        if largest.share is not None:
            raise InvalidParameter(
                f"{card.where('largest', 'share')} states a share of a ledger",
                got="no ledger",
                fix="Use a ledger, or state epsilon and delta in the card.",
            )
    elif ledger.accounting == "gaussian" and (largest.epsilon or largest.delta is not None):
        raise InvalidParameter(
            f"{card.where('largest')} must be a share in an allocation, which has Gaussian "
            "accounting",
            got="ε or δ",
            fix='Write share = "1/50" in its place.',
        )


def create_ledger(card: Card) -> list[Fact]:
    """Create the ledger of a card, and the limits of its analysts; return what it now has.

    What exists is compared with the card, and never changed.

    Raises:
        InvalidParameter: If the card states no ledger or no limit, or the ledger has another.
    """
    rules = card.ledger
    if rules is None or rules.limit is None:
        raise InvalidParameter(
            f"{card.where('ledger')} states no limit of a ledger",
            fix='Write [ledger] with path = "people.ledger", epsilon = 1, delta = 1e-6.',
        )
    where = _resolve(card, rules.where, ("ledger", "path"))
    first = Ledger(where, limit=rules.limit, dataset=rules.dataset, accounting=rules.accounting)
    with closing(first):
        facts = [(f"Dataset {first.dataset!r}", format_guarantee(rules.limit))]
        for name, limit in card.analysts.items():
            with Ledger(where, dataset=first.dataset, analyst=name, analyst_limit=limit):
                own = "no limit of their own" if limit is None else format_guarantee(limit)
                facts.append((f"Analyst {name!r}", own))
    return facts


def _resolve(
    card: Card, place: str | FromEnvironment, field: tuple[str, ...], *, pattern: bool = False
) -> str:
    """Return a path relative to the folder of a card, or an address."""
    if isinstance(place, FromEnvironment):
        text = os.environ.get(place.variable)
        if not text:
            raise InvalidParameter(
                f"{card.where(*field)}: {place} is not set", fix=f"Set {place.variable}."
            )
        place = text
    if _ADDRESS in place:
        return place
    path = os.path.join(card.folder, place)
    if pattern and has_magic(place) and not os.path.isfile(path):
        return os.path.join(escape(card.folder), place)  # the folder's own name has no wildcards
    return path


def _list_refused(card: Card, source: Source) -> Mapping[str, str]:
    """Return the columns that queries must not use, each with the reason.

    A card that lists columns allows these only. A card without columns allows all.
    """
    refused = {
        name: f"{card.document.name} lists other columns only"
        for name in source.kinds
        if card.columns and name not in card.columns
    }
    for name, rules in card.columns.items():
        if not rules.allowed:
            refused[name] = f"{card.where('columns', name, 'allowed')} does not allow it"
    return MappingProxyType(refused)
