"""The commands of the registered table queries: count, sum, mean, median, quantile, histogram."""

import csv
import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, fields
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from leastnoise.cli import options
from leastnoise.cli.app import Once
from leastnoise.cli.missing import check_missing
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
    from leastnoise.tables import Protected, Question

_OPTIONS: list[options.Decorator] = [
    click.option("--unit", metavar="COLUMN", help="The column that tells people apart."),
    click.option("--row-is-unit", is_flag=True, help="Nobody has two rows: no column is needed."),
    click.option(
        "--max-rows",
        metavar="N",
        help="Maximum rows per unit per group. Required with --unit. Answers say what counts of "
        "a unit with more.",
    ),
    click.option(
        "--neighbours",
        type=click.Choice(["add_remove", "replace"]),
        default="add_remove",
        show_default=True,
        help="What makes little difference: one unit more or less, or another in its place.",
    ),
    click.option("--table", metavar="NAME", help="The table, where SOURCE is a database."),
    click.option(
        "--name",
        metavar="NAME",
        help="What the data is called in answers and in the ledger. Default: the path, or server, "
        "database, schema and table.",
    ),
    click.option(
        "--version",
        metavar="VERSION",
        help="The version of the data, such as 2026-11. Another version gets answers of its own.",
    ),
    click.option("--by", multiple=True, metavar="COLUMN", help="Group by it; may be repeated."),
    click.option(
        "--group",
        "groups",
        multiple=True,
        metavar="VALUE",
        help="A group to answer for; may be repeated. With several --by, values parted by commas. "
        "Groups that are not given are discovered, which needs a δ.",
    ),
    click.option("--groups-file", metavar="FILE", help="The groups, one on each line."),
    click.option("--where", help="Which rows count, such as \"age >= 18 and region = 'north'\"."),
    click.option(
        "--max-groups",
        metavar="N",
        help="Maximum groups per unit. Required with --unit and several groups: a unit in more "
        "groups counts in N of them, chosen by a hash.",
    ),
    click.option("--epsilon", help="ε of the promise; 0 if only δ is given."),
    click.option("--delta", help="δ of the promise; 0 if only ε is given."),
    click.option(
        "--ledger", metavar="FILE", help="Charge and store it there; created by ledger create."
    ),
    click.option("--unrecorded", is_flag=True, help="Go without a ledger: nobody adds it up."),
    click.option("--key", help="What the question is called; its own words if left out."),
    click.option("--fresh", is_flag=True, help="Charge and draw again under the key."),
    options.which_ledger,
    click.option("--allow-exact", is_flag=True, help="Accept that exact values may leave."),
    click.option(
        "--explain",
        is_flag=True,
        help="Print query, sensitivity, noise and price instead. No row is read, nothing charged "
        "or written, and no ledger needed.",
    ),
    click.option("--out", metavar="FILE", help="Write it, too, as .csv, .parquet or .json."),
    click.option("--overwrite", is_flag=True, help="Write over FILE if it is there."),
    options.as_json,
]


_SOURCE = (
    "SOURCE is a CSV or Parquet file, a pattern for several, or postgresql://user@host/database."
)
_EXIT_CODES = (
    "It exits with 1 if the engine fails, with 3 if the budget of the ledger refuses, with 4 if "
    "the ledger is damaged."
)


def command_of(query: TableQuery) -> click.Command:
    """Return the command of a query: its own arguments, then the options that all share."""

    def run(*, source: str, **given: Any) -> None:
        own = {one.name: _value(one, given.pop(one.name)) for one in query.arguments}
        _ask(_Request(query=query, source=source, own=own, **given))

    parameters: list[options.Decorator] = [click.argument("source", metavar="SOURCE")]
    parameters += [*map(_parameter, query.arguments), *_OPTIONS]
    make = click.command(
        query.command,
        cls=Once,
        help=_help(query),
        on_more=query.on_more,
        on_missing=partial(check_missing, query),
    )
    return make(options.with_options(parameters, run))


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
        raise InvalidParameter(argument.unless_listed)
    return text.split(",")


def _help(query: TableQuery) -> str:
    title = "Examples:" if len(query.examples) > 1 else "Example:"
    examples = [f"  leastnoise {query.command} {example}" for example in query.examples]
    source = f"{_SOURCE} {query.notes}".rstrip()
    return "\n\n".join([query.help, source, _EXIT_CODES, "\n".join(["\b", title, *examples])])


@dataclass(frozen=True, kw_only=True)
class _Request:
    """What a command was given: its ``own`` arguments, and the options that all commands share."""

    query: TableQuery
    source: str
    own: Mapping[str, object]
    unit: str | None
    row_is_unit: bool
    max_rows: str | None
    neighbours: str
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
    explain: bool
    out: str | None
    overwrite: bool
    as_json: bool

    def __post_init__(self) -> None:
        """Reject what does not go together, before anything is opened."""
        given = [getattr(self, field.name) for field in fields(self)]
        _check_encoding((*given, *self.own.values(), *self.by, *self.groups))
        if self.unit is not None and self.row_is_unit:
            raise InvalidParameter(
                "--unit and --row-is-unit exclude each other, got both. Keep --unit if a person "
                "can have several rows, and --row-is-unit if every row is a different person."
            )
        if self.ledger is not None and self.unrecorded:
            raise InvalidParameter(
                "--ledger and --unrecorded exclude each other, got both. Keep --ledger to charge "
                "a ledger, or --unrecorded to track the budget yourself."
            )
        if self.overwrite and self.out is None:
            raise InvalidParameter("--overwrite is for --out, got it without. Give --out FILE.")
        if self.out is not None and not self.explain:
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
        return options.recording(None) if self.explain else options.recording(self.ledger, **which)

    def open_table(self, ledger: "Ledger | Unrecorded") -> "Protected":
        """Open the table."""
        from leastnoise.tables import protect  # and Ibis with it: only where a table is asked

        how: dict[str, Any] = {"max_rows": self.max_rows, "neighbours": self.neighbours}
        how |= {"name": self.name, "version": self.version}
        return protect(self.source, unit=self.unit, ledger=ledger, table=self.table, **how)

    def question(self, table: "Protected") -> "Question":
        """Return the question; the given groups are parsed by the kinds of their columns."""
        for name in self.by:
            if "," in name and name not in table.source.kinds:
                raise InvalidParameter(
                    f"each --by must name one column, got {quote(name)}, which is none. Repeat "
                    "--by for each column: --by region --by sex."
                )
        shared: dict[str, object] = {"by": self.by, "where": self.where}
        if self.groups or self.groups_file is not None:  # else they are discovered
            lines = [] if self.groups_file is None else _lines(self.groups_file)
            kinds = [table.source.kind(name, "a group") for name in self.by]
            shared["keys"] = _parse_groups([*self.groups, *lines], kinds)
        if self.max_groups is not None:
            shared["max_groups"] = self.max_groups
        question: Question = self.query.load()(**self.own, **shared)
        return question


def _ask(request: _Request) -> None:
    """Query a table and print the answer; or only explain it."""
    privacy = request.privacy
    with Progress("opening the ledger") as now, request.recording as ledger:
        of = options.check_ledger(ledger, request.witness)
        now("opening the table")
        table = request.open_table(ledger)
        question = request.question(table)
        if request.explain:
            now("finding the noise")
            explanation = table.explain(question, privacy=privacy)
        else:
            now("asking the table")
            (answer,) = table.ask(
                [question],
                privacy=privacy,
                key=request.key,
                fresh=request.fresh,
                allow_exact=request.allow_exact,
            )
    if request.explain:
        if request.as_json:
            print_json(explanation.to_dict())
        else:
            click.echo(f"{explanation}")
        return
    # Printed before it is written: an answer that was charged is not lost if a disk is full.
    ledger_shown = ledger_name(request.ledger, of)
    print_answer(answer, question.title, ledger_shown, as_json=request.as_json)
    if request.out is not None:
        path = write_answer(answer, question.title, request.out, overwrite=request.overwrite)
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
                "arguments must be texts in the encoding of the system, got bytes that are none. "
                "Rename the file, or set the encoding (LC_ALL)."
            ) from None


# ------------------------------------------------------------------- the groups to answer for

_WHOLE = re.compile(r"[+-]?[0-9]{1,40}")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TRUTHS = {"true": True, "false": False}
# What a text must be for a column of each kind; other kinds are rejected with their column.
_WRITTEN = {
    "integer": "a whole number, such as 42",
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
            "--groups-file must be a file in UTF-8 that can be read, with a group on each line, "
            "got another. Look at its name, and at the rights to it."
        ) from None
    if not all(lines):
        raise InvalidParameter(
            "every line of --groups-file must name a group, got one that is empty. Take it out, or "
            "give the empty text by --group ''."
        )
    return lines


def _parts(text: str, columns: int) -> list[str]:
    try:
        parts = next(csv.reader([text], strict=True), [])
    except csv.Error:
        parts = []
    if len(parts) != columns:
        raise InvalidParameter(
            f"a group must have a value for each --by, {columns} of them, parted by commas and in "
            'double quotes where they have some, got another. Write for instance north,"a, b".'
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
            f"a group by a column of kind {kind} must be {_WRITTEN[kind]}, got another text. "
            "Write it that way."
        )
    return text
