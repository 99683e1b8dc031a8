"""An engine is asked, and nothing that it says about records is passed on."""

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
    """Return the rows of a result: integers as int, keys as Python has them.

    An engine's errors quote records, so none is passed on: the error that is raised instead is
    always the same, and is raised where no other is being handled. Spark writes errors to the error
    stream as well; its log is switched off, and stays off.
    """
    rows = without_details(lambda: _ask(source, query))
    if rows is None:
        raise QueryFailed(
            "The engine failed to run the query. Any charge for it stands",
            fix="Check the engine and its source, then repeat the query with the same key.",
        )
    return rows


def without_details(work: Callable[[], _Result]) -> _Result | None:
    """Return what ``work`` returns, or None if it fails, for whatever reason.

    Errors and warnings of engines quote the records that they stumble over and the connection
    strings that they were given. They end here: the caller raises an error of ours on None, which
    has then no other error behind it.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return work()
    except Exception:  # noqa: BLE001 -- whatever it is, it may quote records
        return None


def _ask(source: "Source", query: "ir.Table") -> list[tuple[Any, ...]]:
    """Return the rows as the engine's own library has them.

    Ibis would pass Spark's rows through pandas, where integers beside a NULL are floats.
    """
    backend = source.table.get_backend()
    # Not a plain lock: an interruption between its block and its release would leave it locked, and
    # the next query of this thread would wait for ever.
    with vars(backend).setdefault("_leastnoise_lock", RLock()):  # threads wait for a connection
        rows = _ROWS[source.engine](backend, source.compile(query))
    return [tuple([_plain(one) if type(one) is Decimal else one for one in row]) for row in rows]


def _of_duckdb(backend: Any, sql: str) -> list[Any]:
    # By a relation: another thread could fetch what is executed on the connection itself, and a
    # cursor would not see tables in memory and temporary ones.
    rows: list[Any] = backend.con.sql(sql).fetchall()
    return rows


def _of_postgres(backend: Any, sql: str) -> list[Any]:
    with backend.con.transaction(), backend.con.cursor() as cursor:
        cursor.execute(PLAIN)
        rows: list[Any] = cursor.execute(sql).fetchall()
    return rows


def _of_spark(backend: Any, sql: str) -> list[Any]:
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

        # Made by Spark's own function: others would fail when Spark uses them.
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
    "duckdb": _of_duckdb,
    "postgres": _of_postgres,
    "pyspark": _of_spark,
}


def _plain(value: Decimal) -> int:
    """Return a figure as int: engines return sums as decimals."""
    whole = int(value)
    if whole != value:
        raise ValueError("a figure must be whole")
    return whole
