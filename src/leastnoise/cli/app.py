"""``main``: the commands by name, their help, how errors end them, and the exit codes."""

import gc
import io
import re
import sys
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from importlib import import_module
from typing import IO, TYPE_CHECKING, Any

import click

from leastnoise import __version__
from leastnoise.errors import (
    BudgetExceeded,
    EntropyFailed,
    InvalidParameter,
    LeastnoiseError,
    LedgerDamaged,
    NotPrivate,
    QueryFailed,
    ReleaseFailed,
)
from leastnoise.rendering import fact_lines, keep_together, terminal_width, wrap

if TYPE_CHECKING:
    from leastnoise.tables import TableQuery

# The module of each command, in which the command has its own name, with _ for -. The commands that
# query tables are registered in leastnoise.tables.
_MODULES = {
    **dict.fromkeys(("calibrate", "compare", "explain", "privacy-for"), "noise"),
    **dict.fromkeys(("check", "paper", "verify"), "proofs"),
    "card": "card",
    **dict.fromkeys(("compose", "plan"), "planning"),
    "ledger": "ledger",
    "release": "release",
    "sql": "sql",
}
_TABLES = "Query a table (CSV, Parquet, PostgreSQL)"
# The help of main: each command with a summary, which is not cut, and without loading it.
_SECTIONS = {
    _TABLES: {
        "count": "Count rows or people",
        "sum": "Sum a column",
        "mean": "Average a column",
        "variance": "Compute the variance of a column",
        "std": "Compute the standard deviation of a column",
        "median": "Find the median of a column",
        "quantile": "Find any quantile of a column",
        "min": "Find the approximate minimum of a column",
        "max": "Find the approximate maximum of a column",
        "estimate-bounds": "Find clipping bounds of a column",
        "histogram": "Count rows per range of a column",
        "sql": "Answer a SELECT with aggregates",
        "card": "Describe a table once, for all queries",
    },
    "Add noise to a number you computed": {
        "release": "Add noise to one number",
        "calibrate": "Find near-optimal noise, with a certificate",
        "compare": "Compare noise distributions for one guarantee",
        "privacy-for": "Find the ε or δ that meets an accuracy target",
        "plan": "Choose noise for several answers with one guarantee",
        "compose": "Compute the total guarantee of several releases",
    },
    "Track and verify": {
        "ledger": "Create, inspect and verify a privacy budget",
        "verify": "Verify a certificate file",
        "explain": "Explain an (ε, δ) guarantee in plain words",
        "paper": "Recompute the results of Geng et al. (2019)",
    },
}
_EXITS = "Exit codes: "
# By code. The help of a command lists those with which it can end.
_EXIT_WORDS = (
    "success",
    "query or release failed",
    "usage error",
    "budget exceeded",
    "verification failed",
)
# The name of an option, without a value after it; "-inf" is no option but a wrong number.
_OPTION = re.compile(r"--[A-Za-z][\w-]*|-[A-Za-z](?![A-Za-z])")
# Every other error is the caller's to fix, also a ledger that cannot be reached now.
_EXIT_CODES = {
    QueryFailed: 1,
    EntropyFailed: 1,
    ReleaseFailed: 1,
    BudgetExceeded: 3,
    NotPrivate: 4,
    LedgerDamaged: 4,
}
# The new objects after which garbage is collected, instead of Python's 700 or 2,000.
_OBJECTS = 100_000


class Group(click.Group):
    """A command group that turns library errors into a message and an exit code."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run on a terminal of any encoding: characters it cannot show become question marks."""
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="replace")
        # A command loads hundreds of modules and ends. Collecting garbage meanwhile would take a
        # fifteenth of its time.
        gc.set_threshold(_OBJECTS)
        return super().main(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the requested command."""
        try:
            return super().invoke(ctx)
        except LeastnoiseError as error:
            raise CommandError(error) from error
        except click.exceptions.NoArgsIsHelpError:
            raise
        except click.UsageError as error:
            raise WrappedUsageError(error.format_message(), error.ctx) from error


class Main(Group):
    """The group of all commands, with a help that lists them by purpose."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by purpose, then the exit codes."""
        known = {name for section in _SECTIONS.values() for name in section}
        added = {query.command: query.help for query in _table_queries().values()}
        more = {
            name: added[name] for name in self.list_commands(ctx) if name in added.keys() - known
        }
        longest = max(map(len, known | more.keys()))
        for title, commands in _SECTIONS.items():
            listed = commands | (more if title == _TABLES else {})
            with formatter.section(title):
                formatter.write_dl([(f"{name:<{longest}}", text) for name, text in listed.items()])
        write_exit_codes(formatter, range(len(_EXIT_WORDS)))


def write_exit_codes(formatter: click.HelpFormatter, codes: Sequence[int]) -> None:
    """Write what exit codes mean, in the same words for every command."""
    meanings = ", ".join(keep_together(f"{code} {_EXIT_WORDS[code]}") for code in codes)
    lines = wrap(meanings, first=_EXITS, further=" " * len(_EXITS), width=formatter.width)
    formatter.write("\n".join(["", *lines, ""]))


class Option(click.Option):
    """An option that the help lists under a title, with others of the same ``group``."""

    def __init__(self, *args: Any, group: str | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.group = group


class StrictCommand(click.Command):
    """A command that rejects an option given twice, unless the option may be repeated.

    Click would take the last one. With two limits, it is unclear which is meant.

    Args:
        exit_codes: The exit codes that the help lists.
        on_more: The message for more arguments than the command has. Default: click's own.
        on_missing: Called with the values that were read and the words that were typed, to raise
            one error for all that is missing. Default: click reports the first one.
    """

    def __init__(
        self,
        *args: Any,
        exit_codes: Sequence[int] = (),
        on_more: tuple[str, str] | None = None,
        on_missing: Callable[[Mapping[str, Any], list[str]], None] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self._exit_codes = exit_codes
        self._on_more = on_more
        self._on_missing = on_missing

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options; reject one that is given twice."""
        values, more, given = self.make_parser(ctx).parse_args(args=list(args))
        options = [
            option
            for option in given
            if isinstance(option, click.Option) and not option.is_flag and not option.multiple
        ]
        for option in options:
            if options.count(option) > 1 and not ctx.resilient_parsing:
                name = option.opts[0]
                raise InvalidParameter(
                    f"{name} must be given once",
                    got=f"{options.count(option)} values",
                    fix="Remove all but one.",
                )
        eager = any(getattr(option, "is_eager", False) for option in given)  # such as --help
        if self._on_missing is not None and not (more or eager or ctx.resilient_parsing):
            self._on_missing(values, list(args))
        try:
            return super().parse_args(ctx, args)
        except click.UsageError:
            if more and self._on_more is not None:
                problem, fix = self._on_more
                raise InvalidParameter(problem, fix=fix) from None
            _reject_comma(options, values)
            raise

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the options by group, those without one last."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for option in self.get_params(ctx):
            record = option.get_help_record(ctx) if isinstance(option, click.Option) else None
            if record is not None:
                groups.setdefault(getattr(option, "group", None) or "", []).append(record)
        last = {name: groups.pop(name) for name in ("Output", "") if name in groups}
        untitled = "Other options" if groups or len(last) > 1 else "Options"
        for title, records in (groups | last).items():
            with formatter.section(title or untitled):
                formatter.write_dl(records)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the exit codes."""
        super().format_epilog(ctx, formatter)
        if self._exit_codes:
            write_exit_codes(formatter, self._exit_codes)


def _reject_comma(options: Sequence[click.Option], values: Mapping[str, Any]) -> None:
    """Raise an error for an option that takes two numbers, written with a comma: 0,150000."""
    from leastnoise.core.exact import quote  # only where the command fails

    for option in options:
        value = values.get(option.name or "")
        if option.nargs != 2 or not isinstance(value, tuple):
            continue
        parts = value[0].split(",")
        if len(parts) == 2 and all(parts):
            name = option.opts[0]
            raise InvalidParameter(
                f"{name} takes two numbers",
                got=quote(value[0]),
                fix=f"Write {name} {parts[0]} {parts[1]}.",
            ) from None


class NumberCommand(StrictCommand):
    """A command whose arguments may be negative numbers, which click would read as options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options; reject an unknown one by its name."""
        known = [option for option in self.get_params(ctx) if isinstance(option, click.Option)]
        names = [name for option in known if not option.hidden for name in option.opts]
        values, _, _ = self.make_parser(ctx).parse_args(args=list(args))
        words = values["values"] if isinstance(values["values"], tuple) else ()  # else none
        for typed in filter(None, map(_OPTION.match, words)):
            # A known option is here only if it stands after --, which makes it a number.
            if typed[0] not in names and not ctx.resilient_parsing:
                raise click.NoSuchOption(typed[0], possibilities=names, ctx=ctx)
        return super().parse_args(ctx, args)


class CommandError(click.ClickException):
    """An error of the library in the words of the command line: the problem, then the fix."""

    def __init__(self, error: LeastnoiseError, exit_code: int | None = None) -> None:
        super().__init__(error.headline)
        self._error = error
        self.exit_code = exit_code or _EXIT_CODES.get(type(error), 2)  # type: ignore[misc]  # click's own way

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the error, by default on the error stream."""
        click.echo(format_error(self._error), file=file, err=file is None)


class WrappedUsageError(click.UsageError):
    """An error of click, wrapped to the terminal."""

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the usage of the command, then the error, by default on the error stream."""
        lines = [] if self.ctx is None else [self.ctx.get_usage(), _format_hint(self.ctx), ""]
        lines += wrap_message(self.message)
        click.echo("\n".join(lines), file=file, err=file is None)


def _format_hint(ctx: click.Context) -> str:
    names = ctx.help_option_names
    return f"Try '{ctx.command_path} {names[-1]}' for help."


def format_error(error: LeastnoiseError) -> str:
    """Return an error for the terminal: the headline, then details and advice, indented."""
    width = terminal_width()
    below = fact_lines(error.details, width=width - 2)
    for line in error.advice.splitlines():
        below += wrap(line, width=width - 2) or [""]
    lines = [*wrap_message(error.headline), *(f"  {line}".rstrip() for line in below)]
    return "\n".join(lines)


def wrap_message(text: str) -> list[str]:
    """Return the lines of a message on the error stream."""
    return wrap(text, first="Error: ", further="  ", width=terminal_width())


class _LazyCommands(MutableMapping[str, click.Command]):
    """Commands by name, each loaded on first use, so that every command starts quickly."""

    def __init__(self) -> None:
        self._loaded: dict[str, click.Command | None] = dict.fromkeys(sorted(_MODULES))

    def __getitem__(self, name: str) -> click.Command:
        if name not in self._loaded:
            from leastnoise.cli.tables import build_command

            return build_command(_table_queries()[name])
        command = self._loaded[name]
        if command is None:
            home = import_module(f"leastnoise.cli.{_MODULES[name]}")
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


@click.group(
    cls=Main,
    commands=_LazyCommands(),
    subcommand_metavar="COMMAND [OPTIONS]",
    options_metavar="",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="leastnoise")
def main() -> None:
    """Publish statistics about people with differential privacy.

    calibrate and release add noise to a single number. A certificate proves how
    close to optimal this noise is.

    \b
    leastnoise ledger create people.ledger --epsilon 1 --delta 1e-6
    leastnoise count people.csv --unit person_id --max-rows 1 \\
        --by region --max-groups 1 \\
        --epsilon 0.2 --delta 1e-7 --ledger people.ledger
    """  # noqa: D301 -- click reads the control character
