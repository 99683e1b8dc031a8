"""``leastnoise card``: write, check and apply a dataset card."""

import os
from pathlib import Path

import click

from leastnoise.cli import options
from leastnoise.cli.app import StrictCommand, write_exit_codes
from leastnoise.cli.output import print_facts, print_json, write_file
from leastnoise.errors import InvalidParameter
from leastnoise.rendering import Progress

_EXIT_CODES = (0, 2)
_SUMMARIES = {
    "new": "Write the skeleton of a card from the schema of a table",
    "check": "Check a card against the schema of its table",
    "apply": "Create the ledger of a card, with its limits",
}


class _Cards(click.Group):
    """The group of commands about cards, in the order in which they are needed."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands, then the exit codes."""
        with formatter.section("Commands"):
            known = self.list_commands(ctx)
            formatter.write_dl([row for row in _SUMMARIES.items() if row[0] in known])
        write_exit_codes(formatter, (*_EXIT_CODES, 4))


@click.group(cls=_Cards, subcommand_metavar="COMMAND [OPTIONS]", options_metavar="")
def card() -> None:
    """Describe a table once, for all queries: bounds, groups, units and limits.

    \b
    leastnoise card new people.csv --out people.toml

    Fill the card in, then check it, and create its ledger with apply. The commands of queries take
    it with --card FILE in place of SOURCE; in Python, protect(card="people.toml").

    In Python: leastnoise.tables.Card
    """  # noqa: D301 -- click reads the control character


@card.command("new", cls=StrictCommand, exit_codes=_EXIT_CODES, short_help=_SUMMARIES["new"])
@click.argument("source", metavar="SOURCE")
@click.option("--table", metavar="NAME", help="Table of a database.")
@click.option("--delimiter", metavar="CHARACTER", help="Delimiter of CSV files.")
@click.option("--encoding", metavar="NAME", help="Encoding of CSV files, such as cp1252.")
@click.option("--decimal", metavar="CHARACTER", help="Decimal sign of numbers in CSV files.")
@click.option("--out", metavar="FILE", help="Write the card to FILE. Default: print it.")
def new(*, source: str, table: str | None, out: str | None, **reading: str | None) -> None:
    """Write the skeleton of a card from the schema of a table. No row is read.

    \b
    leastnoise card new people.csv --out people.toml

    SOURCE is a CSV or Parquet file, a pattern for several, or postgresql://user@host/database. No
    query can be asked until the owner of the data has filled the card in.
    """  # noqa: D301 -- click reads the control character
    from leastnoise.tables import write_skeleton

    if out is not None and os.path.lexists(out):
        raise InvalidParameter(
            "--out must name a new file", got="an existing file", fix="Choose another name."
        )
    beside = None if out is None else str(Path(out).parent)
    with Progress("opening the table"):
        text = write_skeleton(source, table, beside=beside, **reading)
    if out is None:
        click.echo(text, nl=False)
        return
    write_file(out, text, "The card was not written")
    click.echo(f"Wrote {out}. Fill it in, then run: leastnoise card check {out}")


@card.command("check", cls=StrictCommand, exit_codes=_EXIT_CODES, short_help=_SUMMARIES["check"])
@click.argument("file", metavar="FILE")
@options.as_json
def check(*, file: str, as_json: bool) -> None:
    """Check a card against the schema of its table. No row is read, and no ledger is opened.

    \b
    leastnoise card check people.toml

    In Python: leastnoise.tables.read_card
    """  # noqa: D301 -- click reads the control character
    from leastnoise.tables import open_table, read_card, summarize

    with Progress("opening the table"):
        card_ = read_card(file)
        open_table(card_).close()
    facts = summarize(card_)
    if as_json:
        print_json({"hash": card_.hash, "card": dict(facts)})
        return
    click.echo(f"{os.path.basename(file)} fits its table.\n")
    print_facts(*facts)


@card.command("apply", cls=StrictCommand, exit_codes=(0, 2, 4), short_help=_SUMMARIES["apply"])
@click.argument("file", metavar="FILE")
def apply(*, file: str) -> None:
    """Create the ledger of a card, with the limits of its analysts.

    \b
    leastnoise card apply people.toml

    What exists already is compared with the card and never changed. To change a limit, use
    leastnoise ledger set-limit. Only the owner of the budget should run this command.

    In Python: leastnoise.tables.create_ledger
    """  # noqa: D301 -- click reads the control character
    from leastnoise.tables import create_ledger, read_card

    with Progress("opening the ledger"):
        facts = create_ledger(read_card(file))
    click.echo("The ledger is as the card states.\n")
    print_facts(*facts)
