"""``leastnoise ledger``: create, show, change, verify, export and plot a ledger."""

import click

from leastnoise.cli import options
from leastnoise.cli.ledger_changes import allocate, create, set_limit
from leastnoise.cli.ledger_command import LedgerGroup
from leastnoise.cli.ledger_outputs import export, list_releases, plot, show, verify


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


ledger.add_request(
    "create",
    create,
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
    show,
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
    set_limit,
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
    allocate,
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
    verify,
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
