"""Parse a card: reject unknown fields, and values that contradict one another."""

import os
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any
from urllib.parse import parse_qs, urlsplit

from leastnoise.core.exact import parse_count, parse_positive, parse_rational, quote
from leastnoise.core.privacy import Privacy
from leastnoise.errors import InvalidParameter
from leastnoise.ledger import check_name
from leastnoise.tables.bounding import ADD_REMOVE, REPLACE, parse_bounds
from leastnoise.tables.card.card import (
    Card,
    ColumnRules,
    ContributionLimit,
    FromEnvironment,
    LargestRelease,
    LedgerRules,
    Lookup,
)
from leastnoise.tables.card.document import Fields, read_document, reject
from leastnoise.tables.keys import Part, parse_keys
from leastnoise.tables.queries.histogram import parse_edges

# The fields of a card, and of each table in it.
FIELDS = (
    *(
        "source",
        "table",
        "delimiter",
        "encoding",
        "decimal",
        "name",
        "version",
        "unit",
        "row_is_unit",
    ),
    *("neighbors", "max_rows", "max_groups"),
    *("largest", "columns", "lookups", "ledger", "analysts"),
)
COLUMN = ("type", "bounds", "edges", "groups", "allowed")
LEDGER = ("path", "dataset", "epsilon", "delta", "accounting", "allocation", "witness")
LARGEST = ("epsilon", "delta", "share")
LOOKUP = ("source", "key", "columns")
LIMIT = ("default", "largest")
ANALYST = ("epsilon", "delta")

_NUMBERS = ("integer", "real", "decimal")
TYPES = (*_NUMBERS, "text", "boolean", "date", "timestamp")
# The type in Python of the groups of a column of each kind.
_GROUP_TYPES = {"integer": int, "real": int, "text": str, "boolean": bool}
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ADDRESSES = ("postgresql://", "postgres://")


def read_card(path: str | os.PathLike[str]) -> Card:
    """Return the card in a file. Neither the data nor the environment is read.

    Raises:
        InvalidParameter: If the file cannot be read, is not TOML, or states what no table can have.
            The error names the line.
    """
    fields = Fields(read_document(path))
    fields.check_names(FIELDS)
    unit = _parse_unit(fields)
    source = _parse_source(fields)
    table = fields.text("table", '"public.people"')
    address = isinstance(source, FromEnvironment) or source.startswith(_ADDRESSES)
    if address and table is None:
        raise fields.error("table must be given with a database", "source")
    if table is not None and not address:
        raise fields.error("table is for a database", "table", fix="Remove it.")
    if unit is None and "max_groups" in fields:
        raise fields.error("max_groups needs unit", "max_groups", fix="Remove it.")
    ledger = _parse_ledger(fields)
    neighbors = _choose(fields, "neighbors", (ADD_REMOVE, REPLACE)) or ADD_REMOVE
    return Card(
        document=fields.document,
        source=source,
        table=table,
        delimiter=fields.text("delimiter", '";"'),
        encoding=fields.text("encoding", '"cp1252"'),
        decimal=fields.text("decimal", '","'),
        name=_parse_name(fields, "name", '"people"'),
        version=_parse_name(fields, "version", '"2026-11"'),
        unit=unit,
        neighbors=neighbors,
        max_rows=_parse_max_rows(fields, unit),
        max_groups=_parse_contribution(fields, "max_groups"),
        columns=_parse_tables(fields, "columns", _parse_column),
        lookups=_parse_tables(fields, "lookups", _parse_lookup),
        ledger=ledger,
        largest=_parse_largest(fields),
        analysts=_parse_analysts(fields, ledger),
    )


def _parse_unit(fields: Fields) -> str | None:
    unit, row_is_unit = fields.text("unit", '"person_id"'), fields.flag("row_is_unit")
    if unit is not None and row_is_unit:
        raise fields.error("unit and row_is_unit exclude each other", "row_is_unit")
    if unit is None and not row_is_unit:
        raise fields.error(
            "unit must be given, the column that identifies a person",
            "row_is_unit",
            fix='Write unit = "person_id", or row_is_unit = true if every row is a person.',
        )
    return unit


def _parse_max_rows(fields: Fields, unit: str | None) -> ContributionLimit:
    limit = _parse_contribution(fields, "max_rows")
    if unit is None:
        if limit is not None and limit.largest != 1:
            raise fields.error("max_rows must be 1 if every row is a unit", "max_rows")
        return ContributionLimit(1, 1)
    if limit is None:
        raise fields.error(
            "max_rows must be given with unit, the maximum rows per unit per group",
            "unit",
            fix="Write max_rows = 1 if everybody has one row.",
        )
    return limit


def _parse_contribution(fields: Fields, name: str) -> ContributionLimit | None:
    """Return a contribution bound: one number, or its default and its maximum."""
    if name not in fields:
        return None
    fix = f"Write {name} = 1, or {name} = {{default = 1, largest = 4}}."

    def parse(value: Any) -> ContributionLimit:
        if not isinstance(value, dict):
            number = parse_count(value, name, least=1)
            return ContributionLimit(number, number)
        own = fields.table(name)
        own.check_names(LIMIT)
        largest = own.read("largest", lambda number: parse_count(number, "largest", least=1), fix)
        default = own.read("default", lambda number: parse_count(number, "default", least=1), fix)
        if default is None or largest is None or default > largest:
            raise reject(f"{name} must have a default that is at most the largest")
        return ContributionLimit(default, largest)

    return fields.read(name, parse, fix)


def _parse_source(fields: Fields) -> str | FromEnvironment:
    source = _parse_place(fields, "source", '"people.csv"')
    if source is None:
        raise fields.error("source must be given", fix='Write source = "people.csv".')
    return source


def _parse_place(fields: Fields, name: str, example: str) -> str | FromEnvironment | None:
    """Return a path or an address, which must not contain a password, or a variable."""

    def parse(value: Any) -> str | FromEnvironment:
        if isinstance(value, dict) and value.keys() == {"env"}:
            variable = value["env"]
            if isinstance(variable, str) and _VARIABLE.fullmatch(variable):
                return FromEnvironment(variable)
            raise reject("env must name an environment variable", quote(variable))
        if not isinstance(value, str) or not value or not value.isprintable():
            raise reject(f"{name} must be a path, an address or {{env = …}}")
        if value.startswith(_ADDRESSES) and _has_password(value):
            raise reject(f"{name} must not contain a password, because a card is public")
        return value

    fix = f'Write {name} = {example}, or {name} = {{env = "PEOPLE_DATABASE"}}.'
    return fields.read(name, parse, fix)


def _has_password(address: str) -> bool:
    try:
        parts = urlsplit(address)
        return parts.password is not None or "password" in parse_qs(parts.query)
    except ValueError:  # such an address cannot be told from one with a password
        return True


def _parse_name(fields: Fields, name: str, example: str) -> str | None:
    return fields.read(name, lambda value: check_name(value, name), f"Write {name} = {example}.")


def _choose(fields: Fields, name: str, values: tuple[str, ...]) -> str | None:
    def parse(value: Any) -> str:
        if isinstance(value, str) and value in values:
            return value
        raise reject(f"{name} must be one of {', '.join(values)}", quote(value))

    return fields.read(name, parse, f'Write {name} = "{values[0]}".')


def _parse_tables(
    fields: Fields, name: str, parse: Callable[[Fields, str], Any]
) -> Mapping[str, Any]:
    """Return the tables in a table, each parsed, by their names."""
    tables = fields.table(name)
    return {each: parse(tables.table(each), each) for each in tables.names}


def _parse_column(fields: Fields, _: str) -> ColumnRules:
    fields.check_names(COLUMN)
    type_ = _choose(fields, "type", TYPES)
    bounds = fields.read("bounds", parse_bounds, "Write bounds = [0, 150_000].")
    edges = fields.read("edges", parse_edges, "Write edges = [0, 18, 65, 120].")
    fix = 'Write groups = ["north", "south"], of the type of the column.'
    groups = fields.read("groups", lambda value: _parse_groups(value, type_), fix)
    if type_ is not None:
        if bounds is not None and type_ not in (*_NUMBERS, "boolean"):
            raise fields.error(f"A column of type {type_} has no bounds", "bounds")
        if edges is not None and type_ not in _NUMBERS:
            raise fields.error(f"A column of type {type_} has no edges", "edges")
    allowed = fields.flag("allowed")
    return ColumnRules(type_, bounds, edges, groups, allowed is not False)


def _parse_groups(value: Any, type_: str | None) -> tuple[Part, ...]:
    if isinstance(value, list) and any(isinstance(part, list | dict) for part in value):
        raise reject("groups must be values", "a list in the list")
    groups = tuple(part for (part,) in parse_keys(value, 1))
    expected = _GROUP_TYPES.get(type_ or "")
    if expected is not None and type(groups[0]) is not expected:
        got = f"a group of type {type(groups[0]).__name__}"
        raise reject(f"groups of a column of type {type_} must be of that type", got)
    return groups


def _parse_lookup(fields: Fields, name: str) -> Lookup:
    fields.check_names(LOOKUP)
    source, key = fields.text("source", '"regions.csv"'), fields.text("key", '"region_id"')
    columns = fields.read("columns", _parse_list, 'Write columns = ["region"].')
    if source is None or key is None or columns is None:
        raise fields.error(
            f"The lookup {quote(name)} must have a source, a key and columns",
            fix='Write source = "regions.csv", key = "region_id", columns = ["region"].',
        )
    return Lookup(source, key, columns)


def _parse_list(value: Any) -> tuple[str, ...]:
    named = isinstance(value, list) and all(isinstance(name, str) and name for name in value)
    if named and value and len(set(value)) == len(value):
        return tuple(value)
    raise reject("columns must be a list of different names", quote(value))


def _parse_privacy(fields: Fields) -> Privacy | None:
    """Return the guarantee of the fields epsilon and delta; None without both."""
    given: dict[str, Any] = {}
    for name in ("epsilon", "delta"):
        number = fields.read(name, _parse_amount, "Write epsilon = 1.")
        given |= {} if number is None else {name: number}
    if not given:
        return None
    try:
        privacy = Privacy(**given)
    except InvalidParameter as error:
        raise fields.error(error.problem, "delta", got=error.got) from None
    if not (privacy.epsilon or privacy.delta):
        raise fields.error("A limit must be positive", "epsilon")
    return privacy


def _parse_amount(value: Any) -> Fraction:
    number = parse_rational(_exact(value), "A limit")
    if number < 0:
        raise reject("A limit must not be negative", quote(value))
    return number


def _exact(value: Any) -> Any:
    """Return a number of a card, or a ratio in a string."""
    return value if isinstance(value, int | Decimal | str) else quote(value)


def _parse_ledger(fields: Fields) -> LedgerRules | None:
    if "ledger" not in fields:
        return None
    own = fields.table("ledger")
    own.check_names(LEDGER)
    where = _parse_place(own, "path", '"people.ledger"')
    if where is None:
        raise own.error("path must be given", fix='Write path = "people.ledger".')
    accounting = _choose(own, "accounting", ("basic", "gaussian"))
    allocation = _parse_name(own, "allocation", '"reports"')
    if accounting == "gaussian" and allocation is not None:
        raise own.error("allocation is for accounting basic", "allocation", fix="Remove one.")
    limit = _parse_privacy(own)
    if accounting == "gaussian" and limit is not None and not limit.delta:
        raise own.error("Gaussian accounting needs delta > 0", "accounting")
    return LedgerRules(
        where=where,
        dataset=_parse_name(own, "dataset", '"people"'),
        limit=limit,
        accounting=accounting,
        allocation=allocation,
        witness=own.text("witness", '"people.witness"'),
    )


def _parse_largest(fields: Fields) -> LargestRelease:
    own = fields.table("largest")
    own.check_names(LARGEST)
    share = own.read("share", _parse_positive, 'Write share = "1/50".')
    if share is not None and share > 1:
        raise own.error("share must be at most 1", "share")
    return LargestRelease(
        epsilon=own.read("epsilon", _parse_positive, 'Write epsilon = "1/10".'),
        delta=own.read("delta", _parse_amount, "Write delta = 1e-7."),
        share=share,
    )


def _parse_positive(value: Any) -> Fraction:
    return parse_positive(_exact(value), "It")


def _parse_analysts(fields: Fields, ledger: LedgerRules | None) -> Mapping[str, Privacy | None]:
    squared = ledger is not None and (
        ledger.accounting == "gaussian" or ledger.allocation is not None
    )

    def parse(own: Fields, name: str) -> Privacy | None:
        own.check_names(ANALYST)
        try:
            check_name(name, "An analyst")
        except InvalidParameter as error:
            raise own.error(error.problem, got=error.got) from None
        limit = _parse_privacy(own)
        if limit is not None and squared:
            raise own.error(
                "A limit of an analyst needs basic accounting and no allocation",
                fix='Remove the limit, or write accounting = "basic" and no allocation.',
            )
        return limit

    return _parse_tables(fields, "analysts", parse)
