"""``leastnoise ledger``: create, show, change, verify, export and plot a ledger."""

from functools import partial
from typing import TYPE_CHECKING

import click

from leastnoise.cli import options
from leastnoise.cli.ledger_command import LedgerGroup, LedgerRequest, Printing
from leastnoise.cli.ledger_outputs import export, list_releases, plot
from leastnoise.cli.ledger_report import (
    LAST,
    describe_guarantee,
    describe_other_units,
    describe_witness,
    explain_total,
    make_printable,
    print_accounts,
    print_allocations,
    print_releases,
    total_guarantee,
)
from leastnoise.cli.output import (
    format_explain_command,
    format_ledger_name,
    print_facts,
    print_json,
    print_words,
)
from leastnoise.core.privacy import Privacy, explain_guarantee
from leastnoise.errors import InvalidParameter
from leastnoise.rendering import Fact

if TYPE_CHECKING:
    from leastnoise.ledger import Ledger

_GAUSSIAN = "leastnoise ledger allocate"


@click.group(cls=LedgerGroup, subcommand_metavar="COMMAND FILE [OPTIONS]", options_metavar="")
def ledger() -> None:
    """Create, inspect and verify a privacy budget.

    \b
    leastnoise ledger create people.ledger --epsilon 1 --delta 1e-6
    leastnoise ledger show people.ledger
    leastnoise ledger set-limit people.ledger --epsilon 0.5 --analyst ann
    leastnoise ledger verify people.ledger

    FILE is a file, or postgresql://user@host/database. See leastnoise ledger COMMAND --help.

    In Python: leastnoise.Ledger
    """  # noqa: D301 -- click reads the control character


def _create(request: LedgerRequest) -> Printing:
    """Create the ledger, dataset or witness that does not exist; the same limit may be repeated."""
    limit, witness = _parse_first_limit(request), request.witness
    there = _exists(request.file, request.dataset)
    with request.open(limit) as ledger:
        watched = witness is not None and options.start_witness(witness, ledger)
        advice = [] if there or limit is None else _advise(limit, request.accounting)
        shown = _show(ledger, request, *advice, created=True)
        name = format_ledger_name(request.file, "")
        what = f"Dataset {make_printable(ledger.dataset)!r} of {name}"
    if request.as_json:
        return shown
    said = [f"{what} already exists{' with this limit' if limit else ''}."] if there else []
    said += [] if there else [f"Created: {what[0].lower()}{what[1:]}."]
    said += ["The witness starts with the current head."] * watched

    def print_report() -> None:
        print_words(" ".join(said))
        click.echo()
        shown()

    return print_report


def _advise(limit: Privacy, accounting: str | None) -> list[Fact]:
    """Return the number of counts from which on Gaussian accounting has smaller errors."""
    from leastnoise.planning import describe_accounting  # it loads the noise families

    advice = None if accounting == "gaussian" else describe_accounting(limit, _GAUSSIAN)
    return [] if advice is None else [("Advice", advice)]


def _parse_first_limit(request: LedgerRequest) -> Privacy | None:
    """Return the first limit; None where only a witness is created."""
    parts = request.limit_parts(needed=request.witness is None)
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


def _exists(file: str, dataset: str | None) -> bool:
    """Return whether a ledger has the dataset; raises if the ledger is damaged."""
    try:
        with options.open_ledger(file, dataset=dataset):
            return True
    except InvalidParameter:
        return False


def _show(ledger: "Ledger", request: LedgerRequest, *more: Fact, created: bool = False) -> Printing:
    """Read the state of a ledger, the dataset that it was created with first; print ``more``."""
    from leastnoise.ledger import (
        LIMIT,
        PERSON,
        account_to_json,
        allocation_to_json,
        release_to_json,
    )

    accounts, head = ledger.accounts, ledger.head
    first = next(row.content["dataset"] for row in ledger.rows() if row.kind == LIMIT)
    accounts.sort(key=lambda account: account.dataset != first)
    releases = ledger.releases
    allocations = [
        allocation
        for account in accounts
        if account.analyst is None
        for allocation in account.allocations
    ]
    if request.as_json:
        data = {
            "accounts": [account_to_json(account) for account in accounts],
            "allocations": [allocation_to_json(allocation) for allocation in allocations],
            "releases": len(releases),
            "last": [
                {"dataset": release.dataset, **release_to_json(release)}
                for release in releases[-LAST:]
            ],
            "head": str(head),
            "means": explain_total(ledger.account),
        }
        return partial(print_json, data)
    facts = [*describe_guarantee(ledger.account), *describe_other_units(accounts, ledger.dataset)]
    facts.append(("Head", str(head)))
    words = ""
    if request.explain:
        words = f"{explain_guarantee(total_guarantee(ledger.account))} {PERSON}"
    else:
        facts.append(("Meaning", format_explain_command(total_guarantee(ledger.account))))
    facts += more

    def print_report() -> None:
        print_accounts(accounts)
        if allocations:
            click.echo()
            print_allocations(allocations)
        if not created or releases:
            click.echo()
            print_releases(releases[-LAST:], len(releases))
        click.echo()
        print_facts(*facts)
        if words:
            click.echo()
            print_words(words)

    return print_report


def _set_limit(ledger: "Ledger", request: LedgerRequest) -> Printing:
    """Set a limit; a part that is omitted stays unchanged."""
    parts, name = request.limit_parts(), (ledger.dataset, request.analyst)
    own = (
        account.limit for account in ledger.accounts if (account.dataset, account.analyst) == name
    )
    present = next(own, None) or ledger.limit
    limit = Privacy(parts.get("epsilon", present.epsilon), parts.get("delta", present.delta))
    ledger.set_limit(limit, analyst=request.analyst)
    shown = _show(ledger, request)
    if request.as_json or not ledger.allocations:
        return shown

    def print_report() -> None:
        print_words(
            "The caps of allocations do not change. leastnoise ledger allocate reserves another "
            "part."
        )
        click.echo()
        shown()

    return print_report


def _allocate(ledger: "Ledger", request: LedgerRequest) -> Printing:
    """Make an allocation; the same one may be repeated."""
    privacy = Privacy(**request.limit_parts())
    name = str(request.name)
    known = any(allocation.name == name for allocation in ledger.allocations)
    ledger.allocate(name, privacy, discovery=request.discovery)
    shown = _show(ledger, request)
    said = "exists already. Nothing was charged"
    if not known:
        said = "is reserved. It was charged and cannot be refunded"

    def print_report() -> None:
        if not request.as_json:
            print_words(f"Allocation {make_printable(name)!r} {said}.")
            click.echo()
        shown()

    return print_report


def _verify(ledger: "Ledger", request: LedgerRequest) -> Printing:
    head = ledger.verify(request.head)
    checked = {"head": request.head is not None, "witness": request.witness is not None}
    mixed = [account for account in ledger.accounts if account.mixed and account.analyst is None]
    if request.as_json:
        data = {"whole": True, "rows": head.seq, "head": str(head), "checked": checked}
        data["mixed_neighbours"] = [account.dataset for account in mixed]
        return partial(print_json, data)
    heads = checked["head"] + options.count_heads(request.witness)
    facts = [("Head", str(head)), describe_witness(heads)]
    facts += [
        ("Note", f"{make_printable(account.dataset)!r}: {account.describe_units()}")
        for account in mixed
    ]

    def print_report() -> None:
        rows = f"the {head.seq} rows are" if head.seq != 1 else "the row is"
        print_words(f"Verified: {rows} consistent and the chain is intact.")
        click.echo()
        print_facts(*facts)

    return print_report


ledger.add_request(
    "create",
    _create,
    """Create a ledger, a dataset in it, or a witness.

    \b
    leastnoise ledger create people.ledger --epsilon 1 --delta 1e-6

    FILE is a file, or postgresql://user@host/database. Only the owner of the budget creates
    ledgers and datasets: a second one about the same people is a second budget. With --witness,
    leastnoise records the ledger's head in WITNESS; store it elsewhere.

    In Python: leastnoise.Ledger
    """,
    options.option(
        "--epsilon", metavar="E", group="Limit", help="ε of the limit.  [required, or --delta]"
    ),
    options.option(
        "--delta", metavar="D", group="Limit", help="δ of the limit.  [required, or --epsilon]"
    ),
    options.option(
        "--accounting",
        type=click.Choice(["basic", "gaussian"]),
        group="Limit",
        help="Composition: basic (few releases) or gaussian (12 or more counts). At ε = 1, δ = "
        "1e-6, each of 100 counts has expected error 34 instead of 100.  [default: basic]",
    ),
    options.explain_option,
    options.as_json,
)
ledger.add(
    "show",
    _show,
    """Show limits, spending and the last releases.

    \b
    leastnoise ledger show people.ledger

    FILE is a file, or postgresql://user@host/database.

    In Python: leastnoise.Ledger.accounts
    """,
    options.explain_option,
    options.as_json,
)
ledger.add(
    "set-limit",
    _set_limit,
    """Set the limit of a dataset or of an analyst.

    \b
    leastnoise ledger set-limit people.ledger --epsilon 2
    leastnoise ledger set-limit people.ledger --epsilon 0.5 --analyst ann

    The ledger keeps the previous limit on record.

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
ledger.add(
    "allocate",
    _allocate,
    """Reserve part of the budget for many releases (Gaussian accounting).

    \b
    leastnoise ledger allocate people.ledger survey --epsilon 0.8 --delta 9e-7

    The guarantee is charged immediately and cannot be refunded. All releases from the allocation
    satisfy it together. For 12 or more counts at ε = 1, δ = 1e-6, they have less noise than with
    basic accounting.

    In Python: leastnoise.Ledger.allocate
    """,
    click.argument("name", metavar="NAME"),
    options.option("--epsilon", metavar="E", group="Limit", help="ε of the allocation."),
    options.option("--delta", metavar="D", group="Limit", help="δ of the allocation."),
    options.option(
        "--discovery",
        metavar="PART",
        group="Limit",
        help="The part of δ for discovering groups.  [default: 1/10]",
    ),
    options.as_json,
)
ledger.add(
    "releases",
    list_releases,
    """List all releases, with their keys.

    \b
    leastnoise ledger releases people.ledger

    In Python: leastnoise.Ledger.releases
    """,
    options.as_json,
)
ledger.add(
    "verify",
    _verify,
    """Verify that the rows are consistent and the chain intact.

    \b
    leastnoise ledger verify people.ledger
    leastnoise ledger verify people.ledger --witness people.heads

    An older copy or a carefully rewritten ledger also passes. To detect both, store the head
    elsewhere and pass it with --head, or use --witness.

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
ledger.add(
    "export",
    export,
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
ledger.add(
    "plot",
    plot,
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
        help="The figure: .png, .svg, .pdf, .html, .json.",
    ),
)
