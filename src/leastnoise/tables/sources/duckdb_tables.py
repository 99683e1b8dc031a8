"""Tables of DuckDB databases: of a file, which is opened read-only, or of a connection."""

import sys
from typing import TYPE_CHECKING, Any

from leastnoise.core.exact import quote
from leastnoise.errors import InvalidParameter, Unsupported, Words
from leastnoise.tables.sources.connections import back_end, check_collation, in_memory
from leastnoise.tables.sources.engine import without_details
from leastnoise.tables.sources.place import locate

if TYPE_CHECKING:
    import ibis.expr.types as ir

_SUFFIXES = (".duckdb", ".ddb")
_DATABASE = "people"  # of a file, in a query


def is_duckdb_file(path: str | bytes) -> bool:
    """Return whether a path is of a DuckDB database, by its name."""
    return isinstance(path, str) and path.lower().endswith(_SUFFIXES)


def is_duckdb(source: object) -> bool:
    """Return whether an object is a connection to DuckDB, or a relation of one."""
    duckdb = sys.modules.get("duckdb")  # if there is a connection, it is loaded
    return duckdb is not None and isinstance(
        source, duckdb.DuckDBPyConnection | duckdb.DuckDBPyRelation
    )


def connect_duckdb_file(path: str, table: str | None) -> tuple["ir.Table", str]:
    """Open a DuckDB database read-only; return one of its tables, and the table's name."""
    _check_table(table)
    backend = in_memory()
    place = locate(path).replace("'", "''")
    attach = f"ATTACH '{place}' AS {_DATABASE} (READ_ONLY)"
    if without_details(lambda: backend.con.execute(attach)) is None:
        backend.disconnect()
        raise InvalidParameter(
            f"No DuckDB database can be read at {path!r}: there is none, another process writes "
            "to it, or a newer version of DuckDB has written it",
            fix="Check the path, and close the other process.",
        )
    return _find_table(backend, table, _DATABASE)


def read_duckdb(source: Any, table: str | None) -> tuple["ir.Table", str]:
    """Return a table of a connection to DuckDB, and its name; reject relations.

    The rows of a relation can depend on rows of others, as with a join or a limit, and nothing in
    it says on which.
    """
    import duckdb

    if isinstance(source, duckdb.DuckDBPyRelation):
        raise Unsupported(
            "A table must compute each row from one row of a database table, which a DuckDB "
            "relation does not show",
            got="a DuckDB relation",
            fix="Pass the connection and table=, an Ibis table, or "
            "relation.to_arrow_table(), which then is the table.",
        )
    _check_table(table)
    backend = back_end("duckdb", "tables").from_connection(source)
    return _find_table(backend, table, None)


def _check_table(table: str | None) -> None:
    if not isinstance(table, str) or not table:
        raise InvalidParameter(
            "A DuckDB database can have several tables, so "
            + Words("table=", "--table")
            + " must name one",
            got=Words("None", "none") if table is None else quote(table),
            fix="Give, for example, " + Words("table='people'", "--table people") + ".",
        )


def _find_table(backend: Any, table: str | None, database: str | None) -> tuple["ir.Table", str]:
    schema, _, name = str(table).rpartition(".")
    where = (database, schema or "main") if database is not None else schema or None
    relation = without_details(lambda: backend.table(name, database=where))
    if relation is None:
        if database is not None:
            backend.disconnect()
        raise InvalidParameter(
            Words("table=", "--table") + " must name a table of the DuckDB database",
            got=repr(table),
            fix="Check the spelling and the schema, as in "
            + Words("table='main.people'", "--table main.people")
            + ".",
        )
    check_collation(relation.op(), backend, "duckdb")
    return relation, str(table)
