"""Strings in a query: each engine reads them unchanged under all its settings.

A string of a caller, such as a key or a value of ``where=``, is written into the query. Two engines
have settings of a session, a role or a database that change how they read it:

* PostgreSQL, if ``standard_conforming_strings`` is off, takes a backslash before the closing quote
  for a part of the string. The rest of the string would be a part of the query, so a caller could
  have anything computed. ``PLAIN`` is executed in the transaction of each query.
* Spark replaces ``${name}`` by a setting, even within quotes and names, and does not unescape a
  string if ``spark.sql.parser.escapedStringLiterals`` is on. So a string with any sign that it
  might read otherwise is written as the digits of its bytes, and a name with ``${`` is rejected.

DuckDB has no such setting.
"""

from typing import TYPE_CHECKING, Any

from leastnoise.errors import Unsupported

if TYPE_CHECKING:
    import ibis.expr.operations as ops

# A separate statement: PostgreSQL parses all statements of a message before it executes one.
PLAIN = "SET LOCAL standard_conforming_strings = on"
_READ_OTHERWISE = frozenset("\\'\"$")


def compile_query(backend: Any, engine: str, node: "ops.Node") -> str:
    """Return a query in the language of its engine."""
    if engine != "pyspark":
        return str(backend.compile(node.to_expr()))
    sql = str(backend.compile(_encode_strings(node).to_expr()))
    if "${" in sql:
        raise Unsupported(
            "names of columns and tables on Spark must not contain '${', which Spark replaces by a "
            "setting",
            got="a name that does",
            fix="Rename the column or the table.",
        )
    return sql


def _encode_strings(node: "ops.Node") -> "ops.Node":
    import ibis
    import ibis.expr.operations as ops

    @ibis.udf.scalar.builtin(name="unhex", signature=(("string",), "binary"))
    def unhex(digits):  # type: ignore[no-untyped-def]  # ibis reads the signature
        ...

    @ibis.udf.scalar.builtin(name="decode", signature=(("binary", "string"), "string"))
    def decode(content, encoding):  # type: ignore[no-untyped-def]  # ibis reads the signature
        ...

    written = {
        literal: decode(unhex(literal.value.encode().hex()), "UTF-8").op()
        for literal in node.find(ops.Literal)
        if isinstance(literal.value, str) and not _is_plain(literal.value)
    }
    return node.replace(written) if written else node


def _is_plain(text: str) -> bool:
    """Return whether Spark reads a string as it is under all settings."""
    return text.isprintable() and not _READ_OTHERWISE.intersection(text)
