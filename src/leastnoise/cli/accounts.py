"""How ``leastnoise ledger`` shows a ledger: its accounts, its last releases and its head."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from typing import Any

import click

from leastnoise.cli.printing import print_words
from leastnoise.exact import approximately, exactly
from leastnoise.ledger import Account, Ledger, Release
from leastnoise.ledger.declaration import account_written, release_written
from leastnoise.ledger.rows import LIMIT, Head
from leastnoise.privacy import Privacy

_LAST = 10
_LONGEST_KEY = 40


@dataclass(frozen=True)
class Overview:
    """What a ledger comes to, read at one time; the data set that it was begun with is first."""

    account: Account
    accounts: list[Account]
    releases: list[Release]
    head: Head


def overview(ledger: Ledger) -> Overview:
    """Read what a ledger comes to."""
    accounts, head = ledger.accounts, ledger.head
    begun = next(row.content["dataset"] for row in ledger.rows() if row.kind == LIMIT)
    accounts.sort(key=lambda account: account.dataset != begun)
    return Overview(ledger.account, accounts, ledger.releases, head)


def overview_data(found: Overview) -> dict[str, Any]:
    """Return what a ledger comes to, for JSON."""
    last = found.releases[-_LAST:]
    return {
        "accounts": [account_written(account) for account in found.accounts],
        "releases": len(found.releases),
        "last": [{"dataset": one.dataset, **release_written(one)} for one in last],
        "head": str(found.head),
        "means": _promise(found.account, explained=True),
    }


def print_overview(found: Overview, *, explained: bool) -> None:
    """Print what a ledger comes to; what its promise means, if that is to be explained."""
    several = len({account.dataset for account in found.accounts}) > 1
    _print_columns(
        ("data set", "analyst", *(f"{what} {part}" for what in _WHAT for part in "εδ")),
        [_account(account) for account in found.accounts],
    )
    count = len(found.releases)
    click.echo(f"\n{count or 'no'} release{'s' * (count != 1)}" + _which(count))
    if count:
        names = ("data set",) * several + ("analyst", "ε", "δ", "answered", "key")
        last = [_release(release, several) for release in found.releases[-_LAST:]]
        _print_columns(("row", "time (UTC)", *names), last)
    click.echo(f"\nhead  {found.head}\n")
    print_words(_promise(found.account, explained=explained))


_WHAT = ("limit", "spent", "left")
# In the place of a name, or of a limit, where there is none.
_NOBODY = "-"


def _which(count: int) -> str:
    return f"; the last {_LAST}:" if count > _LAST else ":" if count else " yet"


def _account(account: Account) -> list[str]:
    """Return the cells of an account; rounded, where they are long, to the side of caution."""
    cells = [account.dataset, account.analyst or "(all)"]
    for what in _WHAT:
        promise: Privacy | None = getattr(account, what)
        rounding = ROUND_CEILING if what == "spent" else ROUND_FLOOR
        parts = (promise.epsilon, promise.delta) if promise else ()
        cells += [_short(part, rounding) for part in parts] or [_NOBODY, _NOBODY]
    return cells


def _release(release: Release, several: bool) -> list[str]:
    """Return the cells of a release; the data set only where there are several."""
    promise = release.privacy
    return [
        str(release.row),
        release.at[:19].replace("T", " "),
        *[release.dataset] * several,
        release.analyst or _NOBODY,
        _short(promise.epsilon, ROUND_CEILING),
        _short(promise.delta, ROUND_CEILING),
        "yes" if release.answered else "no",
        release.key if len(release.key) <= _LONGEST_KEY else f"{release.key[:_LONGEST_KEY]}…",
    ]


def _short(number: Fraction, rounding: str) -> str:
    text = exactly(number)
    return f"≈{approximately(number, 9, rounding)}" if text.startswith("≈") else text


def _print_columns(names: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table; what is no character of a line, somebody put into the file by hand."""
    cells = [[_printable(cell) for cell in row] for row in (names, *rows)]
    widths = [max(len(row[place]) for row in cells) for place in range(len(names))]
    for row in cells:
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        click.echo(line.rstrip())


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else "�" for character in text)


def _promise(account: Account, *, explained: bool) -> str:
    """Say what holds of all that was released from the data set."""
    limit, spent = account.limit or account.spent, account.spent
    kept = Privacy(max(limit.epsilon, spent.epsilon), max(limit.delta, spent.delta))
    said = "" if kept == limit else "More was spent than the limit is now. "
    name = repr(_printable(account.dataset))
    words = f"{kept} (show --explain says what that means)."
    if explained:
        words = kept.explain().removesuffix("Several answers about the same people add up.")
    return f"{said}All that is released from {name} keeps one promise together: {words.rstrip()}"
