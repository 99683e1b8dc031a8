"""Whether texts are equal only if their bytes are: looked up in a database's catalogue.

A column can be told to hold 'NORTH' and 'north' for the same. An engine then names the group of
both by the spelling of some record, and which one it is can change with a single row: a key that
was asked for would be found or not, and a spelling of somebody's shown.
"""

from typing import Any

from leastnoise.errors import Unsupported
from leastnoise.tables.sources.quietly import attempted

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


def refuse_collated(table: Any, backend: Any, engine: str) -> None:
    """Refuse a table of a database in which texts of different bytes can be the same.

    Args:
        table: The operation of an Ibis table: its name, and where it is.
        backend: Its connection.
        engine: The engine's name.
    """
    places = [part for part in (table.namespace.database, table.name) if part]
    name = ".".join('"' + part.replace('"', '""') + '"' for part in places)
    looks = {"duckdb": _in_duckdb, "postgres": _in_postgres, "pyspark": _in_spark}
    found = attempted(lambda: looks[engine](backend, name))
    if found != 0:
        raise Unsupported(
            "texts must be equal only if their bytes are, for a group to have one name; got a "
            "table with a collation, or one whose collations cannot be looked up. Copy it to "
            "columns without one."
        )


def _in_duckdb(backend: Any, _: str) -> int:
    return int(backend.con.sql(_DUCKDB).fetchall()[0][0])


def _in_postgres(backend: Any, name: str) -> int:
    with backend.con.transaction(), backend.con.cursor() as cursor:
        return int(cursor.execute(_POSTGRES, (name,)).fetchall()[0][0])


def _in_spark(backend: Any, name: str) -> int:
    schema = backend._session.table(name.replace('""', '"').replace('"', "`")).schema
    types = [field.dataType.simpleString().lower() for field in schema.fields]
    return sum("collate" in kind for kind in types)
