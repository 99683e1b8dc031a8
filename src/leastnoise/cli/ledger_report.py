"""Describe and print the state of a ledger: its accounts, its releases and its guarantee."""

from collections.abc import Callable, Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from typing import TYPE_CHECKING

import click

from leastnoise.cli.output import format_directed, format_rounded_guarantee
from leastnoise.core.exact import format_rounded
from leastnoise.core.privacy import Privacy, explain_guarantee
from leastnoise.json_types import JsonValue
from leastnoise.rendering import Fact, align_columns, terminal_width

if TYPE_CHECKING:
    from leastnoise.ledger import Account, AllocationAccount, Release

# The number of releases that a report shows.
LAST = 10
_ACCOUNT = ["dataset", "analyst", "limit (ε, δ)", "spent (ε, δ)", "remaining (ε, δ)"]
_ALLOCATION = ["dataset", "allocation", "ε, δ", "caps", "remaining (μ², γ)"]
# Printed in place of a missing name or limit.
_NONE = "-"
_INDENT = 5


def print_accounts(accounts: "list[Account]") -> None:
    """Print a row for each account."""
    _print_columns(_ACCOUNT, [_format_account(account) for account in accounts])


def print_allocations(allocations: "list[AllocationAccount]") -> None:
    """Print a row for each allocation; long numbers are rounded to the safe side."""
    from leastnoise.ledger import format_share

    names = [*_ALLOCATION]
    rows = [
        [
            allocation.dataset,
            allocation.name,
            _format_pair(allocation.privacy, ROUND_FLOOR),
            str(allocation.caps),
            f"{format_share(allocation.remaining_cost.square, allocation.caps.square)}, "
            f"{format_share(allocation.remaining_cost.failure, allocation.caps.failure)}",
        ]
        for allocation in allocations
    ]
    if len({allocation.dataset for allocation in allocations}) == 1:
        names, rows = names[1:], [row[1:] for row in rows]
    _print_columns(names, rows)


def _format_account(account: "Account") -> list[str]:
    """Return the cells of an account; long numbers are rounded to the safe side."""
    limit = _NONE if account.limit is None else _format_pair(account.limit, ROUND_FLOOR)
    spent, remaining = (
        _format_pair(account.spent, ROUND_CEILING),
        _format_pair(account.remaining, ROUND_FLOOR),
    )
    return [account.dataset, account.analyst or "(all)", limit, spent, remaining]


def print_releases(releases: "list[Release]", count: int, *, whole: bool = False) -> None:
    """Print a title and a row for each release, the key below if it does not fit.

    A column is omitted if it is the same for every release.
    """
    last = f", the last {len(releases)}" if count > len(releases) else ""
    click.echo(f"{count or 'No'} release{'s' * (count != 1)}{last}")
    if not releases:
        return
    columns: dict[str, Callable[[Release], str]] = {
        "row": lambda release: str(release.row),
        "time (UTC)": lambda release: release.at[:16].replace("T", " "),
        "dataset": lambda release: release.dataset,
        "analyst": lambda release: release.analyst or _NONE,
        "ε, δ": lambda release: _format_pair(release.privacy, ROUND_CEILING),
        "allocation": lambda release: release.allocation or _NONE,
        "μ": lambda release: _format_up(None if release.cost is None else release.cost.mu),
        "ρ": lambda release: _format_up(None if release.cost is None else release.cost.rho),
        "answered": lambda release: "yes" if release.answered else "no",
    }
    if len({release.dataset for release in releases}) == 1:
        del columns["dataset"]
    if all(release.analyst is None for release in releases):
        del columns["analyst"]
    if all(release.allocation is None for release in releases):
        del columns["allocation"], columns["μ"], columns["ρ"]
    if all(release.answered for release in releases):
        del columns["answered"]
    rows = [[make_printable(cell(release)) for cell in columns.values()] for release in releases]
    titles = [*columns, "key"]
    lines = align_columns([titles, *([*row, ""] for row in rows)], left=range(len(titles)))
    width = terminal_width()
    start = lines[0].index("key")
    click.echo(lines[0])
    for line, release in zip(lines[1:], releases, strict=True):
        key = make_printable(release.key)
        if start + len(key) <= width:
            click.echo(f"{line:<{start}}{key}")
        else:
            room = width - _INDENT
            click.echo(line)
            click.echo(
                " " * _INDENT + (key if whole or len(key) <= room else f"{key[: room - 1]}…")
            )


def _format_up(number: Fraction | None) -> str:
    return _NONE if number is None else format_rounded(number, 4, ROUND_CEILING)


def _format_pair(privacy: Privacy, rounding: str) -> str:
    return (
        f"{format_directed(privacy.epsilon, rounding)}, {format_directed(privacy.delta, rounding)}"
    )


def _print_columns(names: list[str], rows: list[list[str]]) -> None:
    """Print a table of printable characters."""
    cells = [[make_printable(cell) for cell in row] for row in (names, *rows)]
    click.echo("\n".join(align_columns(cells, left=range(len(names)))))


def make_printable(text: str) -> str:
    """Replace control characters, because anyone who can write to the ledger can add them."""
    return "".join(character if character.isprintable() else "�" for character in text)


def total_guarantee(account: "Account") -> Privacy:
    """Return the guarantee of everything released from a dataset, now and later."""
    limit, spent = account.limit or account.spent, account.spent
    return Privacy(max(limit.epsilon, spent.epsilon), max(limit.delta, spent.delta))


def describe_guarantee(account: "Account") -> list[Fact]:
    """Return the guarantee of everything released from a dataset, and the units it covers."""
    total, name = total_guarantee(account), repr(make_printable(account.dataset))
    facts = [
        ("Guarantee", f"{format_rounded_guarantee(total)} for all releases from {name} together")
    ]
    if total != account.limit:
        facts.append(("Warning", "Spending exceeds the current limit."))
    return [*facts, ("Unit", account.describe_units(brief=True))]


def describe_other_units(accounts: "list[Account]", dataset: str) -> list[Fact]:
    """Return the privacy units of the other datasets."""
    return [
        ("Unit", f"{make_printable(account.dataset)!r}: {account.describe_units(brief=True)}")
        for account in accounts
        if account.analyst is None and account.dataset != dataset
    ]


def explain_total(account: "Account") -> str:
    """Explain the guarantee of everything released from a dataset, and for whom it holds."""
    from leastnoise.ledger import PERSON

    name = repr(make_printable(account.dataset))
    return (
        f"All releases from {name} together: {explain_guarantee(total_guarantee(account))} "
        f"{PERSON} {account.describe_units()}"
    )


def describe_witness(heads: int) -> Fact:
    """Describe the result of checking the given heads."""
    if heads:
        return "Witness", f"the ledger contains the witnessed head{'s' * (heads > 1)}"
    return (
        "Note",
        "An older copy or a carefully rewritten ledger also passes. Store the head elsewhere, and "
        "pass it with --head next time.",
    )


def list_empty_fields(part: JsonValue, key: str = "") -> list[str]:
    """Return the names of the fields that only a person can fill in."""
    if isinstance(part, Mapping):
        return [name for key, value in part.items() for name in list_empty_fields(value, key)]
    return [key] if part is None else []
