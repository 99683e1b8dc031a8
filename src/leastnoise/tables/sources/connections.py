"""Connections to engines: a DuckDB in memory, a PostgreSQL server, and that of an Ibis table.

A connection string can contain a password, and an engine's error can quote it or the data. Errors
of this package never contain either, nor have an engine's error as context.
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
# If it were on, Ibis would not recognize the quoted names of types.
_SETTINGS = ("SET standard_conforming_strings = on", "SET quote_all_identifiers = off")
_SOURCES = (
    "The table must be a CSV or Parquet path, a pandas, polars, Arrow or Ibis table, or "
    "'postgresql://…'"
)


def back_end(engine: str, extra: str) -> Any:
    """Return the Ibis back end of an engine, loaded on first use.

    Args:
        engine: A key of ENGINES.
        extra: The extra of leastnoise that installs its libraries, for the error.
    """
    try:
        import ibis

        return getattr(ibis, engine)
    except (ImportError, AttributeError):  # Ibis alone, without this engine, raises either
        missing = Unsupported(
            f"This source needs Ibis with {ENGINES[engine]}, which is not installed",
            fix=f"Run: pip install 'leastnoise[{extra}]'.",
        )
    raise missing


def in_memory() -> Any:
    """Connect to a new DuckDB in memory, which fetches nothing from a network.

    Data that does not fit into memory goes to a folder that only this user can read. It is deleted
    with the connection.
    """
    duckdb = back_end("duckdb", "tables")
    folder = tempfile.mkdtemp(prefix="leastnoise-")
    backend = duckdb.connect(
        ":memory:",
        autoinstall_known_extensions=False,
        autoload_known_extensions=False,
        temp_directory=folder,
    )
    weakref.finalize(backend, shutil.rmtree, folder, ignore_errors=True)
    # In a Jupyter kernel without ipywidgets DuckDB has no progress bar, and rejects its setting.
    without_details(lambda: backend.con.execute("SET enable_progress_bar = false"))
    return backend


def connect(address: str, table: str | None) -> tuple["ir.Table", str]:
    """Connect to a PostgreSQL database; return one of its tables, and the table's name."""
    if not isinstance(table, str) or not table:
        raise InvalidParameter(
            "A connection string leads to a database, so the table must be named by "
            + Words("table=", "--table"),
            got=Words("None", "none") if table is None else quote(table),
            fix="Give, for example, " + Words("table='people'", "--table people") + ".",
        )
    backend = _postgres(address)
    schema, _, name = table.rpartition(".")
    relation = without_details(lambda: backend.table(name, database=schema or None))
    if relation is None:
        known = without_details(lambda: _is_there(backend, schema, name))
        backend.disconnect()
        if known:
            raise Unsupported(
                f"{table!r} has a column of a type that Ibis cannot read, such as regclass, or "
                "numeric with a scale above its precision",
                fix="Create a view without that column, and protect the view.",
            )
        raise InvalidParameter(
            Words("table=", "--table")
            + " must name a table of the database that its user may read",
            got=repr(table),
            fix="Check the spelling, case and schema, as in "
            + Words("table='public.people'", "--table public.people")
            + ".",
        )
    check_collation(relation.op(), backend, "postgres")
    return relation, table


def _is_there(backend: Any, schema: str, name: str) -> bool:
    """Return whether a database has a table, with columns of any type."""
    typed = ".".join('"' + part.replace('"', '""') + '"' for part in (schema, name) if part)
    with backend.con.cursor() as cursor:
        rows = cursor.execute("SELECT to_regclass(%s) IS NOT NULL", (typed,)).fetchall()
    return bool(rows[0][0])


def _postgres(address: str) -> Any:
    """Connect by a connection string, which no error quotes."""
    postgres = back_end("postgres", "postgres")  # and psycopg with it
    import psycopg

    connection: Any = without_details(lambda: psycopg.connect(address, **_OURS))
    backend = connection and without_details(lambda: _prepare(postgres, connection))
    if backend is None:
        raise InvalidParameter(
            "The connection to the PostgreSQL server failed. Nothing was charged",
            fix="Try the connection string with psql. Write @ and % in a password as %40 and %25.",
        )
    weakref.finalize(backend, connection.close)
    return backend


def _prepare(postgres: Any, connection: Any) -> Any:
    """Return the Ibis back end of a connection, which reads strings and types as by default."""
    for setting in _SETTINGS:
        connection.execute(setting)
    return postgres.from_connection(connection)


def engine_of(source: object) -> str:
    """Return the engine of an Ibis table; reject other objects, and other engines."""
    ibis = sys.modules.get("ibis")
    if ibis is None or not isinstance(source, ibis.expr.types.Table):
        raise InvalidParameter(
            _SOURCES,
            got=f"an object of type {type(source).__name__}",
            fix="Convert it, for instance to an Arrow table.",
        )
    engine = without_details(lambda: source.get_backend().name)  # several engines, or none, fail
    if engine not in ENGINES:
        got = "a table of no engine, or of several" if engine is None else f"a table of {engine}"
        raise Unsupported(
            f"An Ibis table must be of one engine out of {', '.join(ENGINES.values())}",
            got=got,
            fix="Copy it to one of these engines, or to a Parquet file.",
        )
    return str(engine)


_ENCODINGS = ("UTF8", "LATIN1")  # of others some bytes cannot be converted: a query would fail
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
    if engine == "postgres" and without_details(lambda: _encoding(backend)) not in _ENCODINGS:
        raise Unsupported(
            "A PostgreSQL database must be encoded in UTF8 or LATIN1, so that every string can be "
            "read",
            got="another encoding",
            fix="Copy the table to a database in UTF8.",
        )
    places = [part for part in (table.namespace.database, table.name) if part]
    name = ".".join('"' + part.replace('"', '""') + '"' for part in places)
    count = without_details(lambda: _collations(backend, engine, name))
    if count != 0:
        raise Unsupported(
            "strings must be equal only if their bytes are, so that a group has one name",
            got="a table with a collation, or whose collations cannot be looked up",
            fix="Copy it to a table without collations.",
        )


def _encoding(backend: Any) -> str:
    with backend.con.transaction(), backend.con.cursor() as cursor:
        return str(cursor.execute("SHOW server_encoding").fetchall()[0][0])


def _collations(backend: Any, engine: str, name: str) -> int:
    """Return how many columns may have one."""
    if engine == "duckdb":
        return int(backend.con.sql(_DUCKDB).fetchall()[0][0])
    if engine == "postgres":
        with backend.con.transaction(), backend.con.cursor() as cursor:
            return int(cursor.execute(_POSTGRES, (name,)).fetchall()[0][0])
    schema = backend._session.table(name.replace('""', '"').replace('"', "`")).schema
    return sum("collate" in field.dataType.simpleString().lower() for field in schema.fields)
