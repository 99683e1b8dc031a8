"""Spark DataFrames. The DataFrame that is passed is the table, however it was computed."""

import sys
import warnings
import weakref
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from leastnoise.tables.sources.connections import back_end, check_collation
from leastnoise.tables.sources.engine import without_details

if TYPE_CHECKING:
    import ibis.expr.types as ir


def is_spark_frame(source: object) -> bool:
    """Return whether an object is a Spark DataFrame."""
    module = sys.modules.get("pyspark.sql")  # if there is a DataFrame, it is loaded
    return module is not None and isinstance(source, module.DataFrame)


def spark_table(frame: Any) -> "ir.Table":
    """Return a Spark DataFrame as a table of its session: a temporary view with a name of its own.

    The session drops the view when the table is no longer used.
    """
    session, name = frame.sparkSession, f"leastnoise_{uuid4().hex}"
    backend = back_end("pyspark", "spark")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Ibis and Spark about their libraries
        connection = backend.connect(session)
    frame.createOrReplaceTempView(name)
    table: ir.Table = connection.table(name)
    check_collation(table.op(), connection, "pyspark")
    weakref.finalize(connection, _drop, session, name)
    return table


def _drop(session: Any, name: str) -> None:
    without_details(lambda: session.catalog.dropTempView(name))
