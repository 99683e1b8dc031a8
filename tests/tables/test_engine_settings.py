"""Strings of callers mean themselves, whatever an engine's settings are.

A key, a value of ``where=`` and a value in an Ibis filter are written into a query. Settings of
PostgreSQL and Spark change how a string in a query is read.
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any
from urllib.parse import quote

import pytest

import leastnoise as ln
from leastnoise import UNRECORDED, Count, Privacy
from leastnoise.errors import Unsupported
from leastnoise.tables import ProtectedTable
from leastnoise.tables.execute import run
from leastnoise.tables.release import prepare

TEXTS = ["\\", "a\\b", "a\\\\b", "x\\", "\\'", "it's", "''", 'q"', "${spark.app.name}", "$", "\\n"]
TEXTS += ["é", "leastnoise-tests", "%s", "\\u0041", "$${x}", "plain"]


def count(table: ProtectedTable, *queries: Any) -> list[Any]:
    prepared = prepare(list(queries), table.source, table.unit, Privacy(1, "1e-6"))
    return run(table.source, prepared.batches)


def check_all_texts(table: ProtectedTable) -> None:
    """Every text is in one row, and each way to name it finds this row alone."""
    escaped = [text.replace("'", "''") for text in TEXTS]
    conditions = [f"n = '{text}'" for text in escaped] + [f"n in ('{t}', 'no')" for t in escaped]
    queries = [Count(where=condition) for condition in conditions]
    assert count(table, *queries) == [[(1,)]] * len(queries)
    keyed = Count(by="n", groups=TEXTS, max_groups=1)
    paired = Count(by=("n", "m"), groups=[(text, text) for text in TEXTS], max_groups=1)
    one, two = count(table, keyed, paired)
    assert sorted(one) == sorted((text, 1) for text in TEXTS)
    assert sorted(two) == sorted((text, text, 1) for text in TEXTS)


# What a caller could write to have another table counted, where a backslash escapes a quote.
REST = ') union all select i from generate_series(1,1000) i) AS "t1" GROUP BY 1) AS "t2" --'


@pytest.fixture
def texts(pg: Any) -> Any:
    pg.con.execute("CREATE TABLE texts (u int, n text, m text)")
    with pg.con.cursor() as cursor:
        rows = [(place, text, text) for place, text in enumerate(TEXTS)]
        cursor.executemany("INSERT INTO texts VALUES (%s, %s, %s)", rows)
    return pg


def protect(source: Any, **how: Any) -> Any:
    return ln.protect(source, unit="u", max_rows=1, ledger=UNRECORDED, **how)


SETTINGS = ["standard_conforming_strings=off", "quote_all_identifiers=on", "backslash_quote=on"]


@pytest.mark.usefixtures("texts")
@pytest.mark.parametrize("setting", [*SETTINGS, " -c ".join(SETTINGS)])
def test_strings_are_themselves_under_settings_of_a_role(setting: str, pg_address: str) -> None:
    options = quote(f"-c {setting}")
    sign = "&" if "?" in pg_address else "?"
    table = protect(f"{pg_address}{sign}options={options}", table="texts")
    assert table.source.kinds == {"u": "integer", "n": "text", "m": "text"}
    check_all_texts(table)
    injected = Count(where=f"n in ('\\', '{REST}')")
    keyed = Count(by="n", groups=["\\", REST], max_groups=1)
    assert count(table, injected, keyed) == [[(1,)], [("\\", 1)]]


@pytest.mark.parametrize("inside", [False, True])
def test_strings_are_themselves_on_a_connection_of_the_caller(inside: bool, texts: Any) -> None:
    """Also if the setting is changed after ``protect``, and inside of a transaction."""
    table = protect(texts.table("texts"))
    texts.con.execute("SET standard_conforming_strings = off")
    naive = r"SELECT count(*) FROM texts WHERE n IN ('\', ') OR true --')"
    with texts.con.transaction() if inside else nullcontext():
        assert texts.con.execute(naive).fetchall() == [(len(TEXTS),)]
        check_all_texts(table)
        assert count(table, Count(where=f"n in ('\\', '{REST}')")) == [[(1,)]]
    if not inside:
        assert texts.con.execute("SHOW standard_conforming_strings").fetchall() == [("off",)]


@contextmanager
def spark_setting(spark: Any, name: str, value: str) -> Iterator[None]:
    settings = spark._session.conf
    before = settings.get(name, None)
    settings.set(name, value)
    yield
    settings.unset(name) if before is None else settings.set(name, before)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("spark.sql.parser.escapedStringLiterals", "true"),
        ("spark.sql.parser.escapedStringLiterals", "false"),
        ("spark.sql.ansi.doubleQuotedIdentifiers", "true"),
        ("spark.sql.variable.substitute", "false"),
    ],
)
def test_strings_are_themselves_under_settings_of_spark(name: str, value: str, spark: Any) -> None:
    rows = [(place, text, text) for place, text in enumerate(TEXTS)]
    frame = spark._session.createDataFrame(rows, "u int, n string, m string")
    frame.createOrReplaceTempView("setting_texts")
    with spark_setting(spark, name, value):
        table = spark.table("setting_texts")
        check_all_texts(protect(table))
        for text in TEXTS:
            filtered = protect(table.filter(table.n == text))
            assert count(filtered, Count()) == [[(1,)]]


@pytest.mark.long
def test_names_that_spark_replaces_are_rejected_before_the_charge(spark: Any) -> None:
    """Spark reads the column `${spark.app.name}` as the column named like the application."""
    frame = spark._session.createDataFrame([(1, "a")], "u int, n string")
    frame.createOrReplaceTempView("setting_names")
    table = spark.table("setting_names").rename({"${spark.app.name}": "n"})
    with pytest.raises(Unsupported, match="The engine's SQL cannot express this query"):
        protect(table).count(by="${spark.app.name}", max_groups=1, privacy=Privacy(1, "1e-6"))
