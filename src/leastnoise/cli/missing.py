"""Report everything that a command lacks at once, with an example that runs.

The example is the command as it was typed, completed for the census that the package comes with.
"""

import re
import shlex
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from leastnoise.errors import InvalidParameter
from leastnoise.rendering import keep_together

if TYPE_CHECKING:
    from leastnoise.tables import Argument, TableQuery

_WIDTH = 80
# The text after "://" may contain a password.
_ADDRESS = re.compile(r"(?<=://).*")


@dataclass(frozen=True, slots=True)
class _Missing:
    """A missing argument.

    Attributes:
        name: How it is written, with a placeholder.
        meaning: What it is for, and what may be given instead.
        example: The words that complete the command.
    """

    name: str
    meaning: str
    example: tuple[str, ...]


_SENSITIVITY = _Missing(
    "--sensitivity S", "the most that one person can change the true answer", ("--sensitivity", "1")
)
_EITHER = _Missing(
    "--epsilon E",
    "ε of the guarantee; or --delta D, or both",
    ("--epsilon", "1", "--delta", "1e-6"),
)
_DELTA = _Missing(
    "--delta D",
    "δ, to find the smallest ε; or --epsilon E, to find the smallest δ",
    ("--delta", "1e-6"),
)
# What each command without a table needs beside ε or δ, by the names of parameters.
_PROBLEM = {
    "calibrate": {"sensitivity": _SENSITIVITY},
    "compare": {"sensitivity": _SENSITIVITY},
    "release": {
        "values": _Missing("VALUE", "the true value, to which noise is added", ("42",)),
        "sensitivity": _SENSITIVITY,
    },
    "privacy-for": {
        "error": _Missing("--error A", "the largest acceptable error", ("--error", "2")),
        "confidence": _Missing(
            "--confidence P",
            "the probability of an acceptable error",
            ("--confidence", "0.95"),
        ),
        "sensitivity": _SENSITIVITY,
    },
}


def check_missing(query: "TableQuery", values: Mapping[str, object], typed: Sequence[str]) -> None:
    """Raise one error that lists the missing arguments of a table command.

    Args:
        query: The query of the command.
        values: The values that click has read, by the names of parameters.
        typed: The words of the command line after the name of the command.
    """
    given = _find_typed(values)
    if "card" in given:
        typed = typed[1:]  # without the place of SOURCE, which the card states
    missing = [*_arguments(query, given), *_unit(given), *_groups(query, given)]
    missing += [*_guarantee(query, given), *_record(given)]
    if missing:
        example = _example(query, missing, typed)
        raise _error(missing, example, "Nothing was read or charged")


def check_missing_problem(command: str, values: Mapping[str, object], typed: Sequence[str]) -> None:
    """Raise one error that lists the missing arguments of a command without a table.

    The example does not repeat the words of ``release``: one of them is the true value.
    """
    given = _find_typed(values)
    missing = [option for name, option in _PROBLEM[command].items() if name not in given]
    if not given.keys() & {"epsilon", "delta"}:
        missing.append(_DELTA if command == "privacy-for" else _EITHER)
    if missing:
        withheld = command == "release"
        lacking = [*_PROBLEM[command].values(), _EITHER] if withheld else missing
        words = [
            *([] if withheld else typed),
            *(word for option in lacking for word in option.example),
        ]
        raise _error(missing, wrap_command(["leastnoise", command, *words]))


def _find_typed(values: Mapping[str, object]) -> dict[str, Any]:
    """Return the values that were typed."""
    return {
        name: value
        for name, value in values.items()
        if isinstance(value, str | tuple | list | bool) and value != ()
    }


def _error(
    missing: Sequence[_Missing], example: Sequence[str], state: str = ""
) -> InvalidParameter:
    return InvalidParameter(
        f"{_amount(missing)} missing{'. ' * bool(state)}{state}",
        details=[(option.name, option.meaning) for option in missing],
        fix="\n".join(["", "Example:", *example]),
    )


def _amount(missing: Sequence[_Missing]) -> str:
    options = all(option.name.startswith("-") for option in missing)
    if len(missing) == 1:
        return f"1 {'option' if options else 'argument'} is"
    return f"{len(missing)} {'options' if options else 'arguments and options'} are"


def _arguments(query: "TableQuery", given: Mapping[str, Any]) -> list[_Missing]:
    missing = []
    if "card" in given:
        lacking = [argument for argument in query.arguments if argument.required]
        return [_argument(argument) for argument in lacking if argument.name not in given]
    if "source" not in given:
        meaning = "a CSV or Parquet file, a pattern for several, or postgresql://user@host/database"
        missing.append(_Missing("SOURCE", meaning, ("people.csv",)))
    elif given["source"].startswith(("postgresql://", "postgres://")) and "table" not in given:
        missing.append(_Missing("--table NAME", "the table of the database", ("--table", "people")))
    lacking = [argument for argument in query.arguments if argument.required or argument.from_card]
    return missing + [_argument(argument) for argument in lacking if argument.name not in given]


def _argument(argument: "Argument") -> _Missing:
    metavar = argument.metavar or argument.name.upper()
    words = tuple((argument.example or metavar).split(" "))
    if metavar == "SQL":
        words = (argument.example,)
    if not argument.help:
        meaning = "a SELECT with aggregates" if metavar == "SQL" else "a column of the table"
        return _Missing(metavar, meaning, words)
    meaning = f"{argument.help[0].lower()}{argument.help[1:].rstrip('.')}"
    return _Missing(f"--{argument.name} {metavar}", meaning, (f"--{argument.name}", *words))


def _unit(given: Mapping[str, Any]) -> list[_Missing]:
    if given.keys() & {"row_is_unit", "card"}:
        return []
    who = "the column that identifies a person; or --row-is-unit if every row is a different person"
    rows = "maximum rows per unit per group: 1 if everybody has one row"
    options = {
        "unit": _Missing("--unit COLUMN", who, ("--unit", "person_id")),
    }
    if given.get("of") != "units":  # each unit counts once
        options["max_rows"] = _Missing("--max-rows N", rows, ("--max-rows", "1"))
    return [option for name, option in options.items() if name not in given]


def _groups(query: "TableQuery", given: Mapping[str, Any]) -> list[_Missing]:
    """Return what answers by group lack: the groups, or in how many of them a unit counts."""
    missing: list[_Missing] = []
    if "card" in given:
        return missing
    named = 2 if "groups_file" in given else len(given.get("groups", ()))
    if query.groups_itself and "by" in given and not named:
        meaning = "a group to answer for; may be repeated"
        missing.append(_Missing("--group VALUE", meaning, ("--group", "north")))
        named = 1
    # A list of edges without a second comma is one range.
    ranges = query.groups_itself and given.get("edges", ",,").count(",") > 1
    several = ranges or ("by" in given and named != 1)
    if several and not given.keys() & {"row_is_unit", "max_groups"}:
        meaning = (
            "maximum groups per unit: 1 if everybody is in one group. A unit in more groups "
            "counts in N of them, chosen by a hash"
        )
        missing.append(_Missing("--max-groups N", meaning, ("--max-groups", "1")))
    return missing


def _guarantee(query: "TableQuery", given: Mapping[str, Any]) -> list[_Missing]:
    if given.keys() & {"share", "error"}:
        return []
    missing = []
    if not given.keys() & {"epsilon", "delta"}:
        meaning = "ε of the guarantee; or --delta D, or both; or --share S, or --error A"
        missing.append(_Missing("--epsilon E", meaning, ("--epsilon", "0.2")))
    known = {"groups", "groups_file", "delta", "card"}
    discovering = "by" in given and not given.keys() & known
    if discovering and not query.groups_itself:
        meaning = (
            "δ of the guarantee, well below 1 / number of people, because discovering groups "
            "requires δ > 0; or list the groups: --group north --group south"
        )
        missing.append(_Missing("--delta D", meaning, ("--delta", "1e-7")))
    return missing


def _record(given: Mapping[str, Any]) -> list[_Missing]:
    if given.keys() & {"ledger", "unrecorded", "dry_run", "card"}:
        return []
    meaning = "the ledger to charge; or --unrecorded to track the budget yourself"
    return [_Missing("--ledger FILE", meaning, ("--ledger", "people.ledger"))]


def _example(query: "TableQuery", missing: Sequence[_Missing], typed: Sequence[str]) -> list[str]:
    """Return the lines of a command that runs; the first creates the ledger, if none was named."""
    words = [_ADDRESS.sub("…", word) for word in typed]
    words += [word for option in missing for word in option.example]
    lines = wrap_command(["leastnoise", query.command, *words])
    if any(option.name == "--ledger FILE" for option in missing):
        lines = ["leastnoise ledger create people.ledger --epsilon 1 --delta 1e-6", *lines]
    return lines


def wrap_command(words: Sequence[str]) -> list[str]:
    """Return a command in lines that a shell reads as one; a value stays beside its option."""
    text = " ".join(keep_together(shlex.quote(word)) for word in words)
    text = re.sub(r"(?<!\S)(--\S+) (?!-)", rf"\1{keep_together(' ')}", text)
    lines = textwrap.wrap(
        text,
        _WIDTH - 4,
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    broken = [f"{line} \\" for line in lines[:-1]]
    return [line.replace(keep_together(" "), " ") for line in (*broken, *lines[-1:])]
