"""Running a query on an engine. Errors of engines may quote rows, so none is passed on."""

import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from decimal import Decimal
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar

from leastnoise.errors import QueryFailed
from leastnoise.tables.sources.literals import PLAIN

if TYPE_CHECKING:
    import ibis.expr.types as ir

    from leastnoise.tables.sources.source import Source

_Result = TypeVar("_Result")
_PY4J = ["py4j", "py4j.clientserver", "py4j.java_gateway"]
_CONTEXTS = ["DataFrameQueryContextLogger", "SQLQueryContextLogger"]


def fetch(source: "Source", query: "ir.Table") -> list[tuple[Any, ...]]:
    """Return the rows of a result: integers as int, keys as Python values.

    An engine's errors may quote rows, so none is passed on. The error raised instead is always the
    same, and has no context. Spark also writes errors to the error stream, so its log is switched
    off, and stays off.
    """
    rows = without_details(lambda: _run_query(source, query))
    if rows is None:
        raise QueryFailed(
            "The engine failed to run the query. Any charge for it stands",
            fix="Check the engine and its source, then repeat the query with the same key.",
        )
    return rows


def without_details(work: Callable[[], _Result]) -> _Result | None:
    """Return the result of ``work``, or None if it raises any error.

    Errors and warnings of engines may quote rows and connection strings. They are dropped here. On
    None, the caller raises an error of this package, which then has no context.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return work()
    except Exception:  # noqa: BLE001 -- any error may quote rows
        return None


def _run_query(source: "Source", query: "ir.Table") -> list[tuple[Any, ...]]:
    """Return the rows that the engine's own library returns.

    Ibis would pass Spark's rows through pandas, where integers beside a NULL are floats.
    """
    backend = source.table.get_backend()
    # Not a plain lock: an interrupt between its block and its release would leave it locked, and
    # the next query of this thread would wait forever.
    with vars(backend).setdefault("_leastnoise_lock", RLock()):  # threads share a connection
        rows = _ROWS[source.engine](backend, source.compile(query))
    return [
        tuple([_to_int(value) if type(value) is Decimal else value for value in row])
        for row in rows
    ]


def _query_duckdb(backend: Any, sql: str) -> list[Any]:
    # As a relation: another thread could fetch a result of the connection itself, and a cursor does
    # not see temporary tables and those in memory.
    rows: list[Any] = backend.con.sql(sql).fetchall()
    return rows


def _query_postgres(backend: Any, sql: str) -> list[Any]:
    with backend.con.transaction(), backend.con.cursor() as cursor:
        cursor.execute(PLAIN)
        rows: list[Any] = cursor.execute(sql).fetchall()
    return rows


def _query_spark(backend: Any, sql: str) -> list[Any]:
    session = backend._session
    with suppress(Exception):  # a remote session has its log elsewhere
        session.sparkContext.setLogLevel("OFF")
    with _silence_spark():
        rows: list[Any] = session.sql(sql).collect()
    return rows


@contextmanager
def _silence_spark() -> Iterator[None]:
    """Switch off the loggers of Spark's Python side, which quote the engine."""
    loggers = [logging.getLogger(name) for name in _PY4J]
    with suppress(ImportError):  # before version 4 it has no logger of its own
        from pyspark.logger import PySparkLogger

        # Created by Spark's own function, because Spark fails with other loggers.
        loggers += [PySparkLogger.getLogger(name) for name in _CONTEXTS]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


_ROWS: dict[str, Callable[[Any, str], list[Any]]] = {
    "duckdb": _query_duckdb,
    "postgres": _query_postgres,
    "pyspark": _query_spark,
}


def _to_int(value: Decimal) -> int:
    """Return a decimal as int, because engines return sums as decimals."""
    whole = int(value)
    if whole != value:
        raise ValueError("a result must be an integer")
    return whole
