"""``main``: the commands by name, and what becomes of errors.

Exit codes: 0 done · 1 our fault · 2 the caller's mistake · 3 budget refused · 4 a check failed.
"""

import io
import sys
from collections.abc import Iterator, MutableMapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from leastnoise import __version__
from leastnoise.errors import (
    BudgetExceeded,
    InvalidParameter,
    LeastnoiseError,
    LedgerDamaged,
    NotPrivate,
    QueryFailed,
)

if TYPE_CHECKING:
    from leastnoise.tables import TableQuery

# Each name is that of a file in this folder, and of the command in it, with - for _. The commands
# that query tables are registered in leastnoise.tables.
_COMMANDS = ("calibrate", "check", "compare", "ledger", "paper", "privacy-for", "release")

# The file of a command that has none of its own name.
_FILES = dict.fromkeys(("calibrate", "compare", "privacy-for", "release"), "noise")

# Every other error of ours is the caller's to mend, also a ledger that cannot be reached now.
_EXIT_CODES = {QueryFailed: 1, BudgetExceeded: 3, NotPrivate: 4, LedgerDamaged: 4}


# What our messages call by the library's names, and what it is called here.
_OPTIONS = {
    "allow_exact=True": "--allow-exact",
    "integer=True": "--integer",
    "fresh=True": "--fresh",
    "ledger=Ledger(…)": "--ledger FILE",
    "Give limit=Privacy(epsilon=…, delta=…) to begin": (
        "Use leastnoise ledger FILE new --epsilon … --delta … to begin"
    ),
    "begin it with limit=Privacy(epsilon=…, delta=…)": (
        "begin it with leastnoise ledger FILE new --dataset … --epsilon … --delta …"
    ),
    "ask again with key=": "ask again with --key ",
    "set another with allow()": "set another with leastnoise ledger FILE allow",
    "overwrite=True": "--overwrite",
    # There is no option for it.
    "; or give formulas=True, and tell who reads the file": "",
    "Use rows(), which are exact": "Use --json, which is exact",
    "Give keys=": "Give --group",
    "leave keys out": "leave --group and --groups-file out",
    "got keys without by": "got --group without --by",
    "got by without keys": "got --by without --group",
    "got it without by": "got it without --by",
    "Give by=": "Give --by",
    "Give unit=": "Give --unit",
    "Give max_rows=1": "Give --max-rows 1",
    "Give for instance edges=[0, 18, 65, 120]": "Give for instance --edges 0,18,65,120",
    "Give for instance table='people'": "Give for instance --table people",
    "said by table=; got None": "said by --table; got none",
    "table= must come": "--table must come",
}


class Group(click.Group):
    """A group whose library errors, in whichever command, become one line and an exit code."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run, on a terminal of any encoding: what it cannot show becomes a question mark."""
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="replace")
        return super().main(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that was asked for."""
        try:
            return super().invoke(ctx)
        except LeastnoiseError as error:
            raise Refused(error) from error


class Once(click.Command):
    """A command that refuses an option given twice: of two limits, neither is surely meant.

    Unless it is one that may be repeated.

    Args:
        on_more: What to say where there are more arguments than the command has, if that is known
            better than click knows it.
    """

    def __init__(self, *args: Any, on_more: str | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._on_more = on_more

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options, unless one is there twice."""
        _, more, given = self.make_parser(ctx).parse_args(args=list(args))
        options = [
            one
            for one in given
            if isinstance(one, click.Option) and not one.is_flag and not one.multiple
        ]
        for option in options:
            if options.count(option) > 1 and not ctx.resilient_parsing:
                name = option.opts[0]
                raise InvalidParameter(
                    f"an option must be given once; got {name} {options.count(option)} times. "
                    "Leave out all but one."
                )
        try:
            return super().parse_args(ctx, args)
        except click.UsageError:
            if more and self._on_more is not None:
                raise InvalidParameter(self._on_more) from None
            raise


class Refused(click.ClickException):
    """One of our errors, as one line on the error stream."""

    def __init__(self, error: LeastnoiseError, exit_code: int | None = None) -> None:
        super().__init__(_in_options(str(error)))
        self.exit_code = exit_code or _EXIT_CODES.get(type(error), 2)  # type: ignore[misc]  # click's own way


class _OnFirstUse(MutableMapping[str, click.Command]):
    """Commands by name, each loaded when it is first asked for, so that each starts quickly."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._loaded: dict[str, click.Command | None] = dict.fromkeys(names)

    def __getitem__(self, name: str) -> click.Command:
        if name not in self._loaded:
            from leastnoise.cli.tables import command_of

            return command_of(_table_queries()[name])
        command = self._loaded[name]
        if command is None:
            home = import_module(f"leastnoise.cli.{_FILES.get(name, name)}")
            command = getattr(home, name.replace("-", "_"))
            self._loaded[name] = command
        return command

    def __contains__(self, name: object) -> bool:
        return name in self._loaded or name in _table_queries()

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._loaded[name] = command

    def __delitem__(self, name: str) -> None:
        del self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter((*self._loaded, *_table_queries()))

    def __len__(self) -> int:
        return len(self._loaded) + len(_table_queries())


def _table_queries() -> "dict[str, TableQuery]":
    from leastnoise.tables import QUERIES  # only where no other command is meant

    return {query.command: query for query in QUERIES.values()}


def _in_options(message: str) -> str:
    """Say what to do in the words of the command line."""
    for keyword, option in _OPTIONS.items():
        message = message.replace(keyword, option)
    return message


@click.group(
    cls=Group,
    commands=_OnFirstUse(_COMMANDS),
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="leastnoise")
def main() -> None:
    """The least noise that differential privacy allows."""
