"""Run a query in a child process.

``python -m benchmarks.query_process duckdb people.parquet 1000 "count" 3`` runs the count three
times. A separate process is used so that only the memory of the query is counted. It prints seconds
and megabytes as JSON. The memory is the peak minus the memory before the first query.
"""

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import people
from benchmarks.memory import highest_memory, start_memory
from benchmarks.timing import Row, seconds

_MEGA = 1e6


def main() -> None:
    """Run the query that the command line names."""
    engine, path, rows, job, times = sys.argv[1:]
    run = run_on_duckdb if engine == "duckdb" else run_on_spark
    print(json.dumps(run(Path(path), int(rows), job, int(times))))


def run_on_duckdb(path: Path, rows: int, job: str, times: int) -> Row:
    """Run the query in this process: once for its memory, then for its time."""
    call = people.jobs(path, rows)[job]
    before = start_memory()
    call()
    above = highest_memory() - before
    return {"seconds": _time(call, times), "megabytes": above / _MEGA}


def run_on_spark(path: Path, rows: int, job: str, times: int) -> Row:
    """Run the query on Spark with two threads; the memory is the peak of the Java process."""
    import ibis
    from pyspark.sql import SparkSession

    with tempfile.TemporaryDirectory(prefix="leastnoise-") as folder:
        builder: Any = SparkSession.builder
        builder = builder.master("local[2]").appName("leastnoise")
        for name, value in _settings(folder).items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        table = ibis.pyspark.connect(session).read_parquet(str(path), table_name="people")
        call = people.own_jobs(table, rows)[job]
        call()
        result: Row = {"seconds": _time(call, times)}
        java: int = session.sparkContext._gateway.proc.pid
        result["megabytes"] = highest_memory(java) / _MEGA
        session.stop()
    return result


def _time(call: Callable[[], object], times: int) -> list[float]:
    return [seconds(call) for _ in range(times)]


def _settings(folder: str) -> dict[str, str]:
    return {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "4g",
        "spark.local.dir": folder,
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.shuffle.partitions": "8",
        "spark.sql.warehouse.dir": f"{folder}/warehouse",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }


if __name__ == "__main__":
    main()
