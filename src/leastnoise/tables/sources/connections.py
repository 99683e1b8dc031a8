"""Engines: a DuckDB in memory, a PostgreSQL by its address, and the one behind an Ibis table.

A connection string can hold a password, and an engine's error can quote it or the data. Neither is
ever in an error of ours, nor attached to one.
"""

import shutil
import sys
import tempfile
import weakref
from typing import TYPE_CHECKING, Any

from leastnoise.core.exact import quote
from leastnoise.errors import InvalidParameter, Unsupported, Words
from leastnoise.tables.sources.engine import without_details

if TYPE_CHECKING:
    import ibis.expr.types as ir

ADDRESS = ("postgresql://", "postgres://")
ENGINES = {"duckdb": "DuckDB", "postgres": "PostgreSQL", "pyspark": "Spark"}
_OURS: dict[str, Any] = {
    "autocommit": True,
    "application_name": "leastnoise",
    "client_encoding": "utf8",
}
_SOURCES = (
    "a table must be the path of a CSV or Parquet file, a pandas or polars frame, an Arrow table, "
    "an Ibis table or a connection string 'postgresql://…'"
)


def library() -> Any:
    """Return Ibis, loaded on first use."""
    try:
        import ibis
    except ImportError as error:
        raise Unsupported(
            "tables are asked by Ibis, which is not installed. Install it with the extra: "
            "pip install 'leastnoise[tables]'."
        ) from error
    return ibis


def in_memory() -> Any:
    """Connect to a DuckDB of our own, which fetches nothing from a network.

    Data that does not fit into memory goes to a folder that only this user can read. It is deleted
    with the connection.
    """
    ibis = library()
    folder = tempfile.mkdtemp(prefix="leastnoise-")
    backend = ibis.duckdb.connect(
        ":memory:",
        autoinstall_known_extensions=False,
        autoload_known_extensions=False,
        temp_directory=folder,
    )
    weakref.finalize(backend, shutil.rmtree, folder, ignore_errors=True)
    backend.settings["enable_progress_bar"] = False
    return backend


def connect(address: str, table: str | None) -> tuple["ir.Table", str]:
    """Connect to a PostgreSQL database; return one of its tables, and the table's name."""
    if not isinstance(table, str) or not table:
        raise InvalidParameter(
            "a connection string leads to a database; which of its tables is meant must be said by "
            + Words("table=", "--table"),
            got=Words("None", "none") if table is None else quote(table),
            fix="Give for instance " + Words("table='people'", "--table people") + ".",
        )
    backend = _postgres(address)
    schema, _, name = table.rpartition(".")
    found = without_details(lambda: backend.table(name, database=schema or None))
    if found is None:
        backend.disconnect()
        raise InvalidParameter(
            f"a table must be in the database, and open to its user; got {table!r}, which is not. "
            "Give its name as the database writes it, with its schema's before a dot if need be."
        )
    check_collation(found.op(), backend, "postgres")
    return found, table


def _postgres(address: str) -> Any:
    """Connect by a connection string, which no error quotes."""
    ibis = library()
    try:
        import psycopg
    except ImportError:
        raise Unsupported(
            "tables in PostgreSQL are read by psycopg, which is not installed. Install it with "
            "the extra: pip install 'leastnoise[postgres]'."
        ) from None
    connection: Any = without_details(lambda: psycopg.connect(address, **_OURS))
    backend = connection and without_details(lambda: ibis.postgres.from_connection(connection))
    if backend is None:
        raise InvalidParameter(
            "a connection string must lead to a PostgreSQL server that answers and lets its user "
            "in; this one did not. Try it with psql; signs such as @ and % in a password are "
            "written as %40 and %25."
        )
    weakref.finalize(backend, connection.close)
    return backend


def engine_of(source: object) -> str:
    """Return the engine of an Ibis table; reject other objects, and other engines."""
    ibis = sys.modules.get("ibis")
    if ibis is None or not isinstance(source, ibis.expr.types.Table):
        raise InvalidParameter(f"{_SOURCES}; got an object of type {type(source).__name__}.")
    engine = without_details(lambda: source.get_backend().name)  # several engines, or none, fail
    if engine not in ENGINES:
        got = "one of none, or of several" if engine is None else f"one of {engine}"
        raise Unsupported(
            f"an Ibis table must be of one of {', '.join(ENGINES.values())}, with which this "
            f"version is tested; got {got}. Copy it to one of them, or to a Parquet file."
        )
    return str(engine)


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
            "an Ibis table must be of a database; got one in memory. Give what it was made from, "
            "or store it as a table."
        )
    if (
        len(tables) != 1
        or not all(isinstance(relation, rowwise) for relation in relations)
        or not all(_harmless(value) for value in node.find(ops.Value))
    ):
        raise Unsupported(
            "an Ibis table must be a table of its database, of which rows may have been left out "
            "by comparisons, and columns named anew or put together; got one made otherwise, where "
            "one person's rows could change those of others, or a value make the query fail. Store "
            "it as a table, if a row of it still belongs to one person, and give that."
        )
    check_collation(tables[0], source.get_backend(), engine_of(source))
    return source, tables[0].name


def _harmless(value: Any) -> bool:
    """Return whether an operation reads its own row alone, and fails for no value."""
    import ibis.expr.operations as ops

    if isinstance(value, ops.Cast):
        return bool(value.to.is_string())
    return type(value).__name__ in _HARMLESS


# Others could read other rows, or fail for a value: divisions, other casts, functions.
_HARMLESS = frozenset(
    (
        *("Field", "Literal", "And", "Or", "Not", "IsNull", "NotNull", "IsNan", "Coalesce"),
        *("Equals", "NotEquals", "Less", "LessEqual", "Greater", "GreaterEqual", "Between"),
        *("InValues", "IfElse", "SearchedCase", "SimpleCase", "Lowercase", "Uppercase"),
        *("StringConcat", "StringLength", "StringContains", "StartsWith", "EndsWith"),
        *("ExtractYear", "ExtractMonth", "ExtractDay"),
    )
)

_DUCKDB = r"""
SELECT (SELECT count(*) FROM (
    SELECT sql FROM duckdb_tables() UNION ALL SELECT sql FROM duckdb_views() WHERE NOT internal
) WHERE regexp_matches(sql, '\bcollate\b', 'i')) + CAST(
    lower(current_setting('default_collation')) NOT IN ('', 'binary', 'c', 'posix') AS INTEGER)
"""
_POSTGRES = """
SELECT count(*) FROM pg_catalog.pg_attribute
JOIN pg_catalog.pg_type ON pg_type.oid = atttypid
LEFT JOIN pg_catalog.pg_collation ON pg_collation.oid = attcollation
WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped
    AND (typname = 'citext' OR NOT collisdeterministic)
"""


def check_collation(table: Any, backend: Any, engine: str) -> None:
    """Reject a table in which strings of different bytes can be equal, by the catalog.

    A collation can make 'NORTH' and 'north' equal. An engine then names the group of both by the
    spelling in some row, and one row can change which: a given key would be found or not, and the
    spelling of one person be shown.

    Args:
        table: The operation of an Ibis table, with its name and its database.
        backend: Its connection.
        engine: The engine's name.
    """
    places = [part for part in (table.namespace.database, table.name) if part]
    name = ".".join('"' + part.replace('"', '""') + '"' for part in places)
    found = without_details(lambda: _collations(backend, engine, name))
    if found != 0:
        raise Unsupported(
            "texts must be equal only if their bytes are, for a group to have one name; got a "
            "table with a collation, or one whose collations cannot be looked up. Copy it to "
            "columns without one."
        )


def _collations(backend: Any, engine: str, name: str) -> int:
    """Return how many columns may have one."""
    if engine == "duckdb":
        return int(backend.con.sql(_DUCKDB).fetchall()[0][0])
    if engine == "postgres":
        with backend.con.transaction(), backend.con.cursor() as cursor:
            return int(cursor.execute(_POSTGRES, (name,)).fetchall()[0][0])
    schema = backend._session.table(name.replace('""', '"').replace('"', "`")).schema
    return sum("collate" in field.dataType.simpleString().lower() for field in schema.fields)
