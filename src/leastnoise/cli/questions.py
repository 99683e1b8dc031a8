"""The commands that query a table: the options they share, and their one call of the library."""

import csv
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields
from datetime import date
from typing import TYPE_CHECKING, Any

import click

from leastnoise.cli import options
from leastnoise.cli.output import print_answer, print_json, refuse_out, waiting, write_answer
from leastnoise.cli.recording import of_dataset, recording, refuse_late
from leastnoise.core.exact import quote
from leastnoise.core.privacy import Privacy
from leastnoise.errors import InvalidParameter
from leastnoise.tables import TableQuery

if TYPE_CHECKING:
    from leastnoise.ledger import Ledger, Unrecorded
    from leastnoise.tables import Protected, Question

Decorator = Callable[[Callable[..., None]], Callable[..., None]]

OPTIONS: list[Decorator] = [
    click.option("--unit", metavar="COLUMN", help="The column that tells people apart."),
    click.option("--row-is-unit", is_flag=True, help="Nobody has two rows: no column is needed."),
    click.option("--max-rows", metavar="N", help="How many rows of a unit count in a group."),
    click.option(
        "--neighbours",
        type=click.Choice(["add_remove", "replace"]),
        default="add_remove",
        show_default=True,
        help="What makes little difference: one unit more or less, or another in its place.",
    ),
    click.option("--table", metavar="NAME", help="The table, where SOURCE is a database."),
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
    click.option("--max-groups", metavar="N", help="In how many groups a unit counts."),
    click.option("--epsilon", help="ε of the promise; 0 if only δ is given."),
    click.option("--delta", help="δ of the promise; 0 if only ε is given."),
    click.option(
        "--ledger", metavar="FILE", help="Charge and store it there; begun by ledger new."
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


@dataclass(frozen=True, kw_only=True)
class TableRequest:
    """What a command was given: its own arguments, and the options that all commands share.

    Attributes:
        query: The query, as it is registered.
        source: Where the table is.
        own: The arguments of this query alone.
    """

    query: TableQuery
    source: str
    own: Mapping[str, object]
    unit: str | None
    row_is_unit: bool
    max_rows: str | None
    neighbours: str
    table: str | None
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
        if (self.unit is None) != self.row_is_unit:
            raise InvalidParameter(
                "a promise must say to whom it is made, by one of --unit COLUMN and --row-is-unit; "
                f"got {'both' if self.row_is_unit else 'neither'}. Name the column that tells "
                "people apart, or say that nobody has two rows."
            )
        if self.epsilon is None and self.delta is None:
            raise InvalidParameter(
                "a promise must be given by --epsilon, --delta or both; got neither. Give for "
                "instance --epsilon 0.5."
            )
        recorded = self.ledger is not None
        if (recorded and self.unrecorded) or not (self.ledger or self.unrecorded or self.explain):
            raise InvalidParameter(
                "a release must be recorded, or be said to be recorded nowhere, by one of --ledger "
                f"FILE and --unrecorded; got {'both' if self.unrecorded else 'neither'}. Begin a "
                "ledger with leastnoise ledger FILE new, or say --unrecorded."
            )
        if self.overwrite and self.out is None:
            raise InvalidParameter("--overwrite is for --out; got it without. Give --out FILE.")
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

    def open_ledger(self) -> AbstractContextManager["Ledger | Unrecorded"]:
        """Open the ledger; none to explain a query."""
        if self.explain:
            return recording(None)
        which = {"dataset": self.dataset, "analyst": self.analyst, "witness": self.witness}
        return recording(self.ledger, **which)

    def open_table(self, ledger: "Ledger | Unrecorded") -> "Protected":
        """Open the table."""
        from leastnoise.tables import protect  # and Ibis with it: only where a table is asked

        how: dict[str, Any] = {"max_rows": self.max_rows, "neighbours": self.neighbours}
        return protect(self.source, unit=self.unit, ledger=ledger, table=self.table, **how)

    def question(self, table: "Protected") -> "Question":
        """Return the question; the given groups are parsed by the kinds of their columns."""
        for name in self.by:
            if "," in name and name not in table.source.kinds:
                raise InvalidParameter(
                    f"each --by must name one column; got {quote(name)}, which is none. Repeat "
                    "--by for each column: --by region --by sex."
                )
        shared: dict[str, object] = {"by": self.by, "where": self.where}
        texts = given_texts(self.groups, self.groups_file)
        if texts is not None:
            kinds = [table.source.kind(name, "a group") for name in self.by]
            shared["keys"] = parse_groups(texts, kinds)
        if self.max_groups is not None:
            shared["max_groups"] = self.max_groups
        question: Question = self.query.load()(**self.own, **shared)
        return question


def ask(request: TableRequest) -> None:
    """Query a table and print the answer; or only explain it."""
    privacy = request.privacy
    with waiting("opening the ledger") as now, request.open_ledger() as ledger:
        of = _check_ledger(ledger, request.witness)
        now("opening the table")
        table = request.open_table(ledger)
        question = request.question(table)
        if request.explain:
            now("finding the least noise")
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
    print_answer(answer, question.title, of, as_json=request.as_json)
    if request.out is not None:
        path = write_answer(answer, question.title, request.out, overwrite=request.overwrite)
        if not request.as_json:
            click.echo(f"\n{path}: the same, in full")


def _check_ledger(ledger: "Ledger | Unrecorded", witness: str | None) -> str:
    """Reject a witness that came too late; return the dataset's name, if there are several."""
    from leastnoise.ledger import Unrecorded

    if not isinstance(ledger, Unrecorded):
        refuse_late(witness, ledger)
    return of_dataset(ledger)


def _check_encoding(texts: Sequence[object]) -> None:
    """Reject what is no text: a ledger, a query and JSON could not hold it."""
    for text in texts:
        try:
            if isinstance(text, str):
                text.encode()
        except UnicodeEncodeError:
            raise InvalidParameter(
                "arguments must be texts in the encoding of the system; got bytes that are none. "
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


def given_texts(groups: Sequence[str], file: str | None) -> list[str] | None:
    """Return the given groups as texts; None if there are none, and they are to be discovered."""
    if not groups and file is None:
        return None
    return [*groups, *([] if file is None else _lines(file))]


def parse_groups(texts: Sequence[str], kinds: Sequence[str]) -> list[Any]:
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
            "--groups-file must be a file in UTF-8 that can be read, with a group on each line; "
            "got another. Look at its name, and at the rights to it."
        ) from None
    if not all(lines):
        raise InvalidParameter(
            "every line of --groups-file must name a group; got one that is empty. Take it out, or "
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
            'double quotes where they have some; got another. Write for instance north,"a, b".'
        )
    return parts


def _part(text: str, kind: str) -> Any:
    """Parse a text by the kind of its column."""
    if kind == "integer" and _WHOLE.fullmatch(text):
        return int(text)
    if kind == "boolean" and text.lower() in _TRUTHS:
        return _TRUTHS[text.lower()]
    if kind == "date" and _DATE.fullmatch(text):
        try:
            return date.fromisoformat(text)
        except ValueError:  # the 30th of February
            pass
    if kind in _WRITTEN:
        raise InvalidParameter(
            f"a group by a column of kind {kind} must be {_WRITTEN[kind]}; got another text. "
            "Write it that way."
        )
    return text
