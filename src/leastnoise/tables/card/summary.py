"""A card in words, for people."""

from leastnoise.core.exact import format_exact, format_short
from leastnoise.core.privacy import format_guarantee
from leastnoise.rendering import Fact, printable
from leastnoise.tables.card.card import Card, ColumnRules, LargestRelease, LedgerRules


def summarize(card: Card) -> list[Fact]:
    """Return what a card states, as labelled facts."""
    table = "" if card.table is None else f", table {card.table}"
    facts = [("Source", f"{card.source}{table}")]
    facts += [
        (label, text) for label, text in (("Name", card.name), ("Version", card.version)) if text
    ]
    facts.append(("Unit", "every row" if card.unit is None else f"a value of {card.unit!r}"))
    facts.append(("Neighbors", card.neighbors))
    facts.append(("Rows per unit", f"{card.max_rows} per group"))
    if card.max_groups is not None:
        facts.append(("Groups per unit", f"{card.max_groups}"))
    facts += [("One release", _describe_largest(card.largest))]
    facts += [("Ledger", _describe_ledger(card.ledger))]
    if card.analysts:
        facts.append(("Analysts", _describe_analysts(card)))
    facts += [
        (f"Lookup {name}", f"{lookup.source} by {lookup.key}")
        for name, lookup in card.lookups.items()
    ]
    facts += [(f"Column {name}", _describe_column(rules)) for name, rules in card.columns.items()]
    if not card.columns:
        facts.append(("Columns", "all are allowed, because the card lists none"))
    facts.append(("Hash", card.hash))
    return [(printable(label), printable(text)) for label, text in facts]


def _describe_largest(largest: LargestRelease) -> str:
    parts = {"ε": largest.epsilon, "δ": largest.delta, "share": largest.share}
    stated = [
        f"{name} at most {format_short(part)}" for name, part in parts.items() if part is not None
    ]
    return ", ".join(stated) or "no maximum"


def _describe_ledger(rules: LedgerRules | None) -> str:
    if rules is None:
        return "none: the caller opens one"
    parts = [str(rules.where)]
    if rules.dataset is not None:
        parts.append(f"dataset {rules.dataset!r}")
    if rules.limit is not None:
        parts.append(f"limit {format_guarantee(rules.limit)}")
    if rules.accounting is not None:
        parts.append(f"{rules.accounting} accounting")
    if rules.allocation is not None:
        parts.append(f"allocation {rules.allocation!r}")
    return ", ".join(parts)


def _describe_analysts(card: Card) -> str:
    return "; ".join(
        name if limit is None else f"{name} ({format_guarantee(limit)})"
        for name, limit in card.analysts.items()
    )


def _describe_column(rules: ColumnRules) -> str:
    parts = ["allowed" if rules.allowed else "not allowed"]
    if rules.type is not None:
        parts.append(rules.type)
    if rules.bounds is not None:
        parts.append(f"bounds [{', '.join(map(format_exact, rules.bounds))}]")
    if rules.edges is not None:
        parts.append(f"{len(rules.edges) - 1} ranges")
    if rules.groups is not None:
        parts.append(f"{len(rules.groups)} groups")
    return ", ".join(parts)
