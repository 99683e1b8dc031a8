"""Checks of Ibis tables: each row must depend on one row of a table, and no row may fail.

A query that fails for one value reveals that a person has it. Engines fail mostly where they cast
one operand to the type of another: a string that is no number beside an integer, a HUGEINT beside a
decimal, a date of the year 5,000,000 beside a timestamp. So the operations in ``_OPERANDS`` are
accepted for operands of one type, and for literals that this type represents exactly. Then an
engine casts nothing, or the literal alone, or an integer to a wider one.
"""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import date, datetime
from decimal import Decimal
from math import isfinite
from typing import TYPE_CHECKING, Any

from leastnoise.errors import Unsupported
from leastnoise.tables.sources.connections import check_collation, engine_of
from leastnoise.tables.sources.engine import without_details

if TYPE_CHECKING:
    import ibis.expr.types as ir

# The text in answers for an Ibis table with a filter.
FILTERED = "rows that the filter of the Ibis table removes"
_EXACT = 1 << 53  # up to this every integer is a double
_LONG = 1 << 63
_LEAST_SINGLE, _MOST_SINGLE = 1e-37, 3e38  # within the range of 32 bits
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def check_rowwise(source: Any) -> tuple["ir.Table", str]:
    """Return an Ibis table whose rows are those of one database table, and that table's name.

    Rows may have been left out, and columns computed from their own row by operations that fail for
    no value. A join, a limit or a window would let one person's rows change those of others, which
    no sensitivity here covers.
    """
    import ibis.expr.operations as ops

    node = source.op()
    tables = node.find(ops.PhysicalTable)
    relations = node.find(ops.Relation)
    rowwise = (ops.DatabaseTable, ops.Project, ops.Filter)
    if any(isinstance(table, ops.InMemoryTable) for table in tables):
        # Ibis prints its records wherever it prints a query.
        raise Unsupported(
            "An Ibis table must be of a database",
            got="one in memory",
            fix="Protect the object it was made from, or store it as a table.",
        )
    values = node.find(ops.Value)
    if (
        len(tables) != 1
        or not all(isinstance(relation, rowwise) for relation in relations)
        or not all(type(value).__name__ in _ACCEPTED for value in values)
    ):
        raise Unsupported(
            "An Ibis table must compute each row from one row of a database table",
            got="operations in which rows could affect each other, or fail",
            fix="If each row still belongs to one person, save the result as a table.",
        )
    backend, engine = source.get_backend(), engine_of(source)
    check_collation(tables[0], backend, engine)
    if any(type(value).__name__ not in _ANY for value in values):
        odd = _odd_columns(tables[0], backend, engine)
        for value in values:
            _check_types(value, engine, odd)
    return source, tables[0].name


def find_non_numbers(table: "ir.Table", engine: str) -> frozenset[str]:
    """Return the columns that Ibis wrongly reports as numbers: PostgreSQL's oid and money."""
    import ibis.expr.operations as ops

    if engine != "postgres":
        return frozenset()
    (origin,) = table.op().find(ops.PhysicalTable)
    odd = _odd_columns(origin, table.get_backend(), engine)
    columns = {name: _column(table[name].op()) for name in table.columns}
    kinds = {name: table[name].type() for name in columns}
    return frozenset(
        name
        for name in columns
        if columns[name] in odd and (kinds[name].is_numeric() or kinds[name].is_timestamp())
    )


def find_zoned(table: "ir.Table", engine: str) -> frozenset[str]:
    """Return the columns of timestamps with a time zone, which Ibis does not report for Spark.

    For Spark these are also computed columns of which it is not known.
    """
    times = {name: kind for name, kind in table.schema().items() if kind.is_timestamp()}
    if engine != "pyspark" or not times:
        return frozenset(name for name, kind in times.items() if kind.timezone is not None)
    import ibis.expr.operations as ops

    (origin,) = table.op().find(ops.PhysicalTable)
    places = (origin.namespace.catalog, origin.namespace.database, origin.name)
    name = ".".join(f"`{part.replace('`', '``')}`" for part in places if part)
    fields = table.get_backend()._session.table(name).schema.fields
    naive = {each.name for each in fields if each.dataType.typeName() == "timestamp_ntz"}
    return frozenset(name for name in times if _column(table[name].op()) not in naive)


def _check_types(value: Any, engine: str, odd: frozenset[str]) -> None:
    """Reject an operation on types for which an engine could fail."""
    name = type(value).__name__
    operands = [part for group in _OPERANDS[name](value) for part in group]
    if any(_column(part) in odd for part in operands):
        fits = False
    elif name in _UNARY:
        fits = all(_UNARY[name](part.dtype, engine) for part in operands)
        fits = fits and (name != "Cast" or (value.to.is_string() and value.to.length is None))
    else:
        fits = all(_agree(group, engine) for group in _OPERANDS[name](value))
    if not fits:
        types = " and ".join(dict.fromkeys(str(part.dtype) for part in operands)) or "this type"
        raise Unsupported(
            "Operations of an Ibis table must be on columns of one type and values exact in that "
            "type",
            got=f"{name} on {types}, which can fail for some rows",
            fix="Store the computed column in a table, and protect that table.",
        )


def _column(value: Any) -> str | None:
    """Return the column's original name, or None if a value is no database column."""
    import ibis.expr.operations as ops

    while isinstance(value, ops.Field):
        if isinstance(value.rel, ops.DatabaseTable):
            return str(value.name)
        value = value.rel.values[value.name]
    return None


# ---------------------------------------------------------------- operands of one type


def _agree(operands: Sequence[Any], engine: str) -> bool:
    """Return whether operands are of one type, or literals that it represents exactly."""
    import ibis.expr.operations as ops

    known = [part for part in operands if not part.dtype.is_null()]
    literals = [part for part in known if isinstance(part, ops.Literal) and part.value is not None]
    others = [part for part in known if not isinstance(part, ops.Literal)]
    if not others:
        kinds = {_kind(part.dtype) for part in literals}
        return len(kinds) <= 1 and None not in kinds
    kind = others[0].dtype
    return all(_same(part.dtype, kind, engine) for part in others) and all(
        _fits(part, kind, engine) for part in literals
    )


def _same(first: Any, second: Any, engine: str) -> bool:
    """Return whether an engine compares two types without a cast that could fail."""
    if first.is_string() and second.is_string():
        return True
    if first.copy(nullable=True) != second.copy(nullable=True):
        return False
    if first.is_decimal():
        return not _hugeint(first, engine)
    return _kind(first) is not None or first.is_timestamp()


def _fits(literal: Any, kind: Any, engine: str) -> bool:
    """Return whether a type represents a literal exactly, such that the literal alone is cast."""
    value, written = literal.value, literal.dtype
    if kind.is_integer():
        return bool(written.is_integer() and kind.bounds.lower <= value <= kind.bounds.upper)
    if kind.is_floating():
        return _fits_float(literal, kind)
    if kind.is_decimal():
        return _fits_decimal(literal, kind, engine)
    if kind.is_string() or kind.is_boolean():
        return _kind(written) == _kind(kind)
    if kind.is_date():
        return bool(written.is_date() or (written.is_string() and _is_day(value)))
    if kind.is_timestamp() and kind.timezone is None and (engine != "duckdb" or kind.scale == 6):
        naive = written.is_timestamp() and written.timezone is None
        return bool(naive or (written.is_string() and _is_time(value)))
    return False


def _fits_float(literal: Any, kind: Any) -> bool:
    """Return whether a literal is in the range of a type of floats, or is infinite or NaN."""
    value, written = literal.value, literal.dtype
    if written.is_integer():
        return bool(abs(value) <= _EXACT)
    if not written.is_floating():
        return False
    in_range = kind.nbytes == 8 or value == 0 or _LEAST_SINGLE <= abs(value) <= _MOST_SINGLE
    return bool(in_range or not isfinite(value))


def _fits_decimal(literal: Any, kind: Any, engine: str) -> bool:
    """Return whether a literal has no more digits than a type of decimals, on either side.

    Else DuckDB casts the column to a type with more digits after the point, and fewer before, and
    PostgreSQL returns cases with more digits than Ibis says.
    """
    value, written = literal.value, literal.dtype
    if written.is_floating() and not isfinite(value):  # a float to which the column would be cast
        return False
    if kind.precision is None:  # PostgreSQL's, which has all others
        return bool(written.is_integer() or written.is_decimal() or written.is_floating())
    if _hugeint(kind, engine):
        return bool(written.is_integer() and -_LONG <= value < _LONG)
    if written.is_decimal():
        return bool(written.copy(nullable=True) == kind.copy(nullable=True))
    if not (written.is_integer() or written.is_floating()):
        return False
    number = Decimal(repr(value))
    exponent = number.as_tuple().exponent
    return bool(
        -int(exponent) <= kind.scale and abs(number) < Decimal(10) ** (kind.precision - kind.scale)
    )


def _hugeint(kind: Any, engine: str) -> bool:
    """Return whether it may be DuckDB's HUGEINT, which Ibis takes for this type of decimals."""
    return bool(engine == "duckdb" and (kind.precision, kind.scale) == (38, 0))


def _is_day(text: str) -> bool:
    with suppress(ValueError):
        return bool(_DAY.fullmatch(text) and date.fromisoformat(text))
    return False


def _is_time(text: str) -> bool:
    with suppress(ValueError):
        return datetime.fromisoformat(text).tzinfo is None
    return False


def _kind(dtype: Any) -> str | None:
    kinds = ("integer", "floating", "decimal", "string", "boolean", "date")
    return next((kind for kind in kinds if getattr(dtype, f"is_{kind}")()), None) or (
        "timestamp" if dtype.is_timestamp() and dtype.timezone is None else None
    )


def _is_scalar(dtype: Any, engine: str) -> bool:  # noqa: ARG001 -- as the others
    return dtype.is_null() or _kind(dtype) is not None


def _has_parts(dtype: Any, engine: str) -> bool:
    """Return whether the year of every value is an integer.

    PostgreSQL's of infinity is not. DuckDB converts times of other units to microseconds first,
    which fails for those beyond.
    """
    if dtype.is_timestamp() and engine == "duckdb" and dtype.scale != 6:
        return False
    return engine != "postgres" and _kind(dtype) in ("date", "timestamp")


def _has_text(dtype: Any, engine: str) -> bool:
    """Return whether every value has a text; the first and last times of DuckDB have none."""
    return _is_scalar(dtype, engine) and not (dtype.is_timestamp() and engine == "duckdb")


def _is_string(dtype: Any, engine: str) -> bool:  # noqa: ARG001 -- as the others
    return bool(dtype.is_string())


def _is_floating(dtype: Any, engine: str) -> bool:  # noqa: ARG001 -- as the others
    return bool(dtype.is_floating())


# The operands of each accepted operation, in groups that must be of one type.
_OPERANDS: dict[str, Callable[[Any], list[Sequence[Any]]]] = {
    **dict.fromkeys(("Field", "IsNull", "NotNull", "And", "Or", "Not"), lambda _: []),
    **dict.fromkeys(
        ("Equals", "NotEquals", "Less", "LessEqual", "Greater", "GreaterEqual"),
        lambda value: [(value.left, value.right)],
    ),
    "Between": lambda value: [(value.arg, value.lower_bound, value.upper_bound)],
    "InValues": lambda value: [(value.value, *value.options)],
    "Coalesce": lambda value: [value.arg],
    "IfElse": lambda value: [(value.true_expr, value.false_null_expr)],
    "SearchedCase": lambda value: [(*value.results, value.default)],
    "SimpleCase": lambda value: [(value.base, *value.cases), (*value.results, value.default)],
    "Literal": lambda value: [(value,)],
    **dict.fromkeys(
        ("Cast", "IsNan", "Lowercase", "Uppercase", "StringLength", "ExtractYear", "ExtractMonth",
         "ExtractDay"),
        lambda value: [(value.arg,)],
    ),
    "StringConcat": lambda value: [value.arg],
    "StringContains": lambda value: [(value.haystack, value.needle)],
    "StartsWith": lambda value: [(value.arg, value.start)],
    "EndsWith": lambda value: [(value.arg, value.end)],
}  # fmt: skip
# Operations that declare their types.
_UNARY: dict[str, Callable[[Any, str], bool]] = {
    "Cast": _has_text,
    "Literal": _is_scalar,
    **dict.fromkeys(("ExtractYear", "ExtractMonth", "ExtractDay"), _has_parts),
    "IsNan": _is_floating,
    **dict.fromkeys(
        ("Lowercase", "Uppercase", "StringLength", "StringConcat", "StringContains", "StartsWith",
         "EndsWith"),
        _is_string,
    ),
}  # fmt: skip
_ACCEPTED = frozenset(_OPERANDS)
_ANY = frozenset(("Field", "IsNull", "NotNull"))  # of any type
# Types of PostgreSQL that Ibis takes for integers, decimals and strings.
_ODD = """
SELECT attname FROM pg_catalog.pg_attribute JOIN pg_catalog.pg_type ON pg_type.oid = atttypid
WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped AND NOT (
    typnamespace = 'pg_catalog'::regnamespace AND typname IN ('int2', 'int4', 'int8', 'float4',
    'float8', 'numeric', 'text', 'varchar', 'bpchar', 'bool', 'date', 'timestamp'))
"""


def _odd_columns(table: Any, backend: Any, engine: str) -> frozenset[str]:
    """Return the columns of a database table whose type Ibis reports wrongly."""
    if engine != "postgres":
        return frozenset()
    places = [part for part in (table.namespace.database, table.name) if part]
    name = ".".join('"' + part.replace('"', '""') + '"' for part in places)

    def find_odd() -> frozenset[str]:
        with backend.con.transaction(), backend.con.cursor() as cursor:
            return frozenset(column for (column,) in cursor.execute(_ODD, (name,)).fetchall())

    columns = without_details(find_odd)
    if columns is None:
        raise Unsupported(
            "The catalog lookup of the column types of this Ibis table failed",
            fix="Store the computed columns in a table, and protect that table.",
        )
    return columns
