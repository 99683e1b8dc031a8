"""CSV files, read so that a line can change no row but its own.

Every physical line is one record. A reader in which a quoted field may contain a line break has a
state at the end of a line, so one line can decide how all lines after it are read: one person's
quote would add or remove the records of others, which no sensitivity covers. Here DuckDB reads the
file as plain lines (``_LINES``), and each line is split by itself, by the grammar of RFC 4180
without line breaks:

    line = field { delimiter field }
    field = quoted | bare
    quoted = '"' { any character but '"', or '""' } '"'
    bare = nothing, or any characters but the delimiter, of which the first is not '"'

Each line has at most one reading: a field that begins with a quote ends at the first quote that is
not doubled, and any other at the next delimiter: a comma, or the semicolon, tab or vertical bar
that the caller states. A line without a reading is omitted.

A file with line breaks inside of quotes is read wrongly, but not rejected. Its lines cannot be
distinguished from others without a state, and whether a file is rejected must not depend on one
person's text. The text after such a break counts as a row if it has enough fields: docs/csv.md
advises to convert such files.
"""

import csv
import gzip
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from leastnoise.errors import InvalidParameter, Text, Words
from leastnoise.suggestions import find_nearest

# The texts in answers. They state rules only, because the number of omitted lines reveals data.
OMITTED = "malformed CSV lines"
OMITTED_OBJECTS = "lines that are no JSON object"
NOTE = (
    "Every line of a CSV file is read as one row. If a quoted field can contain a line break, "
    "convert the file to Parquet first."
)
_LONGEST = 1 << 20  # bytes in the line of names
_LONGEST_LINE = 2_000_000  # bytes in any other line, without its end
# Nothing is guessed, so how a file is read does not depend on its content. There are no quotes and
# no escapes, and the separator of columns is a line break: so a line is one column, and there is no
# state to carry over. A line feed, a carriage return and both together end a line, also if they are
# mixed: this is what new_line = '\n' does. If DuckDB detects how the first line ends, or is given
# '\r\n', the byte after a single carriage return is lost. Not strict, and ignoring errors, so no
# line makes reading fail. Not parallel: DuckDB 2.0 loses lines at the ends of the pieces that it
# reads in parallel. Which lines are too long is decided by _SPLIT alone: DuckDB adds up to 4096
# bytes of the empty lines before a line to its length, and does not limit the last line of a file.
_LINES = """read_csv({paths}, columns = {{'line': 'VARCHAR'}}, auto_detect = false,
    header = {header}, delim = '\n', new_line = '\\n', quote = '', escape = '', comment = '',
    nullstr = '', encoding = 'utf-8', compression = '{compression}', ignore_errors = true,
    strict_mode = false, parallel = false, max_line_size = 2100000, hive_partitioning = false)"""
# Fields, from the simplest to all that the grammar has, for a comma. In the first two a comma
# separates fields everywhere, or everywhere outside of quotes. A quoted field is written as runs in
# quotes, "a" and "b" for "a""b": so each character decides how to go on, and RE2 matches in one
# pass.
_SIMPLE = '(?:"[^",]*"|[^",][^,]*|)'
_PLAIN = '(?:(?:"[^"]*")+|[^",]+|)'
_FIELD = '(?:(?:"[^"]*")+|[^",][^,]*|)'
# Every second piece between quotes is inside of them. A line has no line break, so a comma inside
# can be written as one until the fields are apart.
_PIECES = """array_to_string(list_transform(string_split(line, '"'),
    lambda piece, place: CASE WHEN place % 2 = 0 THEN replace(piece, ',', '\n') ELSE piece END
), '"')"""
# NULL if the line is empty, too long or unreadable. Most files need the first three cases alone.
_SPLIT = f"""CASE
    WHEN line = '' OR strlen(line) > {_LONGEST_LINE} THEN NULL
    WHEN NOT contains(line, '"') THEN string_split(line, ',')
    WHEN regexp_full_match(line, '{_SIMPLE}(?:[,]{_SIMPLE})*') THEN string_split(line, ',')
    WHEN regexp_full_match(line, '{_PLAIN}(?:[,]{_PLAIN})*') THEN string_split({_PIECES}, ',')
    WHEN regexp_full_match(line, '{_FIELD}(?:[,]{_FIELD})*')
        THEN regexp_extract_all(',' || line, '[,]({_FIELD})', 1)
END"""
# More than there are lines. Without it DuckDB would split each line again for every condition.
_ALL = 1 << 62


# The delimiters besides a comma, as the command line writes them.
_OTHER_DELIMITERS = {";": "';'", "\t": "tab", "|": "'|'"}


@dataclass(frozen=True)
class Dialect:
    """How the lines of a CSV file are written, which the caller states and nothing guesses.

    Attributes:
        delimiter: The character between fields: one of DELIMITERS.
        compressed: Whether the files are compressed by gzip.
    """

    delimiter: str = ","
    compressed: bool = False


DELIMITERS = (",", ";", "\t", "|")


def read_lines(files: list[str], *, compressed: bool, header: bool) -> str:
    """Return the relation of the lines in files, as a column ``line``; those not UTF-8 are omitted.

    Args:
        files: The paths, as patterns of DuckDB.
        compressed: Whether they are compressed by gzip.
        header: Whether the first line of each is omitted.
    """
    return _LINES.format(
        paths="[" + ", ".join(map(_quote_text, files)) + "]",
        compression="gzip" if compressed else "none",
        header="true" if header else "false",
    )


def view_of_lines(files: list[str], names: list[str], view: str, dialect: Dialect) -> str:
    """Return the statement that creates a view of the records in files, every column as strings.

    A line with fewer fields than names is omitted, fields without a name are ignored, and an empty
    field is NULL.
    """
    lines = read_lines(files, compressed=dialect.compressed, header=True)
    delimiter = dialect.delimiter
    columns = ", ".join(
        f"{_field(place, delimiter)} AS {_quote(name)}" for place, name in enumerate(names, 1)
    )
    split = _SPLIT if delimiter == "," else _split_by(delimiter)
    return f"""
        CREATE VIEW {_quote(view)} AS SELECT {columns}
        FROM (SELECT {split} AS fields FROM {lines} LIMIT {_ALL})
        WHERE len(fields) >= {len(names)}
    """  # noqa: S608 -- paths and names are quoted


def view_of_objects(files: list[str], names: list[str], view: str, *, compressed: bool) -> str:
    """Return the statement that creates a view of JSON lines: one object per line, as strings.

    A line that is no JSON object is omitted. A name that the object lacks is NULL, and so is null.
    Of a name that it has twice, the first counts. Numbers and nested values are strings as written.
    """
    lines = read_lines(files, compressed=compressed, header=False)
    pointers = ("/" + name.replace("~", "~0").replace("/", "~1") for name in names)
    columns = ", ".join(
        f"json_extract_string(object, {_quote_text(pointer)}) AS {_quote(name)}"
        for pointer, name in zip(pointers, names, strict=True)
    )
    known = f"strlen(line) <= {_LONGEST_LINE} AND json_valid(line)"
    return f"""
        CREATE VIEW {_quote(view)} AS SELECT {columns}
        FROM (SELECT CASE WHEN {known} THEN line END AS object FROM {lines} LIMIT {_ALL})
        WHERE json_type(object) = 'OBJECT'
    """  # noqa: S608 -- paths and names are quoted


def view_of_parquet(
    files: list[str], names: Sequence[str], unread: frozenset[str], view: str, *, partitioned: bool
) -> str:
    """Return the statement that creates a view of Parquet files, some columns of kind "other".

    DuckDB may convert the statistics of all columns that a view names, for whatever query.
    """
    columns = ", ".join(
        f"NULL::BLOB AS {_quote(name)}" if name in unread else _quote(name) for name in names
    )
    paths = "[" + ", ".join(map(_quote_text, files)) + "]"
    return f"""
        CREATE OR REPLACE TEMP VIEW {_quote(view)} AS SELECT {columns}
        FROM read_parquet({paths}, union_by_name = false,
            hive_partitioning = {str(partitioned).lower()}, hive_types_autocast = false)
    """  # noqa: S608 -- paths and names are quoted


def _split_by(delimiter: str) -> str:
    """Return _SPLIT for another delimiter; between brackets, none of them is special."""
    return (
        _SPLIT.replace('[^",]', f'[^"{delimiter}]')
        .replace("[^,]", f"[^{delimiter}]")
        .replace("[,]", f"[{delimiter}]")
        .replace("','", f"'{delimiter}'")
    )


def _field(place: int, delimiter: str) -> str:
    """Return the expression for a field, without its quotes; NULL if it is empty."""
    field = f"fields[{place}]"
    inner = f"substring({field}, 2, length({field}) - 2)"
    inner = f"""replace(replace({inner}, '""', '"'), '\n', '{delimiter}')"""
    # Only a quoted field begins with a quote.
    return f"nullif(CASE WHEN starts_with({field}, '\"') THEN {inner} ELSE {field} END, '')"


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _quote_text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


# ---------------------------------------------------------------- the line of names


def read_names(file: str, dialect: Dialect) -> list[str]:
    """Return the names in the first line of a CSV file, of which nothing else is looked at."""
    with gzip.open(file) if dialect.compressed else open(file, "rb") as content:
        first = re.split(rb"[\r\n]", content.read(_LONGEST), maxsplit=1)[0]
    if len(first) == _LONGEST:
        return []
    lines = csv.reader([first.decode("utf-8-sig")], strict=True, delimiter=dialect.delimiter)
    return next(lines, [])


def check_names(names: list[str], of: str = "The first line of a CSV file") -> list[str]:
    """Return names that identify columns; reject others."""
    if not names:
        raise InvalidParameter(
            "The CSV file is empty, or its first line is empty or too long",
            fix="Write the names of the columns into the first line.",
        )
    if any(ord(character) < 32 and character != "\t" for name in names for character in name):
        raise InvalidParameter(
            "The first line of the CSV file has control characters, so it is not a CSV file",
            fix="Check its contents.",
        )
    if not all(names) or len({name.lower() for name in names}) < len(names):
        raise InvalidParameter(
            f"{of} must name its columns, with names that differ in more than case",
            got="a column without a name, or equal names",
            fix="Add a first line, or rename columns.",
        )
    return names


def advise_column(name: str, columns: Collection[str]) -> Text:
    """Return the advice for a name that no column has: a delimiter, or the nearest name."""
    only = next(iter(columns)) if len(columns) == 1 else ""
    for sign, command in _OTHER_DELIMITERS.items():
        if sign in only:
            option = Words(f"delimiter={sign!r}", f"--delimiter {command}")
            return f"Its only column has {sign!r} in its name. If that separates columns, pass " + (
                option + "."
            )
    near = find_nearest(name, columns)
    return f"Did you mean {near!r}?" if near else "Check the names of its columns."
