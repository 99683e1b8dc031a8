"""``leastnoise ledger``: create, show, change, verify, export and plot a ledger."""

import json
import os
from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from leastnoise.cli import options
from leastnoise.cli.app import Once
from leastnoise.cli.output import (
    explain_command,
    guarantee_shown,
    ledger_name,
    print_facts,
    print_json,
    print_words,
    short,
    write_file,
)
from leastnoise.core.privacy import Privacy, meaning_of
from leastnoise.errors import InvalidParameter
from leastnoise.files import refuse_overwriting
from leastnoise.rendering import Fact, Progress, aligned, terminal_width

if TYPE_CHECKING:
    from leastnoise.ledger import Account, Ledger, Release

# A command returns what it prints once the ledger is closed.
Printing = Callable[[], None]
# Commands by the words that stood behind FILE up to 0.5.0; without one it was show.
_FORMERLY = {
    "": "show",
    "show": "show",
    "new": "create",
    "allow": "set-limit",
    "verify": "verify",
    "export": "export",
    "plot": "plot",
}
_FLAGS = ("--json", "--explain", "-h", "--help")
_SUMMARIES = {
    "create": "Create a ledger, a dataset in it, or a witness",
    "show": "Show limits, spending and the last releases",
    "set-limit": "Set the limit of a dataset or of an analyst",
    "releases": "List all releases",
    "verify": "Verify that no row was changed or removed",
    "export": "Write a deployment declaration as JSON",
    "plot": "Draw the spending over time",
}


class _VerbFirst(click.Group):
    """A group that also accepts FILE before the command, as up to 0.5.0, with a warning."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words, in either order."""
        old = self._old_order(args)
        if old is not None:
            file, action = old
            new, rest = _FORMERLY[action], list(args)
            rest.remove(file)
            if action:
                rest.remove(action)
            options.warn_renamed(
                f"leastnoise ledger FILE {action}".rstrip(), f"leastnoise ledger {new} FILE"
            )
            args = [new, file, *rest]
        return super().parse_args(ctx, args)

    def _old_order(self, args: Sequence[str]) -> tuple[str, str] | None:
        """Return FILE and the action if FILE comes first; None if not."""
        words, values = [], iter(args)
        for word in values:
            if not word.startswith("-"):
                words.append(word)
            elif "=" not in word and word not in _FLAGS:
                next(values, None)
        if not words or words[0] in self.commands:
            return None
        file, action = (*words, "")[:2]
        is_file = bool(action) or "." in file or os.sep in file or os.path.lexists(file)
        return (file, action) if len(words) <= 2 and action in _FORMERLY and is_file else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands in the order in which they are needed."""
        with formatter.section("Commands"):
            known = self.list_commands(ctx)
            formatter.write_dl([one for one in _SUMMARIES.items() if one[0] in known])


@click.group(cls=_VerbFirst, subcommand_metavar="COMMAND FILE [OPTIONS]", options_metavar="")
def ledger() -> None:
    """Create, inspect and verify a privacy budget.

    \b
    leastnoise ledger create people.ledger --epsilon 1 --delta 1e-6
    leastnoise ledger show people.ledger
    leastnoise ledger set-limit people.ledger --epsilon 0.5 --analyst ann
    leastnoise ledger verify people.ledger

    FILE is a file, or postgresql://user@host/database. See leastnoise ledger COMMAND --help.

    Exit codes: 0 success, 2 usage error, 4 ledger damaged.

    In Python: leastnoise.Ledger
    """  # noqa: D301 -- click reads the control character


def _command(
    name: str, run: Callable[..., Printing], help_text: str, *parameters: options.Decorator
) -> None:
    """Add a command: FILE, its own options, then those that say which ledger is meant."""

    def call(*, file: str, dataset: str | None, witness: str | None, **given: Any) -> None:
        if given.get("out") is not None:
            refuse_overwriting(given["out"], ledger=file, witness=witness)
        which = {"dataset": dataset, "witness": witness}
        with Progress("checking the ledger") as now:
            given |= {**which, "file": file, "now": now}
            if name == "create":
                tell = run(file, which, given)
            else:
                options.refuse_silent(witness)
                with options.open_ledger(file, **which) as found:
                    tell = run(found, given)
        tell()

    every: list[options.Decorator] = [
        click.argument("file", metavar="FILE"),
        *parameters,
        options.option("--dataset", metavar="NAME", group=options.LEDGER, help=options.DATASET),
        options.option("--witness", metavar="HEAD", group=options.LEDGER, help=options.WITNESS),
    ]
    make = click.command(name, cls=Once, help=help_text, short_help=_SUMMARIES[name])
    ledger.add_command(make(options.with_options(every, call)))


def _parts_of_limit(given: dict[str, Any], *, needed: bool = True) -> dict[str, Any]:
    """Return the parts of a limit that are given."""
    parts = {name: given[name] for name in ("epsilon", "delta") if given[name] is not None}
    if needed and not parts:
        raise InvalidParameter(
            "A limit needs --epsilon, --delta or both", fix="Pass --epsilon 1 --delta 1e-6."
        )
    return parts


def _create(file: str, which: dict[str, str | None], given: dict[str, Any]) -> Printing:
    """Create the ledger, dataset or witness that does not exist; the same limit may be repeated."""
    limit, witness = _first_limit(given, which["witness"]), which["witness"]
    there = _there(file, which["dataset"])
    with options.open_ledger(file, limit=limit, **which) as found:
        watched = witness is not None and options.begin_witness(witness, found)
        shown = _show(found, given, created=True)
        what = f"Dataset {_printable(found.dataset)!r} of {ledger_name(file, '')}"
    if given["as_json"]:
        return shown
    said = [f"{what} already exists{' with this limit' if limit else ''}."] if there else []
    said += [] if there else [f"Created: {what[0].lower()}{what[1:]}."]
    said += ["The witness starts with the current head."] * watched

    def tell() -> None:
        print_words(" ".join(said))
        click.echo()
        shown()

    return tell


def _first_limit(given: dict[str, Any], witness: str | None) -> Privacy | None:
    """Return the first limit; None where only a witness is created."""
    parts = _parts_of_limit(given, needed=witness is None)
    if not parts:
        return None
    limit = Privacy(**parts)
    if not (limit.epsilon or limit.delta):
        raise InvalidParameter(
            "The limit of a new dataset must be positive",
            got="ε = 0, δ = 0",
            fix="Pass --epsilon 1 --delta 1e-6.",
        )
    return limit


def _there(file: str, dataset: str | None) -> bool:
    """Return whether a ledger has the dataset; opening it reports anything that is wrong."""
    try:
        with options.open_ledger(file, dataset=dataset):
            return True
    except InvalidParameter:
        return False


def _show(found: "Ledger", given: dict[str, Any], *, created: bool = False) -> Printing:
    """Read the state of a ledger; the dataset that it was created with comes first."""
    from leastnoise.ledger import LIMIT, PERSON, account_to_json, release_to_json

    accounts, head = found.accounts, found.head
    first = next(row.content["dataset"] for row in found.rows() if row.kind == LIMIT)
    accounts.sort(key=lambda account: account.dataset != first)
    releases = found.releases
    if given["as_json"]:
        data = {
            "accounts": [account_to_json(account) for account in accounts],
            "releases": len(releases),
            "last": [{"dataset": one.dataset, **release_to_json(one)} for one in releases[-_LAST:]],
            "head": str(head),
            "means": _meaning(found.account),
        }
        return partial(print_json, data)
    facts = [*_guarantee(found.account), *_other_units(accounts, found.dataset)]
    facts.append(("Head", str(head)))
    words = ""
    if given.get("explain"):
        words = f"{meaning_of(_total(found.account))} {PERSON}"
    else:
        facts.append(("Meaning", explain_command(_total(found.account))))

    def tell() -> None:
        _print_columns(_ACCOUNT, [_account(account) for account in accounts])
        if not created or releases:
            click.echo()
            _print_releases(releases[-_LAST:], len(releases))
        click.echo()
        print_facts(*facts)
        if words:
            click.echo()
            print_words(words)

    return tell


def _set_limit(found: "Ledger", given: dict[str, Any]) -> Printing:
    """Set a limit; a part that is not given stays as it is."""
    parts, name = _parts_of_limit(given), (found.dataset, given["analyst"])
    own = (one.limit for one in found.accounts if (one.dataset, one.analyst) == name)
    present = next(own, None) or found.limit
    limit = Privacy(**{"epsilon": present.epsilon, "delta": present.delta, **parts})
    found.set_limit(limit, analyst=given["analyst"])
    return _show(found, given)


def _releases(found: "Ledger", given: dict[str, Any]) -> Printing:
    """List the releases of all datasets, or of the one that was named."""
    from leastnoise.ledger import release_to_json

    named = given["dataset"]
    releases = [one for one in found.releases if named is None or one.dataset == named]
    if given["as_json"]:
        return partial(
            print_json, [{"dataset": one.dataset, **release_to_json(one)} for one in releases]
        )
    return partial(_print_releases, releases, len(releases), whole=True)


def _verify(found: "Ledger", given: dict[str, Any]) -> Printing:
    head = found.verify(given["head"])
    checked = {"head": given["head"] is not None, "witness": given["witness"] is not None}
    mixed = [one for one in found.accounts if one.mixed and one.analyst is None]
    if given["as_json"]:
        data = {"whole": True, "rows": head.seq, "head": str(head), "checked": checked}
        data["mixed_neighbours"] = [one.dataset for one in mixed]
        return partial(print_json, data)
    heads = checked["head"] + options.heads_of(given["witness"])
    facts = [("Head", str(head)), _witnessed(heads)]
    facts += [("Note", f"{_printable(one.dataset)!r}: {one.describe_units()}") for one in mixed]

    def tell() -> None:
        click.echo(f"Verified: all {head.seq} rows are as they were written.\n")
        print_facts(*facts)

    return tell


def _witnessed(heads: int) -> Fact:
    """Say what the heads that were given prove."""
    if heads:
        return "Witness", f"the ledger contains the witnessed head{'s' * (heads > 1)}"
    return (
        "Note",
        "An older copy of a ledger verifies, too. To detect one, keep the head elsewhere and pass "
        "it with --head next time.",
    )


def _export(found: "Ledger", given: dict[str, Any]) -> Printing:
    declaration = found.export(unit=given["unit"])
    if given["out"] is None:
        return partial(print_json, declaration)
    text = json.dumps(declaration, ensure_ascii=False, indent=1) + "\n"
    write_file(given["out"], text, "The declaration was not written")
    empty = ", ".join(_empty(declaration["deployment"]))

    def tell() -> None:
        click.echo(f"Wrote the declaration of {found.dataset!r} to {given['out']}\n")
        print_facts(("To fill in", empty))

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

    chart = budget(found, dataset=given["dataset"])
    given["now"]("drawing the picture")
    path = save(chart, given["out"])
    whose = "every dataset" if given["dataset"] is None else f"dataset {found.dataset!r}"
    return partial(click.echo, f"Drew the spending of {whose} to {path}")


_LAST = 10
_ACCOUNT = ["dataset", "analyst", "limit (ε, δ)", "spent (ε, δ)", "remaining (ε, δ)"]
# In the place of a name, or of a limit, where there is none.
_NONE = "-"


def _account(account: "Account") -> list[str]:
    """Return the cells of an account; long numbers are rounded to the safe side."""
    limit = _NONE if account.limit is None else _pair(account.limit, ROUND_FLOOR)
    spent, remaining = _pair(account.spent, ROUND_CEILING), _pair(account.remaining, ROUND_FLOOR)
    return [account.dataset, account.analyst or "(all)", limit, spent, remaining]


def _print_releases(releases: "list[Release]", count: int, *, whole: bool = False) -> None:
    """Print a title and a row for each release, the key below if it does not fit.

    A column that says the same of every release is omitted.
    """
    last = f", the last {len(releases)}" if count > len(releases) else ""
    click.echo(f"{count or 'No'} release{'s' * (count != 1)}{last}")
    if not releases:
        return
    columns: dict[str, Callable[[Release], str]] = {
        "row": lambda one: str(one.row),
        "time (UTC)": lambda one: one.at[:16].replace("T", " "),
        "dataset": lambda one: one.dataset,
        "analyst": lambda one: one.analyst or _NONE,
        "ε, δ": lambda one: _pair(one.privacy, ROUND_CEILING),
        "answered": lambda one: "yes" if one.answered else "no",
    }
    if len({one.dataset for one in releases}) == 1:
        del columns["dataset"]
    if all(one.analyst is None for one in releases):
        del columns["analyst"]
    if all(one.answered for one in releases):
        del columns["answered"]
    rows = [[_printable(cell(one)) for cell in columns.values()] for one in releases]
    titles = [*columns, "key"]
    lines = aligned([titles, *([*row, ""] for row in rows)], left=range(len(titles)))
    width = terminal_width()
    start = lines[0].index("key")
    click.echo(lines[0])
    for line, one in zip(lines[1:], releases, strict=True):
        key = _printable(one.key)
        if start + len(key) <= width:
            click.echo(f"{line:<{start}}{key}")
        else:
            room = width - _INDENT
            click.echo(line)
            click.echo(
                " " * _INDENT + (key if whole or len(key) <= room else f"{key[: room - 1]}…")
            )


_INDENT = 5


def _pair(privacy: Privacy, rounding: str) -> str:
    return f"{short(privacy.epsilon, rounding)}, {short(privacy.delta, rounding)}"


def _print_columns(names: list[str], rows: list[list[str]]) -> None:
    """Print a table, without control characters that somebody may have put into the file."""
    cells = [[_printable(cell) for cell in row] for row in (names, *rows)]
    click.echo("\n".join(aligned(cells, left=range(len(names)))))


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else "�" for character in text)


def _total(account: "Account") -> Privacy:
    """Return the guarantee of everything released from a dataset, now and later."""
    limit, spent = account.limit or account.spent, account.spent
    return Privacy(max(limit.epsilon, spent.epsilon), max(limit.delta, spent.delta))


def _guarantee(account: "Account") -> list[Fact]:
    """Return the guarantee of everything released from a dataset, and for whom it holds."""
    total, name = _total(account), repr(_printable(account.dataset))
    facts = [("Guarantee", f"{guarantee_shown(total)} for all releases from {name} together")]
    if total != account.limit:
        facts.append(("Warning", "More was spent than the limit is now."))
    return [*facts, ("Unit", account.describe_units())]


def _other_units(accounts: "list[Account]", dataset: str) -> list[Fact]:
    """Say for whom the totals of the other datasets are guarantees."""
    return [
        ("Unit", f"{_printable(account.dataset)!r}: {account.describe_units()}")
        for account in accounts
        if account.analyst is None and account.dataset != dataset
    ]


def _meaning(account: "Account") -> str:
    """Return the guarantee of everything released from a dataset, in words, and for whom it is."""
    from leastnoise.ledger import PERSON

    name = repr(_printable(account.dataset))
    return (
        f"All releases from {name} together: {meaning_of(_total(account))} {PERSON} "
        f"{account.describe_units()}"
    )


_command(
    "create",
    _create,
    """Create a ledger, a dataset in it, or a witness.

    \b
    leastnoise ledger create people.ledger --epsilon 1 --delta 1e-6

    FILE is a file, or postgresql://user@host/database. Only the owner of the budget creates
    ledgers and datasets: a second one about the same people is a second budget. With --witness,
    the heads of the ledger are noted in a file that is kept elsewhere.

    In Python: leastnoise.Ledger
    """,
    options.option("--epsilon", metavar="E", group="Limit", help="ε of the limit.  [default: 0]"),
    options.option("--delta", metavar="D", group="Limit", help="δ of the limit.  [default: 0]"),
    options.explained,
    options.as_json,
)
_command(
    "show",
    _show,
    """Show limits, spending and the last releases.

    \b
    leastnoise ledger show people.ledger

    FILE is a file, or postgresql://user@host/database.

    In Python: leastnoise.Ledger.accounts
    """,
    options.explained,
    options.as_json,
)
_command(
    "set-limit",
    _set_limit,
    """Set the limit of a dataset or of an analyst.

    \b
    leastnoise ledger set-limit people.ledger --epsilon 2
    leastnoise ledger set-limit people.ledger --epsilon 0.5 --analyst ann

    The earlier limit stays on record.

    In Python: leastnoise.Ledger.set_limit
    """,
    options.option(
        "--epsilon", metavar="E", group="Limit", help="ε of the limit. Default: unchanged."
    ),
    options.option(
        "--delta", metavar="D", group="Limit", help="δ of the limit. Default: unchanged."
    ),
    options.option(
        "--analyst", metavar="NAME", group="Limit", help="The analyst. Default: everybody."
    ),
    options.as_json,
)
_command(
    "releases",
    _releases,
    """List all releases, with their keys.

    \b
    leastnoise ledger releases people.ledger

    With --dataset, only those of this dataset.

    In Python: leastnoise.Ledger.releases
    """,
    options.as_json,
)
_command(
    "verify",
    _verify,
    """Verify that no row was changed or removed.

    \b
    leastnoise ledger verify people.ledger
    leastnoise ledger verify people.ledger --witness people.heads

    Without a head or a witness, an older copy of the ledger verifies, too.

    Exit codes: 0 verified, 2 usage error, 4 ledger damaged.

    In Python: leastnoise.Ledger.verify
    """,
    options.option(
        "--head",
        metavar="HEAD",
        group=options.LEDGER,
        help="A head that the ledger must contain, as answers and reports print it.",
    ),
    options.as_json,
)
_command(
    "export",
    _export,
    """Write a deployment declaration as JSON.

    \b
    leastnoise ledger export people.ledger --unit person --out people.json

    It states every guarantee, with certificates. Fields that only a person can fill in are null.

    In Python: leastnoise.Ledger.export
    """,
    options.option(
        "--unit", metavar="NAME", group=options.OUTPUT, help="The privacy unit, such as person."
    ),
    options.option(
        "--out", metavar="FILE", group=options.OUTPUT, help="The file to write. Default: print it."
    ),
)
_command(
    "plot",
    _plot,
    """Draw the spending over time.

    \b
    leastnoise ledger plot people.ledger --out budget.svg

    In Python: leastnoise.plots.budget
    """,
    options.option(
        "--out",
        metavar="FILE",
        required=True,
        group=options.OUTPUT,
        help="The picture: .png, .svg, .pdf, .html, .json.",
    ),
)
