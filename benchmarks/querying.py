"""The time of table queries, compared with the same in SQL and with OpenDP on Polars.

The time of leastnoise is the whole call, with sampling; the time of SQL is the query alone. The
process caches noise and compiled queries; a first call, which does not count, fills these caches.
The query that leastnoise sends to the engine is also timed separately.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from benchmarks import machine, people
from benchmarks.peers.environments import ROOT, Missing, of_peer, python_of
from benchmarks.peers.process import Cannot, PeerProcess
from benchmarks.plan import Plan
from benchmarks.progress import say
from benchmarks.timing import Contestant, Row, interleaved, ratio, seconds, slope, summary

OPENDP, OPENDP_UNITS = "opendp with Polars", "opendp with Polars, per unit"
BY_ROW = (people.PLAIN, people.BOTH, people.QUERY, people.COUNT, people.SUM)
BY_UNIT = (people.BY_HAND, people.BOUNDED, people.BOUNDED_QUERY)
CHOOSING = (people.CHOSEN_BY_HAND, people.CHOSEN)
_REQUESTS = {OPENDP: "per row", OPENDP_UNITS: "per unit"}
_MOST_ROUNDS, _REPEATS = {"by_row": 15, "by_unit": 5}, 2
# From this many rows on, contributions are not bounded, because sorting would take minutes.
_LONG = 10**8
# A generous estimate of the disk space per row, for Parquet and the spill of a bounded query.
_BYTES = 150
_GROWTH_JOBS = (people.PLAIN, people.BOTH, people.BY_HAND, people.BOUNDED)
_GROWTH_JOBS_ON_SPARK = (people.BOTH, people.BOUNDED)


def measure(plan: Plan) -> Row:
    """Return interleaved times, memory in child processes, and the growth of both."""
    with tempfile.TemporaryDirectory(prefix="leastnoise-") as name:
        folder = Path(name)
        path = folder / "people.parquet"
        say(f"querying: a table of {plan.table:,} rows")
        people.write(path, plan.table)
        peer, omitted = _start_peer(plan)
        try:
            measurements = _interleave(plan, path, peer, omitted)
            measurements["choosing"] = _choose(plan, folder, measurements["megabytes"])
        finally:
            if peer is not None:
                peer.stop()
        growth = _growth(plan, folder)
    return {
        "date": machine.describe()["date"],
        "run": plan.name,
        "rows": plan.table,
        "groups": people.groups(plan.table),
        "max_rows": people.MAX_ROWS,
        "guarantee": [str(people.PRIVACY.epsilon), "1e-6"],
        **measurements,
        "omitted": omitted,
        "growth": growth,
    }


def _start_peer(plan: Plan) -> tuple[PeerProcess | None, dict[str, str]]:
    """Return the process of OpenDP, or the reason why it is missing."""
    if plan.alone:
        return None, {OPENDP: "omitted by --alone"}
    try:
        peer = PeerProcess(
            "opendp-polars", python_of(of_peer("opendp-polars", create=plan.install))
        )
        peer.ask("introduce")
    except (Missing, Cannot) as error:
        return None, {OPENDP: str(error)}
    return peer, {}


def _interleave(plan: Plan, path: Path, peer: PeerProcess | None, omitted: dict[str, str]) -> Row:
    """Return the times of interleaved contestants, and the memory of each."""
    jobs = people.jobs(path, plan.table)
    measurements: Row = {"megabytes": {}}
    units = (("by_row", BY_ROW, OPENDP), ("by_unit", BY_UNIT, OPENDP_UNITS))
    for unit, names, other in units:
        contestants: dict[str, Contestant] = {name: partial(seconds, jobs[name]) for name in names}
        if peer is not None:
            try:
                measurements["megabytes"][other] = _ask(peer, other, path, plan)["bytes"] / 1e6
                contestants[other] = partial(_seconds, peer, other, path, plan)
            except Cannot as reason:
                omitted[other] = str(reason)
        say(f"querying: {', '.join(contestants)}")
        times = interleaved(contestants, min(plan.rounds, _MOST_ROUNDS[unit]))
        series = {name: summary(rounds) for name, rounds in times.items()}
        sql, ours = names[:2]
        own = _compare(sql, ours, series)
        if other in series:
            own["times_opendp"] = ratio(series[ours], series[other])
        measurements[unit] = own
        for name in (sql, ours):
            measurements["megabytes"][name] = _megabytes(path, plan.table, name)
    return measurements


def _compare(sql: str, ours: str, series: Row) -> Row:
    """Return the times of SQL and of leastnoise, and their ratios."""
    times = {name: ratio(series[name], series[sql]) for name in series if name != sql}
    return {"sql": sql, "ours": ours, "seconds": series, "times_sql": times}


def _choose(plan: Plan, folder: Path, megabytes: Row) -> Row:
    """Return the times of a count for which each unit chooses a group, and add the memory."""
    path = folder / "spread.parquet"
    people.write_spread(path, plan.table)
    say(f"querying: {', '.join(CHOOSING)}")
    jobs = people.jobs(path, plan.table)
    contestants: dict[str, Contestant] = {name: partial(seconds, jobs[name]) for name in CHOOSING}
    times = interleaved(contestants, min(plan.rounds, _MOST_ROUNDS["by_unit"]))
    megabytes.update({name: _megabytes(path, plan.table, name) for name in CHOOSING})
    path.unlink()
    return _compare(*CHOOSING, {name: summary(rounds) for name, rounds in times.items()})


def _megabytes(path: Path, rows: int, job: str) -> float:
    """Return the memory of a job in a child process."""
    return round(float(_child("duckdb", path, rows, job, 0)["megabytes"]), 2)


def _ask(peer: PeerProcess, name: str, path: Path, plan: Plan) -> Row:
    return peer.ask(
        _REQUESTS[name],
        path=str(path),
        rows=plan.table,
        groups=people.groups(plan.table),
        high=float(people.HIGH),
        max_rows=people.MAX_ROWS,
        epsilon=float(people.PRIVACY.epsilon),
        delta=float(people.PRIVACY.delta),
    )


def _seconds(peer: PeerProcess, name: str, path: Path, plan: Plan) -> float:
    return float(_ask(peer, name, path, plan)["seconds"])


def _growth(plan: Plan, folder: Path) -> Row:
    """Return the seconds and the megabytes for each power of ten of rows, and their slopes."""
    rows: list[Row] = []
    omitted: dict[str, str] = {}
    spark = plan.spark if find_spec("pyspark") and shutil.which("java") else ()
    if plan.spark and not spark:
        omitted["Spark"] = "pyspark or Java is not installed"
    for power in sorted({*plan.tables, *spark}):
        size = 10**power
        if size * _BYTES > shutil.disk_usage(folder).free:
            omitted[f"{size:,} rows"] = f"it needs {size * _BYTES / 1e9:.0f} GB of disk"
            continue
        path = folder / f"people{power}.parquet"
        people.write(path, size)
        if power in plan.tables:
            rows += [
                _measure_growth("DuckDB", path, job, size)
                for job in _GROWTH_JOBS[: 2 if size >= _LONG else 4]
            ]
        if power in spark:
            rows += [
                _measure_growth("Spark", path, job, size)
                for job in _GROWTH_JOBS_ON_SPARK[: 1 if size >= _LONG else 2]
            ]
        path.unlink()
    return {"rows": rows, "slopes": _slopes(rows), "omitted": omitted}


def _measure_growth(engine: str, path: Path, job: str, size: int) -> Row:
    say(f"querying: {engine}, {size:,} rows, {job}")
    times = _REPEATS if engine == "DuckDB" and size < _LONG else 1
    measured = _child(engine.lower(), path, size, job, times)
    return {
        "engine": engine,
        "job": job,
        "n": size,
        "seconds": summary(measured["seconds"]),
        "megabytes": round(measured["megabytes"], 2),
    }


def _slopes(rows: list[Row]) -> Row:
    """Return the exponents of the growth of time and memory, for at least two sizes."""
    slopes: Row = {}
    for name in dict.fromkeys(f"{row['engine']}: {row['job']}" for row in rows):
        own = [row for row in rows if f"{row['engine']}: {row['job']}" == name]
        sizes = [row["n"] for row in own]
        if len(own) > 1:
            slopes[name] = {
                "seconds": slope(sizes, [row["seconds"]["median"] for row in own]),
                "megabytes": slope(sizes, [max(row["megabytes"], 1.0) for row in own]),
            }
    return slopes


def _child(engine: str, path: Path, rows: int, job: str, times: int) -> Row:
    """Return the measurement of a child process."""
    details = engine, str(path), str(rows), job, str(times)
    command = [sys.executable, "-m", "benchmarks.query_process", *details]
    done = subprocess.run(  # noqa: S603 -- it runs this Python
        command,
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
    )
    measurement: Row = json.loads(done.stdout)
    return measurement
