"""The options that the questions share, and the one call that they make.

What the commands that ask a table share: their options, and the one call of the library.

The groups that are given on the command line, or in a file: texts, read as their columns are.
"""

import csv
import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import date
from typing import TYPE_CHECKING, Any

import click

from leastnoise.cli import options
from leastnoise.cli.output import print_answer, print_json, refuse_out, waiting, write_answer
from leastnoise.cli.recording import of_dataset, recording, refuse_late
from leastnoise.core.exact import quote
from leastnoise.core.privacy import Privacy
from leastnoise.errors import InvalidParameter

if TYPE_CHECKING:
    from leastnoise.ledger import Ledger, Unrecorded
    from leastnoise.tables import Explanation, Protected, Question


Given = dict[str, Any]

bounds = click.option(
    "--bounds",
    nargs=2,
    required=True,
    metavar="LOW HIGH",
    help="What a value can be; those beyond count as the nearest. Not to be taken from the table.",
)

cells = click.option(
    "--cells",
    default="1024",
    show_default=True,
    help="Of the grid between the bounds, in one of which the answer lies.",
)


def asking(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that every question about a table has."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


_OPTIONS: list[Callable[[Callable[..., None]], Callable[..., None]]] = [
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


def ask(kind: str, *columns: str, source: str, given: Given, **more: Any) -> None:
    """Ask a table and print what may be published; or only explain it.

    Args:
        kind: The question, as the library calls it: "Count", "Sum", …
        columns: The columns that it is about.
        source: Where the table is.
        given: What the options say that all questions have.
        more: What a question of this kind has besides.
    """
    _check(columns, source, given)
    said = {name: given[name] for name in ("epsilon", "delta") if given[name] is not None}
    privacy = Privacy(**said)
    with waiting("opening the ledger") as now, _recording(given) as ledger:
        of = _checked(ledger, given["witness"])
        now("opening the table")
        table = _opened(source, given, ledger)
        question = _question(kind, columns, given, more, table)
        if given["explain"]:
            now("finding the least noise")
            found: Any = table.explain(question, privacy=privacy)
        else:
            now("asking the table")
            places = {name: given[name] for name in ("key", "fresh", "allow_exact")}
            (found,) = table.ask([question], privacy=privacy, **places)
    if given["explain"]:
        _print_explanation(found, as_json=given["as_json"])
        return
    # Printed before it is written: what is paid for is not lost where a disk is full.
    print_answer(found, question.title, of, as_json=given["as_json"])
    if given["out"] is not None:
        path = write_answer(found, question.title, given["out"], overwrite=given["overwrite"])
        if not given["as_json"]:
            click.echo(f"\n{path}: the same, in full")


def _print_explanation(found: "Explanation", *, as_json: bool) -> None:
    if as_json:
        print_json(found.to_dict())
    else:
        click.echo(f"{found}")


def _recording(given: Given) -> AbstractContextManager["Ledger | Unrecorded"]:
    """Open the ledger that is meant; to explain a question, none."""
    if given["explain"]:
        return recording(None)
    which = {name: given[name] for name in ("dataset", "analyst", "witness")}
    return recording(given["ledger"], **which)


def _checked(ledger: "Ledger | Unrecorded", witness: str | None) -> str:
    """Refuse a witness that cannot tell; return which data set is meant, if there are several."""
    from leastnoise.ledger import Unrecorded

    if not isinstance(ledger, Unrecorded):
        refuse_late(witness, ledger)
    return of_dataset(ledger)


def _opened(source: str, given: Given, ledger: "Ledger | Unrecorded") -> "Protected":
    from leastnoise.tables import protect  # and Ibis with it: only where a table is asked

    names = ("unit", "max_rows", "neighbours", "table")
    return protect(source, ledger=ledger, **{name: given[name] for name in names})


def _question(
    kind: str, columns: tuple[str, ...], given: Given, more: Given, table: "Protected"
) -> "Question":
    """Return the question; the given groups are read as their columns have them."""
    from leastnoise import tables

    _refuse_lists(given["by"], table)
    asked: Given = {"by": given["by"], "where": given["where"], **more}
    texts = given_texts(given["groups"], given["groups_file"])
    if texts is not None:
        kinds = [table.source.kind(name, "a group") for name in given["by"]]
        asked["keys"] = groups_read(texts, kinds)
    if given["max_groups"] is not None:
        asked["max_groups"] = given["max_groups"]
    question: Question = getattr(tables, kind)(*columns, **asked)
    return question


def _refuse_lists(by: tuple[str, ...], table: "Protected") -> None:
    """Refuse several columns in one --by, unless a column has such a name."""
    for name in by:
        if "," in name and name not in table.source.kinds:
            raise InvalidParameter(
                f"each --by must name one column; got {quote(name)}, which is none. Repeat "
                "--by for each column: --by region --by sex."
            )


def _check(columns: tuple[str, ...], source: str, given: Given) -> None:
    """Refuse what does not go together, before anything is opened."""
    _refuse_bytes((source, *columns, *given["by"], *given["groups"], *given.values()))
    if (given["unit"] is None) != given["row_is_unit"]:
        raise InvalidParameter(
            "a promise must say to whom it is made, by one of --unit COLUMN and --row-is-unit; got "
            f"{'both' if given['row_is_unit'] else 'neither'}. Name the column that tells people "
            "apart, or say that nobody has two rows."
        )
    if given["epsilon"] is None and given["delta"] is None:
        raise InvalidParameter(
            "a promise must be given by --epsilon, --delta or both; got neither. Give for instance "
            "--epsilon 0.5."
        )
    unrecorded, ledger = given["unrecorded"], given["ledger"]
    if (ledger is not None and unrecorded) or not (ledger or unrecorded or given["explain"]):
        raise InvalidParameter(
            "a release must be recorded, or be said to be recorded nowhere, by one of --ledger "
            f"FILE and --unrecorded; got {'both' if unrecorded else 'neither'}. Begin a ledger "
            "with leastnoise ledger FILE new, or say --unrecorded."
        )
    out, overwrite = given["out"], given["overwrite"]
    if overwrite and out is None:
        raise InvalidParameter("--overwrite is for --out; got it without. Give --out FILE.")
    if out is not None and not given["explain"]:
        read = [source, given["groups_file"]]
        refuse_out(out, overwrite=overwrite, ledger=ledger, witness=given["witness"], read=read)


def _refuse_bytes(texts: tuple[Any, ...]) -> None:
    """Refuse what is no text: a ledger, a query and JSON could not hold it."""
    for text in texts:
        try:
            if isinstance(text, str):
                text.encode()
        except UnicodeEncodeError:
            raise InvalidParameter(
                "arguments must be texts in the encoding of the system; got bytes that are none. "
                "Rename the file, or set the encoding (LC_ALL)."
            ) from None


_WHOLE = re.compile(r"[+-]?[0-9]{1,40}")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TRUTHS = {"true": True, "false": False}
# What a text must be for a column of each kind; other kinds are refused with their column.
_WRITTEN = {
    "integer": "a whole number, such as 42",
    "boolean": "true or false",
    "date": "a date, such as 2024-12-31",
}


def given_texts(groups: Sequence[str], file: str | None) -> list[str] | None:
    """Return the groups that are given, as texts; None if none are, and are to be discovered."""
    if not groups and file is None:
        return None
    return [*groups, *([] if file is None else _lines(file))]


def groups_read(texts: Sequence[str], kinds: Sequence[str]) -> list[Any]:
    """Return groups as the library has them: a value, or with several columns a tuple.

    No message repeats a text: the file that they are in might be the wrong one, of data.

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
    """Return the lines of a file; an empty one would be a group without a name."""
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
    """Read a text as a column of this kind has it."""
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
