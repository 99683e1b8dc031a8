"""``leastnoise ledger``: create, show, change, verify, export and plot a ledger."""

import json
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from leastnoise.cli import options
from leastnoise.cli.app import Once
from leastnoise.cli.output import print_json, print_table, print_words, write_file
from leastnoise.core.exact import format_exact, format_rounded
from leastnoise.core.privacy import Privacy, meaning_of
from leastnoise.errors import InvalidParameter
from leastnoise.files import refuse_overwriting
from leastnoise.rendering import Progress, aligned

if TYPE_CHECKING:
    from leastnoise.ledger import Account, Head, Ledger, Release

# Which options each action has, but for those that say which ledger is meant.
_ACTIONS = {
    "show": {"explain", "as_json"},
    "new": {"epsilon", "delta", "as_json"},
    "allow": {"epsilon", "delta", "analyst", "as_json"},
    "verify": {"head", "as_json"},
    "export": {"out", "unit"},
    "plot": {"out"},
}
# An action returns what it prints once the ledger is closed.
Printing = Callable[[], None]


def _actions_with(name: str) -> str:
    return ", ".join(action for action, has in _ACTIONS.items() if name in has)


def _for(name: str, text: str) -> str:
    """Return what an option is, and which actions have it."""
    return f"{text} For {_actions_with(name)}."


@click.command(cls=Once)
@click.argument("file", metavar="FILE")
@click.argument("action", type=click.Choice(list(_ACTIONS)), default="show", metavar="[ACTION]")
@click.option("--dataset", help=f"{options.DATASET} For every action; plot draws it alone.")
@click.option("--witness", help=f"{options.WITNESS} For every action; new begins such a file.")
@click.option("--epsilon", help=_for("epsilon", "ε of a limit; allow keeps it if left out."))
@click.option("--delta", help=_for("delta", "δ of a limit; allow keeps it if left out."))
@click.option("--analyst", help=_for("analyst", "Whose limit it is; all people's if left out."))
@click.option("--explain", is_flag=True, help=_for("explain", "Say what the promise means."))
@click.option("--head", help=_for("head", "A head that the chain must hold, as an answer has it."))
@click.option("--unit", help=_for("unit", "Whose presence is protected, such as person."))
@click.option(
    "--out",
    help=_for(
        "out", "The file to write: JSON, or a picture by its ending .png, .svg, .pdf, .html, .json."
    ),
)
@click.option("--json", "as_json", is_flag=True, help=_for("as_json", "Print JSON."))
def ledger(
    *, file: str, action: str, dataset: str | None, witness: str | None, **given: Any
) -> None:
    """Look after what has been spent (leastnoise.ledger.Ledger).

    FILE is a file, or postgresql://user@host/database. ACTION is one of

    \b
      show    limits, what was spent, the last releases     Ledger.accounts
      new     begin a ledger, a data set, or a witness      Ledger
      allow   set a new limit, also one of an analyst       Ledger.allow
      verify  check that every row is as it was written     Ledger.verify
      export  write a deployment declaration as JSON        Ledger.export
      plot    draw what was spent over time                 plots.budget

    It exits with 4 if the ledger is damaged.

    \b
    Examples:
      leastnoise ledger people.ledger new --epsilon 1 --delta 1e-6
      leastnoise ledger people.ledger
      leastnoise ledger people.ledger allow --epsilon 0.5 --analyst ann
      leastnoise ledger people.ledger verify
      leastnoise ledger people.ledger export --unit person --out people.json
      leastnoise ledger people.ledger plot --out budget.svg
    """  # noqa: D301 -- click reads the control character
    _check(action, given)
    if given["out"] is not None:
        refuse_overwriting(given["out"], ledger=file, witness=witness)
    which = {"dataset": dataset, "witness": witness}
    with Progress("checking the ledger") as now:
        if action == "new":
            tell = _new(file, which, given)
        else:
            options.refuse_silent(witness)
            with options.open_ledger(file, **which) as found:
                tell = _ACTS[action](found, {**given, **which, "now": now})
    tell()


def _check(action: str, given: dict[str, Any]) -> None:
    """Reject options that an action would ignore."""
    for name, value in given.items():
        if value not in (None, False) and name not in _ACTIONS[action]:
            raise InvalidParameter(
                f"--{name.removeprefix('as_')} is for {_actions_with(name)}, got it with {action}. "
                "Leave it out."
            )


def _parts_of_limit(given: dict[str, Any], *, needed: bool = True) -> dict[str, Any]:
    """Return the parts of a limit that are given."""
    parts = {name: given[name] for name in ("epsilon", "delta") if given[name] is not None}
    if needed and not parts:
        raise InvalidParameter(
            "a limit must say ε, δ or both, got neither. Give for instance --epsilon 1 --delta "
            "1e-6."
        )
    return parts


def _new(file: str, which: dict[str, str | None], given: dict[str, Any]) -> Printing:
    """Create the ledger, dataset or witness that does not exist; the same limit may be repeated."""
    limit, witness = _first_limit(given, which["witness"]), which["witness"]
    there = _there(file, which["dataset"])
    with options.open_ledger(file, limit=limit, **which) as found:
        watched = witness is not None and options.begin_witness(witness, found)
        shown = _show(found, {**given, "explain": True})
    if given["as_json"]:
        return shown
    said = ["It was there already, with this limit." if limit else "It was there already."] * there
    said += ["The witness begins with its head."] * watched

    def tell() -> None:
        if said:
            print_words(" ".join(said))
            click.echo()
        shown()

    return tell


def _first_limit(given: dict[str, Any], witness: str | None) -> Privacy | None:
    """Return the limit to begin with; None where only a witness is begun."""
    parts = _parts_of_limit(given, needed=witness is None)
    if not parts:
        return None
    limit = Privacy(**parts)
    if not (limit.epsilon or limit.delta):
        raise InvalidParameter(
            "a limit must leave something to spend, got ε = 0 and δ = 0. Give for instance "
            "--epsilon 1 --delta 1e-6."
        )
    return limit


def _there(file: str, dataset: str | None) -> bool:
    """Return whether a ledger has the dataset; opening it reports anything that is wrong."""
    try:
        with options.open_ledger(file, dataset=dataset):
            return True
    except InvalidParameter:
        return False


def _show(found: "Ledger", given: dict[str, Any]) -> Printing:
    """Read the state of a ledger; the dataset that it was created with comes first."""
    from leastnoise.ledger import LIMIT, account_to_json, release_to_json

    accounts, head = found.accounts, found.head
    begun = next(row.content["dataset"] for row in found.rows() if row.kind == LIMIT)
    accounts.sort(key=lambda account: account.dataset != begun)
    releases = found.releases
    if given["as_json"]:
        data = {
            "accounts": [account_to_json(account) for account in accounts],
            "releases": len(releases),
            "last": [{"dataset": one.dataset, **release_to_json(one)} for one in releases[-_LAST:]],
            "head": str(head),
            "means": _promise(found.account, explained=True),
        }
        return partial(print_json, data)
    words = [_promise(found.account, explained=given["explain"])]
    words += _describe_others(accounts, found.dataset)
    return partial(_print_state, accounts, releases, head, words)


def _allow(found: "Ledger", given: dict[str, Any]) -> Printing:
    """Set a limit; a part that is not given stays as it is."""
    parts, name = _parts_of_limit(given), (found.dataset, given["analyst"])
    own = (one.limit for one in found.accounts if (one.dataset, one.analyst) == name)
    present = next(own, None) or found.limit
    limit = Privacy(**{"epsilon": present.epsilon, "delta": present.delta, **parts})
    found.allow(limit, analyst=given["analyst"])
    return _show(found, given)


def _verify(found: "Ledger", given: dict[str, Any]) -> Printing:
    head = found.verify(given["head"])
    checked = {"head": given["head"] is not None, "witness": given["witness"] is not None}
    mixed = [one for one in found.accounts if one.mixed and one.analyst is None]
    if given["as_json"]:
        data = {"whole": True, "rows": head.seq, "head": str(head), "checked": checked}
        data["mixed_neighbours"] = [one.dataset for one in mixed]
        return partial(print_json, data)
    heads = checked["head"] + options.heads_of(given["witness"])

    def tell() -> None:
        print_table(("whole", f"{head.seq} rows, each as it was written"), ("head", f"{head}"))
        click.echo()
        print_words(_witnessed(heads))
        for one in mixed:
            click.echo()
            print_words(f"{_printable(one.dataset)!r}: {one.describe_units()}")

    return tell


def _witnessed(heads: int) -> str:
    """Say what the heads that were given prove."""
    if not heads:
        return (
            "Whether it is the newest, it cannot tell: keep the head elsewhere, and give it next "
            "time with --head."
        )
    which = "head that was" if heads == 1 else "heads that were"
    return f"It holds the {which} witnessed."


def _export(found: "Ledger", given: dict[str, Any]) -> Printing:
    declaration = found.export(unit=given["unit"])
    if given["out"] is None:
        return partial(print_json, declaration)
    text = json.dumps(declaration, ensure_ascii=False, indent=1) + "\n"
    write_file(given["out"], text, "a declaration must be written where files can be")

    def tell() -> None:
        click.echo(f"{given['out']}: the declaration of {found.dataset!r}; to be filled in by you:")
        print_words(", ".join(_empty(declaration["deployment"])))

    return tell


def _empty(part: dict[str, Any]) -> list[str]:
    """Return the names of the fields that only a person can fill in."""
    return [
        name
        for key, value in part.items()
        for name in (_empty(value) if isinstance(value, dict) else [key] if value is None else [])
    ]


def _plot(found: "Ledger", given: dict[str, Any]) -> Printing:
    from leastnoise.plots import budget, save  # they load Altair

    if given["out"] is None:
        raise InvalidParameter(
            "a picture must be written to a file, got none. Give for instance --out budget.png."
        )
    chart = budget(found, dataset=given["dataset"])
    given["now"]("drawing the picture")
    path = save(chart, given["out"])
    whose = "each data set" if given["dataset"] is None else repr(found.dataset)
    return partial(click.echo, f"{path}: what was spent of {whose} over time, and its limit")


_ACTS = {"show": _show, "allow": _allow, "verify": _verify, "export": _export, "plot": _plot}

_LAST = 10
_LONGEST_KEY = 40


def _print_state(
    accounts: "list[Account]", releases: "list[Release]", head: "Head", words: list[str]
) -> None:
    several = len({account.dataset for account in accounts}) > 1
    _print_columns(
        ["data set", "analyst", *(f"{what} {part}" for what in _WHAT for part in "εδ")],
        [_account(account) for account in accounts],
    )
    count = len(releases)
    which = f"; the last {_LAST}:" if count > _LAST else ":" if count else " yet"
    click.echo(f"\n{count or 'no'} release{'s' * (count != 1)}{which}")
    if count:
        names = ["data set"] * several + ["analyst", "ε", "δ", "answered", "key"]
        last = [_release(release, several) for release in releases[-_LAST:]]
        _print_columns(["row", "time (UTC)", *names], last)
    click.echo(f"\nhead  {head}")
    for text in words:
        click.echo()
        print_words(text)


_WHAT = ("limit", "spent", "left")
# In the place of a name, or of a limit, where there is none.
_NOBODY = "-"


def _account(account: "Account") -> list[str]:
    """Return the cells of an account; long numbers are rounded to the safe side."""
    cells = [account.dataset, account.analyst or "(all)"]
    for what in _WHAT:
        promise: Privacy | None = getattr(account, what)
        rounding = ROUND_CEILING if what == "spent" else ROUND_FLOOR
        parts = (promise.epsilon, promise.delta) if promise else ()
        cells += [_short(part, rounding) for part in parts] or [_NOBODY, _NOBODY]
    return cells


def _release(release: "Release", several: bool) -> list[str]:
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
    text = format_exact(number)
    return f"≈{format_rounded(number, 9, rounding)}" if text.startswith("≈") else text


def _print_columns(names: list[str], rows: list[list[str]]) -> None:
    """Print a table, without control characters that somebody may have put into the file."""
    cells = [[_printable(cell) for cell in row] for row in (names, *rows)]
    click.echo("\n".join(aligned(cells, left=range(len(names)))))


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else "�" for character in text)


def _promise(account: "Account", *, explained: bool) -> str:
    """Return the guarantee of everything released from a dataset, in words, and for whom it is."""
    from leastnoise.ledger import PERSON

    limit, spent = account.limit or account.spent, account.spent
    kept = Privacy(max(limit.epsilon, spent.epsilon), max(limit.delta, spent.delta))
    said = "" if kept == limit else "More was spent than the limit is now. "
    name = repr(_printable(account.dataset))
    words = (
        f"{meaning_of(kept)} {PERSON}"
        if explained
        else f"{kept} (show --explain says what that means)."
    )
    return (
        f"{said}All that is released from {name} keeps one promise together: {words} "
        f"{account.describe_units()}"
    )


def _describe_others(accounts: "list[Account]", dataset: str) -> list[str]:
    """Say for whom the totals of the other datasets are guarantees."""
    return [
        f"{_printable(account.dataset)!r}: {account.describe_units()}"
        for account in accounts
        if account.analyst is None and account.dataset != dataset
    ]
