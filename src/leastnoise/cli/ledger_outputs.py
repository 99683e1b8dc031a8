"""What ``leastnoise ledger show``, ``verify``, ``releases``, ``export`` and ``plot`` print."""

import json
from functools import partial
from typing import TYPE_CHECKING

import click

from leastnoise.cli import options
from leastnoise.cli.ledger_command import LedgerRequest, Printing
from leastnoise.cli.ledger_report import (
    LAST,
    describe_guarantee,
    describe_other_units,
    describe_witness,
    explain_total,
    list_empty_fields,
    make_printable,
    print_accounts,
    print_allocations,
    print_releases,
    total_guarantee,
)
from leastnoise.cli.output import (
    format_explain_command,
    print_facts,
    print_json,
    print_words,
    write_file,
)
from leastnoise.core.privacy import explain_guarantee
from leastnoise.rendering import Fact

if TYPE_CHECKING:
    from leastnoise.ledger import Ledger


def show(ledger: "Ledger", request: LedgerRequest, *more: Fact, created: bool = False) -> Printing:
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


def verify(ledger: "Ledger", request: LedgerRequest) -> Printing:
    """Verify the rows, the chain, and the heads that are given."""
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


def list_releases(ledger: "Ledger", request: LedgerRequest) -> Printing:
    """List the releases of all datasets, or of the one that was named."""
    from leastnoise.ledger import release_to_json

    named = request.dataset
    releases = [release for release in ledger.releases if named is None or release.dataset == named]
    if request.as_json:
        return partial(
            print_json,
            [{"dataset": release.dataset, **release_to_json(release)} for release in releases],
        )
    return partial(print_releases, releases, len(releases), whole=True)


def export(ledger: "Ledger", request: LedgerRequest) -> Printing:
    """Print the declaration of the dataset, or write it to a file."""
    declaration = ledger.export(unit=request.unit)
    if request.out is None:
        return partial(print_json, declaration)
    text = json.dumps(declaration, ensure_ascii=False, indent=1) + "\n"
    write_file(request.out, text, "The declaration was not written")
    empty = ", ".join(list_empty_fields(declaration["deployment"]))

    def print_report() -> None:
        click.echo(f"Wrote the declaration of {ledger.dataset!r} to {request.out}\n")
        print_facts(("To fill in", empty))

    return print_report


def plot(ledger: "Ledger", request: LedgerRequest) -> Printing:
    """Draw the spending over time."""
    from leastnoise.plots import budget, save  # they load Altair

    chart = budget(ledger, dataset=request.dataset)
    request.now("drawing the picture")
    path = save(chart, str(request.out))  # this command requires --out
    whose = "every dataset" if request.dataset is None else f"dataset {ledger.dataset!r}"
    return partial(click.echo, f"Drew the spending of {whose} to {path}")
