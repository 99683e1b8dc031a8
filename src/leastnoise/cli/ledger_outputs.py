"""What ``leastnoise ledger releases``, ``export`` and ``plot`` print and write."""

import json
from functools import partial
from typing import TYPE_CHECKING

import click

from leastnoise.cli.ledger_command import LedgerRequest, Printing
from leastnoise.cli.ledger_report import list_empty_fields, print_releases
from leastnoise.cli.output import print_facts, print_json, write_file

if TYPE_CHECKING:
    from leastnoise.ledger import Ledger


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
