"""Write the skeleton of a card from the schema of a table alone."""

import json
import os
import re
from contextlib import closing

from leastnoise.tables.sources import Source, open_source

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_NUMBERS = ("integer", "real", "decimal")
_HEAD = """\
# A dataset card: what the owner of the data states once, for all queries.
# Everything here is public. Choose it without looking at the data.
# Reference: docs/card.md. Check this file with: leastnoise card check FILE

# A path relative to this file; or a database, whose address the environment can hold:
# source = {{env = "PEOPLE_DATABASE"}}
source = {source}
{table}
# What the data is called in answers and ledgers, and its version.
# name = "people"
# version = "2026-11"

# Required: the column that identifies a person, or row_is_unit = true if every row is a person.
# unit = "person_id"

# Required with unit: rows per unit per group. More rows mean more noise.
# max_rows = 1
# max_rows = {{default = 1, largest = 4}}

# Groups per unit, for queries by group. A unit in more groups counts in some, chosen by a hash.
# max_groups = 1

# Neighboring datasets: "add_remove" or "replace".
neighbors = "add_remove"

# The most that one release may cost: ε and δ, or a share of the limit.
# [largest]
# share = "1/20"

# The ledger. leastnoise card apply FILE creates it.
# [ledger]
# path = "people.ledger"
# epsilon = 1
# delta = 1e-6

# The analysts. Without this, everybody may query; a limit of their own may be omitted.
# [analysts.ann]
# epsilon = "1/2"

# The columns. Queries may use those with allowed = true.
"""


def write_skeleton(
    source: str,
    table: str | None = None,
    *,
    beside: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
) -> str:
    """Return the text of a card that no query can use yet, because its owner must fill it in.

    No row is read: only the names and kinds of columns are used.

    Args:
        source: The path or pattern of files; or the address of a database, in place of which the
            card names an environment variable, because an address may contain a password.
        table: The name of the table in the database.
        beside: The folder of the card, to which the path becomes relative. Default: the path as it
            is.
        delimiter: The delimiter of CSV files, as in ``protect``.
        encoding: The encoding of CSV files.
        decimal: The decimal sign of numbers in CSV files.
    """
    place = source if beside is None or "://" in source else os.path.relpath(source, beside)
    opened = open_source(source, table, delimiter=delimiter, encoding=encoding, decimal=decimal)
    with closing(opened):
        return _write(opened, place, table)


def _write(source: Source, place: str, table: str | None) -> str:
    stated = '{env = "PEOPLE_DATABASE"}' if "://" in place else _quote(place)
    named = "" if table is None else f"table = {_quote(table)}\n"
    named += "".join(f"{name} = {_quote(text)}\n" for name, text in source.reading.items())
    head = _HEAD.format(source=stated, table=named)
    columns = [_write_column(source, name, kind) for name, kind in source.kinds.items()]
    return "\n".join([head, *columns])


def _write_column(source: Source, name: str, kind: str) -> str:
    text = source.is_text(name)
    known = "" if kind == "other" or text else f'type = "{kind}"\n'
    lines = [
        f"[columns.{name if _BARE.fullmatch(name) else _quote(name)}]",
        f"{known}allowed = false",
    ]
    if text:
        lines.append('# type = "integer"  # or real, decimal, boolean, date or timestamp')
    if kind in (*_NUMBERS, "boolean") or text:
        lines.append("# bounds = [0, 1]  # clipping bounds")
    if kind in _NUMBERS or text:
        lines.append("# edges = [0, 1]  # the ends of ranges, for histograms")
    if kind in ("integer", "text", "boolean", "date"):
        lines.append(f"# groups = {_EXAMPLES[kind]}  # default: groups are discovered")
    return "\n".join([*lines, ""])


_EXAMPLES = {
    "integer": "[1, 2]",
    "text": '["a", "b"]',
    "boolean": "[false, true]",
    "date": "[2026-01-01, 2026-02-01]",
}


def _quote(text: str) -> str:
    """Return a string as TOML writes it."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
