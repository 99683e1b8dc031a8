"""Engines that tests of tables ask: DuckDB, PostgreSQL and Spark, each as an Ibis connection.

Ibis is loaded by whoever wants one: most tests want none, and it takes a second.
"""

import os
import shutil
import subprocess
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.support.postgres_servers import Server

_NO_JAVA = (
    "Spark needs Java 17 or newer on this system: python3 go test --all --install-services, as "
    "root, installs one"
)


@pytest.fixture
def duck() -> Iterator[Any]:
    """A DuckDB in memory."""
    import ibis

    connection = ibis.duckdb.connect()
    yield connection
    connection.disconnect()


@pytest.fixture
def pg_address(postgres: Server) -> Iterator[str]:
    """The connection string of a PostgreSQL database with nothing in it."""
    address = postgres.database()
    yield address
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("SET client_min_messages = error")
        connection.execute("SET lock_timeout = '10s'")
        connection.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    postgres.clear(address)


@pytest.fixture
def pg(pg_address: str) -> Iterator[Any]:
    """A PostgreSQL database with nothing in it."""
    import ibis

    with psycopg.connect(pg_address, autocommit=True) as connection:
        yield ibis.postgres.from_connection(connection)


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A Spark of this machine alone: one for a session, or for a worker of it."""
    folder = tmp_path_factory.mktemp("spark")
    if not _java():
        raise AssertionError(_NO_JAVA)
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own dependence on older libraries
        import ibis
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[2]").appName("leastnoise-tests")
        for name, value in _settings(folder).items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        connection = ibis.pyspark.connect(session)
    yield connection
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session.stop()
    shutil.rmtree(folder, ignore_errors=True)


def _java() -> bool:
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=f"{home}/bin" if home else None)
    if java is None:
        return False
    return subprocess.run([java, "-version"], capture_output=True, check=False).returncode == 0


def _settings(folder: Path) -> dict[str, str]:
    log = folder / "log4j2.properties"
    log.write_text("rootLogger.level = off\n", encoding="utf-8")
    return {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": (
            f"-Dderby.system.home={folder} -Dlog4j2.configurationFile={log.as_uri()}"
        ),
        "spark.local.dir": str(folder / "local"),
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
