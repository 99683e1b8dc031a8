"""Write the skeleton of a card from the schema of a table alone."""

import json
import re

from leastnoise.tables.sources import Source

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


def write_skeleton(source: Source, place: str, table: str | None = None) -> str:
    """Return the text of a card that no query may use yet: its owner fills it in.

    Args:
        source: The table. Only the names and kinds of its columns are used.
        place: The path of the table, as the card shall state it; for a database its address, which
            is replaced by an environment variable because it may contain a password.
        table: The name of the table in the database.
    """
    stated = '{env = "PEOPLE_DATABASE"}' if "://" in place else _quote(place)
    named = "" if table is None else f"table = {_quote(table)}\n"
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
