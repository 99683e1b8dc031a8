"""A Spark Connect session has the same integers as DuckDB, from a DataFrame and an Ibis table."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from leastnoise.tables.sources import open_source
from tests.support.spark_connect import ROWS, TYPES, find_integers

ROOT = Path(__file__).parents[2]


@pytest.mark.long
def test_a_remote_session_answers_as_duckdb(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.spark_connect"],
        cwd=ROOT,
        env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_DIRS": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    remote = json.loads(done.stdout.splitlines()[-1])
    assert remote["session"] == "pyspark.sql.connect.session"
    names = ["u", "region", "x", "at", "cost"]
    columns = [pa.array(column) for column in zip(*ROWS, strict=True)]
    local = find_integers(open_source(pa.table(columns, names=names), types=TYPES))
    assert remote["found"] == [local, local]
    assert all(sum(row[-1] for row in rows) for rows in local)
