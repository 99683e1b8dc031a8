"""The commands of the registered table queries: count, sum, mean, median, quantile, histogram."""

import csv
import re
import shlex
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, fields
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from leastnoise.cli import options
from leastnoise.cli.app import Once
from leastnoise.cli.missing import check_missing, wrap_command
from leastnoise.cli.output import (
    ledger_name,
    print_answer,
    print_json,
    refuse_out,
    write_answer,
)
from leastnoise.core.exact import quote
from leastnoise.core.privacy import Privacy
from leastnoise.errors import InvalidParameter
from leastnoise.rendering import Progress
from leastnoise.tables import Argument, TableQuery

if TYPE_CHECKING:
    from leastnoise.ledger import Ledger, Unrecorded
    from leastnoise.tables import ProtectedTable, Query

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
            default="add_remove",
            show_default=True,
            help="Neighboring datasets: add or remove one unit, or replace one.",
        ),
        click.option("--epsilon", metavar="E", help="ε of the guarantee.  [required, or --delta]"),
        click.option(
            "--delta",
            metavar="D",
            help="δ of the guarantee, well below 1 / number of people. Default: 0.",
        ),
        click.option(
            "--allow-exact",
            is_flag=True,
            help="Accept noise that releases the exact value with some probability.",
        ),
    ),
    "Groups and rows": (
        click.option("--by", multiple=True, metavar="COLUMN", help="Group by it. Repeatable."),
        click.option(
            "--group",
            "groups",
            multiple=True,
            metavar="VALUE",
            help="Group to answer for. Repeatable. With several --by, values separated by commas. "
            "Default: groups are discovered, which requires δ > 0.",
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
        click.option("--table", metavar="NAME", help="Table of a database."),
    ),
    "Ledger": (
        click.option(
            "--ledger", metavar="FILE", help="Ledger to charge.  [required, or --unrecorded]"
        ),
        click.option("--unrecorded", is_flag=True, help="Track the budget yourself."),
        click.option(
            "--key",
            metavar="NAME",
            help="Name of the query in the ledger; a repeated key returns the stored answer. "
            "Default: derived from the query.",
        ),
        click.option("--fresh", is_flag=True, help="Charge again and draw new noise."),
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
            help="Version of the data, such as 2026-11. Another version gets its own answers.",
        ),
    ),
    "Output": (
        click.option(
            "--dry-run",
            is_flag=True,
            help="Print sensitivity, noise and 95% error instead. Nothing is read or charged, and "
            "no ledger is needed.",
        ),
        click.option("--sql", is_flag=True, help="With --dry-run: print the SQL too."),
        click.option(
            "--out", metavar="FILE", help="Also write the answer, as .csv, .parquet or .json."
        ),
        click.option("--overwrite", is_flag=True, help="Replace FILE if it exists."),
        options.as_json,
    ),
}
_RENAMED = {"--neighbours": "--neighbors", "--explain": "--dry-run"}
_SOURCE = (
    "SOURCE is a CSV or Parquet file, a pattern for several, or postgresql://user@host/database."
)
_EXIT_CODES = (
    "Exit codes: 0 success, 1 engine failure, 2 usage error, 3 budget exceeded, 4 ledger damaged"
)


class TableCommand(Once):
    """The command of a table query: options under headings, and old names of options.

    Args:
        renamed: The new name of each option, by its old one.
    """

    def __init__(self, *args: Any, renamed: Mapping[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._renamed = renamed

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options, also by their old names, which warn."""
        return super().parse_args(ctx, [self._rename(word) for word in args])

    def _rename(self, word: str) -> str:
        old, equals, value = word.partition("=")
        if old not in self._renamed:
            return word
        options.warn_renamed(old, self._renamed[old])
        return f"{self._renamed[old]}{equals}{value}"

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, those of the query itself first."""
        shared = {heading: _names(own) for heading, own in _SECTIONS.items()}
        found: dict[str, list[tuple[str, str]]] = {"Query": [], **{name: [] for name in shared}}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and not isinstance(parameter, click.Argument):
                homes = [name for name, own in shared.items() if parameter.name in own]
                last = "Output" if "--help" in parameter.opts else "Query"
                found[homes[0] if homes else last].append(record)
        for heading, records in found.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)


def command_of(query: TableQuery) -> click.Command:
    """Return the command of a query: its own arguments, then the options that all share."""

    def run(*, source: str, **given: Any) -> None:
        own = {one.name: _value(one, given.pop(one.name)) for one in query.arguments}
        _ask(_Request(query=query, source=source, own=own, **given))

    parameters: list[options.Decorator] = [click.argument("source", metavar="SOURCE")]
    parameters += map(_parameter, query.arguments)
    parameters += [option for section in _SECTIONS.values() for option in section]
    own_old = {f"--{one.renamed_from}": f"--{one.name}" for one in query.arguments}
    make = click.command(
        query.command,
        cls=TableCommand,
        help=_help(query),
        epilog=_EXIT_CODES,
        renamed=_RENAMED | own_old,
        on_more=query.on_more,
        on_missing=partial(check_missing, query),
    )
    return make(options.with_options(parameters, run))


def _names(section: Sequence[options.Decorator]) -> set[str]:
    """Return the names of the parameters that options make."""
    command = click.command()(options.with_options(section, lambda: None))
    return {str(one.name) for one in command.params}


def _parameter(argument: Argument) -> options.Decorator:
    if not argument.help:
        return click.argument(argument.name, metavar=argument.metavar)
    default = argument.option_default
    given: dict[str, Any] = {"required": argument.required}
    if default is not None:
        given |= {"default": default, "show_default": True}
    return click.option(
        f"--{argument.name}",
        nargs=argument.values,
        metavar=argument.metavar,
        help=argument.help,
        **given,
    )


def _value(argument: Argument, text: Any) -> Any:
    """Return what the query takes: for a list, its items."""
    if argument.unless_listed is None:
        return text
    if "," not in text:
        problem, fix = argument.unless_listed
        raise InvalidParameter(problem, fix=fix)
    return text.split(",")


def _help(query: TableQuery) -> str:
    examples = [
        line
        for example in query.examples
        for line in wrap_command(["leastnoise", query.command, *shlex.split(example)])
    ]
    source = f"{_SOURCE} {query.notes} In Python: ProtectedTable.{query.name}()."
    return "\n\n".join([query.help, "\n".join(["\b", *examples]), source])


@dataclass(frozen=True, kw_only=True)
class _Request:
    """What a command was given: its ``own`` arguments, and the options that all commands share."""

    query: TableQuery
    source: str
    own: Mapping[str, object]
    unit: str | None
    row_is_unit: bool
    max_rows: str | None
    neighbors: str
    table: str | None
    name: str | None
    version: str | None
    by: tuple[str, ...]
    groups: tuple[str, ...]
    groups_file: str | None
    where: str | None
    max_groups: str | None
    epsilon: str | None
    delta: str | None
    ledger: str | None
    unrecorded: bool
    key: str | None
    fresh: bool
    dataset: str | None
    analyst: str | None
    witness: str | None
    allow_exact: bool
    dry_run: bool
    sql: bool
    out: str | None
    overwrite: bool
    as_json: bool

    def __post_init__(self) -> None:
        """Reject what does not go together, before anything is opened."""
        given = [getattr(self, field.name) for field in fields(self)]
        _check_encoding((*given, *self.own.values(), *self.by, *self.groups))
        if self.unit is not None and self.row_is_unit:
            raise InvalidParameter(
                "--unit and --row-is-unit exclude each other",
                got="both",
                fix="Keep --unit if a person can have several rows, and --row-is-unit if every row "
                "is a different person.",
            )
        if self.ledger is not None and self.unrecorded:
            raise InvalidParameter(
                "--ledger and --unrecorded exclude each other",
                got="both",
                fix="Keep --ledger to charge a ledger, or --unrecorded to track the budget "
                "yourself.",
            )
        if self.overwrite and self.out is None:
            raise InvalidParameter(
                "--overwrite is for --out", got="it without", fix="Add --out FILE."
            )
        if self.sql and not self.dry_run:
            raise InvalidParameter(
                "--sql is for --dry-run", got="--sql alone", fix="Add --dry-run, or omit --sql."
            )
        if self.out is not None and not self.dry_run:
            refuse_out(
                self.out,
                overwrite=self.overwrite,
                ledger=self.ledger,
                witness=self.witness,
                read=[self.source, self.groups_file],
            )

    @property
    def privacy(self) -> Privacy:
        """The guarantee; what is not given of it is 0."""
        given = {"epsilon": self.epsilon, "delta": self.delta}
        return Privacy(**{name: text for name, text in given.items() if text is not None})

    @property
    def recording(self) -> AbstractContextManager["Ledger | Unrecorded"]:
        """The ledger, to be opened; none to explain a query."""
        which = {"dataset": self.dataset, "analyst": self.analyst, "witness": self.witness}
        return options.recording(None) if self.dry_run else options.recording(self.ledger, **which)

    def open_table(self, ledger: "Ledger | Unrecorded") -> "ProtectedTable":
        """Open the table."""
        from leastnoise.tables import protect  # and Ibis with it: only where a table is asked

        how: dict[str, Any] = {"max_rows": self.max_rows, "neighbors": self.neighbors}
        how |= {"name": self.name, "version": self.version}
        return protect(self.source, unit=self.unit, ledger=ledger, table=self.table, **how)

    def make_query(self, table: "ProtectedTable") -> "Query":
        """Return the query; the given groups are parsed by the kinds of their columns."""
        for name in self.by:
            if "," in name and name not in table.source.kinds:
                raise InvalidParameter(
                    "each --by must name one column",
                    got=f"{quote(name)}, which is none",
                    fix="Repeat --by for each column: --by region --by sex.",
                )
        shared: dict[str, object] = {"by": self.by, "where": self.where}
        if self.groups or self.groups_file is not None:  # else they are discovered
            lines = [] if self.groups_file is None else _lines(self.groups_file)
            kinds = [table.source.kind(name, "a group") for name in self.by]
            shared["groups"] = _parse_groups([*self.groups, *lines], kinds)
        if self.max_groups is not None:
            shared["max_groups"] = self.max_groups
        query: Query = self.query.load()(**self.query.fixed, **self.own, **shared)
        return query


def _ask(request: _Request) -> None:
    """Query a table and print the answer; or only explain it."""
    privacy = request.privacy
    with Progress("opening the ledger") as now, request.recording as ledger:
        of = options.check_ledger(ledger, request.witness)
        now("opening the table")
        table = request.open_table(ledger)
        query = request.make_query(table)
        if request.dry_run:
            now("finding the noise")
            explanation = table.explain(query, privacy=privacy)
        else:
            now("asking the table")
            (answer,) = table.ask(
                [query],
                privacy=privacy,
                key=request.key,
                fresh=request.fresh,
                allow_exact=request.allow_exact,
            )
    if request.dry_run:
        if request.as_json:
            print_json(explanation.to_dict())
        else:
            click.echo(explanation.to_text(sql=request.sql))
        return
    # Printed before it is written: an answer that was charged is not lost if a disk is full.
    ledger_shown = ledger_name(request.ledger, of)
    print_answer(answer, query.title, ledger_shown, as_json=request.as_json)
    if request.out is not None:
        path = write_answer(answer, query.title, request.out, overwrite=request.overwrite)
        if not request.as_json:
            click.echo(f"\n{path}: the same, in full")


def _check_encoding(texts: Sequence[object]) -> None:
    """Reject what is no text: a ledger, a query and JSON could not hold it."""
    for text in texts:
        try:
            if isinstance(text, str):
                text.encode()
        except UnicodeEncodeError:
            raise InvalidParameter(
                "arguments must be text in the encoding of the system",
                got="bytes that are not",
                fix="Rename the file, or set the encoding (LC_ALL).",
            ) from None


# ------------------------------------------------------------------- the groups to answer for

_WHOLE = re.compile(r"[+-]?[0-9]{1,40}")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TRUTHS = {"true": True, "false": False}
# What a text must be for a column of each kind; other kinds are rejected with their column.
_WRITTEN = {
    "integer": "an integer, such as 42",
    "boolean": "true or false",
    "date": "a date, such as 2024-12-31",
}


def _parse_groups(texts: Sequence[str], kinds: Sequence[str]) -> list[Any]:
    """Return groups as the library takes them: a value, or with several columns a tuple.

    No error quotes a text: the file that they are in might be the wrong one, of data.

    Args:
        texts: A text for each group; with several columns a line of CSV.
        kinds: The kind of each column.
    """
    if len(kinds) <= 1:
        return [_part(text, kind) for text in texts for kind in kinds or ["text"]]
    return [
        tuple(_part(text, kind) for text, kind in zip(parts, kinds, strict=True))
        for parts in (_parts(text, len(kinds)) for text in texts)
    ]


def _lines(file: str) -> list[str]:
    """Return the lines of a file; reject an empty line, which would be a group without a name."""
    try:
        with open(file, encoding="utf-8-sig") as opened:
            lines = opened.read().removesuffix("\n").split("\n")
    except (OSError, ValueError):
        raise InvalidParameter(
            "--groups-file must be a readable file in UTF-8, with a group on each line",
            got="something else",
            fix="Check its name, its encoding and its permissions.",
        ) from None
    if not all(lines):
        raise InvalidParameter(
            "every line of --groups-file must name a group",
            got="one that is empty",
            fix="Remove it, or give the empty string by --group ''.",
        )
    return lines


def _parts(text: str, columns: int) -> list[str]:
    try:
        parts = next(csv.reader([text], strict=True), [])
    except csv.Error:
        parts = []
    if len(parts) != columns:
        raise InvalidParameter(
            f"a group must have {columns} values separated by commas, one for each --by",
            got="something else",
            fix='Quote values that contain commas: north,"a, b".',
        )
    return parts


def _part(text: str, kind: str) -> Any:
    """Parse a text by the kind of its column."""
    if kind == "integer" and _WHOLE.fullmatch(text):
        return int(text)
    if kind == "boolean" and text.lower() in _TRUTHS:
        return _TRUTHS[text.lower()]
    if kind == "date" and _DATE.fullmatch(text):
        with suppress(ValueError):  # the 30th of February
            return date.fromisoformat(text)
    if kind in _WRITTEN:
        raise InvalidParameter(
            f"a group by a column of kind {kind} must be {_WRITTEN[kind]}",
            got="another text",
            fix="Write it that way.",
        )
    return text
