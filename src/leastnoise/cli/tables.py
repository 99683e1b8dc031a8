"""The commands of the registered table queries: count, sum, mean, median, quantile, histogram."""

import shlex
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

import click

from leastnoise.cli import options
from leastnoise.cli.app import StrictCommand
from leastnoise.cli.missing import check_missing, wrap_command
from leastnoise.cli.output import (
    draw_answer,
    format_ledger_name,
    print_answer,
    print_json,
    write_answer,
)
from leastnoise.cli.table_request import TableRequest
from leastnoise.errors import InvalidParameter
from leastnoise.rendering import Progress
from leastnoise.tables import Argument, TableQuery

if TYPE_CHECKING:
    from leastnoise.tables import TableResult

# The options that all table queries share, under the headings of the help.
_SECTIONS: dict[str, tuple[options.Decorator, ...]] = {
    "Privacy": (
        click.option(
            "--unit",
            metavar="COLUMN",
            help="Column that identifies a person.  [required, or --row-is-unit]",
        ),
        click.option("--row-is-unit", is_flag=True, help="Every row is a different person."),
        click.option(
            "--max-rows",
            metavar="N",
            help="Maximum rows per unit per group.  [required with --unit]",
        ),
        click.option(
            "--neighbors",
            type=click.Choice(["add_remove", "replace"]),
            help="Neighboring datasets: add or remove one unit, or replace one.  [default: "
            "add_remove]",
        ),
        click.option(
            "--epsilon",
            metavar="E",
            help="ε of the guarantee.  [required, or --delta, --share or --error]",
        ),
        click.option(
            "--delta",
            metavar="D",
            help="δ of the guarantee, well below 1 / number of people. Default: 0.",
        ),
        click.option(
            "--share",
            metavar="S",
            help="Spend this share of the ledger's limit or allocation, such as 1/50.",
        ),
        click.option(
            "--error",
            metavar="A",
            help="Spend the least that reaches this error at 95% confidence.",
        ),
        click.option(
            "--at-most",
            metavar="S",
            help="With --error: spend at most this share of the limit or allocation. Default: 1.",
        ),
        click.option(
            "--allow-exact",
            is_flag=True,
            help="Allow noise that releases the exact value conspicuously often: it has a point "
            "mass or, for integers, 0 is more than e^ε times as likely as ±1.",
        ),
    ),
    "Groups and rows": (
        click.option(
            "--by", multiple=True, metavar="COLUMN", help="Group by this column. Repeatable."
        ),
        click.option(
            "--group",
            "groups",
            multiple=True,
            metavar="VALUE",
            help="Group to include. For several: --group VALUE --group VALUE. With several --by, "
            "values separated by commas. Default: groups are discovered, which requires δ > 0.",
        ),
        click.option("--groups-file", metavar="FILE", help="The groups, one per line."),
        click.option(
            "--max-groups",
            metavar="N",
            help="Maximum groups per unit. If a unit is in more, N are chosen by hash.  [required "
            "with --unit and several groups]",
        ),
        click.option(
            "--where",
            metavar="CONDITION",
            help="Count only rows that match, such as \"age >= 18 and region = 'north'\".",
        ),
        click.option(
            "--param",
            "params",
            multiple=True,
            metavar="NAME=VALUE",
            help="Text for :NAME in --where. NAME:=VALUE for a number, true, false or date '…'. "
            "Repeat it for a list.",
        ),
        click.option(
            "--lookup",
            "lookups",
            multiple=True,
            metavar="FILE:KEY",
            help="Add the columns of a public table that has one row per KEY. Both tables have the "
            "column KEY. Repeatable. In a database: TABLE:KEY.",
        ),
        click.option("--table", metavar="NAME", help="Table of a database."),
        click.option(
            "--card",
            metavar="FILE",
            help="Dataset card, in place of SOURCE. It states unit, bounds, groups and ledger.",
        ),
        click.option(
            "--type",
            "types",
            multiple=True,
            metavar="COLUMN=TYPE",
            help="Convert a column to integer, real, decimal, boolean, text, date or timestamp. "
            "A value that cannot be converted becomes NULL. Repeatable.",
        ),
        click.option(
            "--delimiter",
            metavar="CHARACTER",
            help="Delimiter of CSV files: a comma, ; | or tab. Default: a comma; a tab for .tsv.",
        ),
        click.option(
            "--encoding",
            metavar="NAME",
            help="Encoding of CSV files, such as cp1252. Default: UTF-8.",
        ),
        click.option(
            "--decimal",
            metavar="CHARACTER",
            help="Decimal sign of numbers in CSV files: . or a comma. Default: .",
        ),
    ),
    "Ledger": (
        click.option(
            "--ledger", metavar="FILE", help="Ledger to charge.  [required, or --unrecorded]"
        ),
        click.option(
            "--unrecorded",
            is_flag=True,
            help="Do not charge or record the release: track the budget yourself.",
        ),
        click.option(
            "--key",
            metavar="NAME",
            help="Name of the query in the ledger; a repeated key returns the stored answer. "
            "Default: derived from the query.",
        ),
        click.option("--fresh", is_flag=True, help="Charge again and sample new noise."),
        options.which_ledger,
        click.option(
            "--name",
            metavar="NAME",
            help="Name of the data in answers and in the ledger. Default: the path, or server, "
            "database, schema and table.",
        ),
        click.option(
            "--version",
            metavar="VERSION",
            help="Version of the data, such as 2026-11. A new version gets new answers, which are "
            "charged again.",
        ),
    ),
    "Output": (
        click.option(
            "--dry-run",
            is_flag=True,
            help="Print sensitivity, noise and 95% error instead. No row is read and nothing is "
            "charged. A ledger is read only with --share or --error.",
        ),
        click.option("--sql", is_flag=True, help="With --dry-run: print the SQL too."),
        click.option(
            "--out", metavar="FILE", help="Also write the answer, as .csv, .parquet or .json."
        ),
        click.option(
            "--plot",
            metavar="FILE",
            help="Also draw the answer, as .png, .svg, .pdf or .html.",
        ),
        click.option("--overwrite", is_flag=True, help="Replace FILE if it exists."),
        options.as_json,
    ),
}
_RENAMED = {"--neighbours": "--neighbors", "--explain": "--dry-run"}
_SOURCE = (
    "SOURCE is a file of CSV, JSON lines or Parquet, a pattern for several, a folder of Parquet "
    "files, or with --table a DuckDB file or postgresql://user@host/database."
)


class TableCommand(StrictCommand):
    """The command of a table query: options under headings, and old names of options.

    Args:
        renamed: The new name of each option, by its old one.
    """

    def __init__(self, *args: Any, renamed: Mapping[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._renamed = renamed

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options, also by their old names, which warn.

        Up to 0.5.0, ``--share`` of a quantile was its ``--q``. It is so beside a guarantee, which a
        share of the limit excludes.
        """
        names = {word.partition("=")[0] for word in args}
        if "--card" in names:
            args = ["", *args]  # in the place of SOURCE
            if self.make_parser(ctx).parse_args(args=list(args))[1]:
                raise InvalidParameter(
                    "SOURCE must be omitted with --card, which states it",
                    got="more arguments",
                    fix="Remove SOURCE, or --card.",
                )
        old = set(self._renamed)
        if "--q" in names or not names & {"--epsilon", "--delta"}:
            old -= {"--share"}
        return super().parse_args(
            ctx, [self._rename(word) if word.partition("=")[0] in old else word for word in args]
        )

    def _rename(self, word: str) -> str:
        old, equals, value = word.partition("=")
        options.warn_renamed(old, self._renamed[old])
        return f"{self._renamed[old]}{equals}{value}"

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, those of the query itself first."""
        shared = {heading: _list_names(own) for heading, own in _SECTIONS.items()}
        sections: dict[str, list[tuple[str, str]]] = {"Query": [], **{name: [] for name in shared}}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and not isinstance(parameter, click.Argument):
                homes = [name for name, own in shared.items() if parameter.name in own]
                last = "Output" if "--help" in parameter.opts else "Query"
                sections[homes[0] if homes else last].append(record)
        for heading, records in sections.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)


def build_command(
    query: TableQuery,
    request: type[TableRequest] = TableRequest,
    more: Sequence[options.Decorator] = (),
    without: Mapping[str, Any] = MappingProxyType({}),
) -> click.Command:
    """Return the command of a query: its own arguments, then the options that all share.

    Args:
        query: The query.
        request: The class of its requests.
        more: Options of the command alone, which the class of requests has as fields.
        without: The shared options that it does not have, each with its value.
    """

    def run(*, source: str, **shared: Any) -> None:
        own = {
            argument.name: _parse_value(argument, shared.pop(argument.name))
            for argument in query.arguments
        }
        _ask(request(query=query, source=source, own=own, **without, **shared))

    parameters: list[options.Decorator] = [click.argument("source", metavar="SOURCE")]
    parameters += map(_make_parameter, query.arguments)
    parameters += more
    shared_options = [option for section in _SECTIONS.values() for option in section]
    parameters += [
        option for option in shared_options if not _list_names([option]) & without.keys()
    ]
    own_old = {f"--{argument.renamed_from}": f"--{argument.name}" for argument in query.arguments}
    make = click.command(
        query.command,
        cls=TableCommand,
        help=_make_help(query),
        exit_codes=range(5),
        renamed=_RENAMED | own_old,
        on_more=query.on_more,
        on_missing=partial(check_missing, query),
    )
    return make(options.with_options(parameters, run))


def _list_names(section: Sequence[options.Decorator]) -> set[str]:
    """Return the names of the parameters that options make."""
    command = click.command()(options.with_options(section, lambda: None))
    return {str(parameter.name) for parameter in command.params}


def _make_parameter(argument: Argument) -> options.Decorator:
    if not argument.help:
        return click.argument(argument.name, metavar=argument.metavar)
    default = argument.option_default
    settings: dict[str, Any] = {"required": argument.required}
    if default is not None:
        settings |= {"default": default, "show_default": True}
    return click.option(
        f"--{argument.name}",
        nargs=argument.values,
        metavar=argument.metavar,
        help=argument.help,
        **settings,
    )


def _parse_value(argument: Argument, text: Any) -> Any:
    """Return the value of an argument; for a list, its items."""
    if argument.unless_listed is None or text is None:
        return text
    if "," not in text:
        problem, fix = argument.unless_listed
        raise InvalidParameter(problem, fix=fix)
    return text.split(",")


def _make_help(query: TableQuery) -> str:
    examples = [
        line
        for example in query.examples
        for line in wrap_command(["leastnoise", query.command, *shlex.split(example)])
    ]
    source = f"{_SOURCE} {query.notes} In Python: ProtectedTable.{query.name}()."
    return "\n\n".join([query.help, "\n".join(["\b", *examples]), source])


def _ask(request: TableRequest) -> None:
    """Query a table and print the answer, or print the dry run."""
    with ExitStack() as opened:
        _ask_opened(request, opened)


def _ask_opened(request: TableRequest, opened: ExitStack) -> None:
    _ = request.terms  # rejects a guarantee that is none, before anything is opened
    with Progress("opening the ledger") as now:
        ledger = opened.enter_context(request.recording)
        of = "" if ledger is None else options.check_ledger(ledger, request.witness)
        now("opening the table")
        table = opened.enter_context(request.open_table(ledger))
        if request.dry_run:
            now("finding the noise")
            explanation = request.explain(table)
        else:
            now("asking the table")
            answer, title = request.ask(table)
    if request.dry_run:
        if request.as_json:
            print_json(explanation.to_dict())
        else:
            click.echo(explanation.to_text(sql=request.sql))
        return
    # Printed before it is written: an answer that was charged is not lost if a disk is full.
    ledger_shown = format_ledger_name(getattr(table.ledger, "where", None), of)
    print_answer(answer, title, ledger_shown, as_json=request.as_json)
    if request.out is not None:
        path = write_answer(answer, title, request.out, overwrite=request.overwrite)
        if not request.as_json:
            click.echo(f"\n{path}: the same, in full")
    if request.plot is not None:
        path = draw_answer(cast("TableResult", answer), request.plot)
        if not request.as_json:
            click.echo(f"\n{path}: the figure")
