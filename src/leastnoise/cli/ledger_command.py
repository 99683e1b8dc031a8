"""Make the commands of ``leastnoise ledger``: request, options, and the old order of words."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from leastnoise.cli import options
from leastnoise.cli.app import StrictCommand, write_exit_codes
from leastnoise.core.privacy import Privacy
from leastnoise.errors import InvalidParameter
from leastnoise.files import reject_overwriting
from leastnoise.rendering import Progress

if TYPE_CHECKING:
    from leastnoise.ledger import Ledger

# A command returns a function that prints its report once the ledger is closed.
Printing = Callable[[], None]
# Commands by the words that followed FILE up to 0.5.0; without a word, it was show.
_OLD_ACTIONS = {
    "": "show",
    "show": "show",
    "new": "create",
    "allow": "set-limit",
    "verify": "verify",
    "export": "export",
    "plot": "plot",
}
_EXIT_CODES = (0, 2, 4)
_SPENDING_EXIT_CODES = (0, 2, 3, 4)
# The commands that are about all datasets, unless one is named.
_OF_ALL = ("releases", "plot")
_FLAGS = ("--json", "--explain", "-h", "--help")
_SUMMARIES = {
    "create": "Create a ledger, a dataset in it, or a witness",
    "show": "Show limits, spending and the last releases",
    "set-limit": "Set the limit of a dataset or of an analyst",
    "allocate": "Reserve part of the budget for many releases",
    "releases": "List all releases",
    "verify": "Verify that the rows are consistent and the chain intact",
    "export": "Write a deployment declaration as JSON",
    "plot": "Draw the spending over time",
}


@dataclass(frozen=True, kw_only=True)
class LedgerRequest:
    """The arguments of a command; options that it does not have are at their defaults."""

    file: str
    now: Progress
    dataset: str | None
    witness: str | None
    epsilon: str | None = None
    delta: str | None = None
    analyst: str | None = None
    head: str | None = None
    unit: str | None = None
    out: str | None = None
    name: str | None = None
    accounting: str | None = None
    discovery: str | None = None
    explain: bool = False
    as_json: bool = False

    def open(self, limit: Privacy | None = None) -> "Ledger":
        """Open the ledger; create it if there is a limit."""
        return options.open_ledger(
            self.file,
            limit=limit,
            accounting=self.accounting,
            dataset=self.dataset,
            witness=self.witness,
        )

    def limit_parts(self, *, needed: bool = True) -> dict[str, str]:
        """Return the parts of a limit that are given."""
        typed = {"epsilon": self.epsilon, "delta": self.delta}
        parts = {name: text for name, text in typed.items() if text is not None}
        if needed and not parts:
            raise InvalidParameter(
                "A limit needs --epsilon, --delta or both", fix="Pass --epsilon 1 --delta 1e-6."
            )
        return parts


class LedgerGroup(click.Group):
    """The commands about a ledger; FILE may stand before a command, as up to 0.5.0, and warns."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words, in either order."""
        old = self._old_order(args)
        if old is not None:
            file, action = old
            new, words = _OLD_ACTIONS[action], list(args)
            words.remove(file)
            if action:
                words.remove(action)
            options.warn_renamed(
                f"leastnoise ledger FILE {action}".rstrip(), f"leastnoise ledger {new} FILE"
            )
            args = [new, file, *words]
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
        return (file, action) if len(words) <= 2 and action in _OLD_ACTIONS and is_file else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands in the order in which they are needed."""
        with formatter.section("Commands"):
            known = self.list_commands(ctx)
            formatter.write_dl([row for row in _SUMMARIES.items() if row[0] in known])
        write_exit_codes(formatter, _SPENDING_EXIT_CODES)

    def add(
        self,
        name: str,
        run: "Callable[[Ledger, LedgerRequest], Printing]",
        help_text: str,
        *parameters: options.Decorator,
    ) -> None:
        """Add a command that opens the ledger, runs, and prints once the ledger is closed."""

        def run_opened(request: LedgerRequest) -> Printing:
            options.check_witness(request.witness)
            with request.open() as ledger:
                return run(ledger, request)

        self.add_request(name, run_opened, help_text, *parameters)

    def add_request(
        self,
        name: str,
        run: Callable[[LedgerRequest], Printing],
        help_text: str,
        *parameters: options.Decorator,
    ) -> None:
        """Add a command: FILE, its own options, then those for dataset and witness."""

        def call(**arguments: Any) -> None:
            if arguments.get("out") is not None:
                reject_overwriting(
                    arguments["out"], ledger=arguments["file"], witness=arguments["witness"]
                )
            with Progress("checking the ledger") as now:
                print_report = run(LedgerRequest(now=now, **arguments))
            print_report()

        every: list[options.Decorator] = [
            click.argument("file", metavar="FILE"),
            *parameters,
            options.option(
                "--dataset",
                metavar="NAME",
                group=options.LEDGER,
                help="Only this dataset. Default: all." if name in _OF_ALL else options.DATASET,
            ),
            options.option(
                "--witness", metavar="WITNESS", group=options.LEDGER, help=options.WITNESS
            ),
        ]
        make = click.command(
            name,
            cls=StrictCommand,
            help=help_text,
            short_help=_SUMMARIES[name],
            exit_codes=_SPENDING_EXIT_CODES if name == "allocate" else _EXIT_CODES,
        )
        self.add_command(make(options.with_options(every, call)))
