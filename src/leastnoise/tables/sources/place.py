"""``Place``: the identity of a table's data, without reading a row.

A stored answer is returned for the same place only. The data itself is not part of the identity,
because a changed answer would then reveal that the data has changed.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from glob import escape, has_magic
from os import getcwd
from os.path import dirname, exists, isabs, islink, join, realpath
from pathlib import Path
from typing import Any

from leastnoise.tables.sources.engine import without_details


@dataclass(frozen=True)
class Place:
    """A place that can be found again, also by another process.

    Attributes:
        parts: The parts that identify the place, its kind first. Ledgers store their hash: they
            must never change.
        text: The place as people read it. Ledgers store it. It contains no password.
    """

    parts: tuple[str, ...]
    text: str


def named(name: str) -> Place:
    """Return the place of data that the caller has named."""
    return Place(("name", name), name)


def file_place(path: str) -> Place:
    """Return the place of a file or a folder, or of the files of a pattern.

    It is the absolute path. Symbolic links are not followed: a link that is moved to newer data
    stays the same place, like a file that is overwritten. A file whose name looks like a pattern
    is another place than the files of the pattern.
    """
    if not exists(path):
        pattern = locate(path, pattern=True)
        return Place(("file", pattern), pattern)
    return Place(("file", escape(locate(path))), locate(path))


def files_place(paths: Sequence[str]) -> Place:
    """Return the place of several files, in any order; its text names the first."""
    located = sorted(map(locate, paths))
    more = f" and {len(located) - 1} more" if len(located) > 1 else ""
    return Place(("files", *located), f"{Path(located[0]).name if located else ''}{more}")


def locate(path: str, *, pattern: bool = False) -> str:
    """Return the absolute path of a file as the operating system finds it, without ``..``.

    What ``..`` leads to from a symbolic link is the folder above its target, so such a link is
    followed. In a pattern ``..`` stays where it is after the first wildcard.
    """
    if pattern and not isabs(path):
        path = join(escape(getcwd()), path)  # the folder's own name has no wildcards
    root, *parts = Path(path).absolute().parts
    place = "/" if root == "//" else root  # two slashes are one, except to Python
    for part in parts:
        if part == ".." and not (pattern and has_magic(place)):
            place = dirname(realpath(place) if islink(place) else place)
        else:
            place = join(place, part)
    return place


def table_place(table: Any, backend: Any, engine: str) -> Place | None:
    """Return the place of a database table; None for one that no other session can find.

    Args:
        table: The operation of an Ibis table, with its name and its database.
        backend: Its connection.
        engine: The engine's name.
    """
    find = {"duckdb": _in_duckdb, "postgres": _in_postgres, "pyspark": _in_spark}[engine]
    return without_details(lambda: find(table, backend))


def derivation(node: Any) -> str | None:
    """Return a digest of an Ibis table's computation; None if it is the table itself.

    The computation starts from a database table. Two tables with the same digest have the same
    filters and columns. The location and the name of the database table do not matter here.
    """
    import ibis.expr.operations as ops

    if isinstance(node, ops.PhysicalTable):
        return None

    def digest(part: Any, _: Any, **arguments: Any) -> str:
        if isinstance(part, ops.PhysicalTable):
            return "table"
        words = repr((type(part).__name__, [*arguments.items()]))
        return hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()

    return str(node.map(digest)[node])


# By name, and by schema and database if given. Without them DuckDB takes temporary tables
# first, then those of the current schema, then of "main". If search_path has several schemas, which
# may be of several databases, none is found here: their order is not in the catalog.
_DUCKDB = """
SELECT path, found.schema_name, found.name, temporary
FROM (
    SELECT database_name, schema_name, table_name AS name, temporary FROM duckdb_tables()
    UNION ALL
    SELECT database_name, schema_name, view_name, temporary FROM duckdb_views()
) AS found
JOIN duckdb_databases() USING (database_name)
WHERE lower(found.name) = lower($name) AND type = 'duckdb'
    AND lower(database_name) IN (lower(coalesce($catalog, current_database())),
                                 lower(coalesce($catalog, 'temp')))
    AND lower(schema_name) IN (lower(coalesce($database, current_schema())),
                               lower(coalesce($database, 'main')))
    AND ($database IS NOT NULL OR len(current_schemas(false)) <= 1)
ORDER BY temporary DESC, schema_name = current_schema() DESC
LIMIT 1
"""


def _in_duckdb(table: Any, backend: Any) -> Place | None:
    where = {"catalog": table.namespace.catalog, "database": table.namespace.database}
    rows = backend.con.sql(_DUCKDB, params={"name": table.name, **where}).fetchall()
    if not rows or rows[0][0] is None or rows[0][3]:
        return None
    path, schema, name, _ = rows[0]
    return Place(("duckdb", path, schema, name), f"{schema}.{name} in {path}")


_POSTGRES = """
SELECT nspname, relname, relpersistence = 't' FROM pg_catalog.pg_class
JOIN pg_catalog.pg_namespace ON pg_namespace.oid = relnamespace
WHERE pg_class.oid = %s::regclass
"""


def _in_postgres(table: Any, backend: Any) -> Place | None:
    words = [part for part in (table.namespace.database, table.name) if part]
    typed = ".".join('"' + part.replace('"', '""') + '"' for part in words)
    with backend.con.transaction(), backend.con.cursor() as cursor:
        ((schema, name, temporary),) = cursor.execute(_POSTGRES, (typed,)).fetchall()
    if temporary:
        return None
    server = backend.con.info
    # A folder of sockets may be typed with more slashes than it needs.
    host = locate(server.host) if server.host.startswith("/") else server.host
    place = (host, str(server.port), server.dbname)
    text = f"{schema}.{name} in {server.dbname} at {host}:{server.port}"
    # Include the address only if the user gave one: otherwise it may change.
    has_address = any(
        option.keyword == b"hostaddr" and option.val for option in backend.con.pgconn.info
    )
    address = (server.hostaddr,) if has_address and server.hostaddr != host else ()
    return Place(("postgres", *place, schema, name, *address), text)


def _in_spark(table: Any, backend: Any) -> Place | None:
    session = backend._session
    words = [
        part for part in (table.namespace.catalog, table.namespace.database, table.name) if part
    ]
    entry = session.catalog.getTable(".".join(f"`{part.replace('`', '``')}`" for part in words))
    if entry.isTemporary:
        return None
    metastore = session.conf.get("spark.hadoop.hive.metastore.uris", None)
    server = metastore or session.conf.get("spark.sql.warehouse.dir", None) or ""
    names = [entry.catalog or "", *(entry.namespace or []), entry.name]
    return Place(("pyspark", server, *names), f"{'.'.join(names)} in {server}")
