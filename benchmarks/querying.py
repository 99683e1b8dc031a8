"""The time of table queries, compared with the same in SQL and with OpenDP on Polars.

The time of leastnoise is that of the whole call, with sampling; that of SQL is of its query alone.
leastnoise caches noise and compiled queries in a process; a first call, which does not count, fills
these caches. The query that it sends to the engine is also timed by itself.
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
BY_ROW = (people.PLAIN, people.TOGETHER, people.QUERY, people.COUNTED, people.SUMMED)
BY_UNIT = (people.BY_HAND, people.BOUNDED, people.BOUNDED_QUERY)
_REQUESTS = {OPENDP: "per row", OPENDP_UNITS: "per unit"}
_MOST_ROUNDS, _REPEATS = {"by_row": 15, "by_unit": 5}, 2
# From this many rows on, contributions are not bounded, because sorting would take minutes.
_LONG = 10**8
# The disk space per row for Parquet and for the spill of a bounded query, generously.
_BYTES = 150
_GROWING = (people.PLAIN, people.TOGETHER, people.BY_HAND, people.BOUNDED)
_GROWING_ON_SPARK = (people.TOGETHER, people.BOUNDED)


def measure(plan: Plan) -> Row:
    """Return interleaved times, memory in child processes, and the growth of both."""
    with tempfile.TemporaryDirectory(prefix="leastnoise-") as place:
        folder = Path(place)
        path = folder / "people.parquet"
        say(f"querying: a table of {plan.table:,} rows")
        people.write(path, plan.table)
        peer, left_out = _peer(plan)
        try:
            found = _beside(plan, path, peer, left_out)
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
        "promise": [str(people.PRIVACY.epsilon), "1e-6"],
        **found,
        "left_out": left_out,
        "growth": growth,
    }


def _peer(plan: Plan) -> tuple[PeerProcess | None, dict[str, str]]:
    """Return the process of OpenDP, or the reason why there is none."""
    if plan.alone:
        return None, {OPENDP: "left out by --alone"}
    try:
        peer = PeerProcess("opendp-polars", python_of(of_peer("opendp-polars", make=plan.install)))
        peer.ask("introduce")
    except (Missing, Cannot) as error:
        return None, {OPENDP: str(error)}
    return peer, {}


def _beside(plan: Plan, path: Path, peer: PeerProcess | None, left_out: dict[str, str]) -> Row:
    """Return the times of interleaved contestants, and the memory of each."""
    jobs = people.jobs(path, plan.table)
    found: Row = {"megabytes": {}}
    ways = (("by_row", BY_ROW, OPENDP), ("by_unit", BY_UNIT, OPENDP_UNITS))
    for way, names, other in ways:
        contestants: dict[str, Contestant] = {name: partial(seconds, jobs[name]) for name in names}
        if peer is not None:
            try:
                found["megabytes"][other] = _ask(peer, other, path, plan)["bytes"] / 1e6
                contestants[other] = partial(_seconds, peer, other, path, plan)
            except Cannot as reason:
                left_out[other] = str(reason)
        say(f"querying: {', '.join(contestants)}")
        times = interleaved(contestants, min(plan.rounds, _MOST_ROUNDS[way]))
        series = {name: summary(rounds) for name, rounds in times.items()}
        sql, ours = names[:2]
        own: Row = {"sql": sql, "ours": ours, "seconds": series}
        own["times_sql"] = {
            name: ratio(series[name], series[sql]) for name in series if name != sql
        }
        if other in series:
            own["times_opendp"] = ratio(series[ours], series[other])
        found[way] = own
        for name in (sql, ours):
            used = _child("duckdb", path, plan.table, name, 0)["megabytes"]
            found["megabytes"][name] = round(used, 2)
    return found


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
    left_out: dict[str, str] = {}
    spark = plan.spark if find_spec("pyspark") and shutil.which("java") else ()
    if plan.spark and not spark:
        left_out["Spark"] = "it is not installed here, or Java is not"
    for power in sorted({*plan.tables, *spark}):
        size = 10**power
        if size * _BYTES > shutil.disk_usage(folder).free:
            left_out[f"{size:,} rows"] = f"it needs {size * _BYTES / 1e9:.0f} GB of disk"
            continue
        path = folder / f"people{power}.parquet"
        people.write(path, size)
        if power in plan.tables:
            rows += [
                _grown("DuckDB", path, job, size) for job in _GROWING[: 2 if size >= _LONG else 4]
            ]
        if power in spark:
            rows += [
                _grown("Spark", path, job, size)
                for job in _GROWING_ON_SPARK[: 1 if size >= _LONG else 2]
            ]
        path.unlink()
    return {"rows": rows, "slopes": _slopes(rows), "left_out": left_out}


def _grown(engine: str, path: Path, job: str, size: int) -> Row:
    say(f"querying: {engine}, {size:,} rows, {job}")
    times = _REPEATS if engine == "DuckDB" and size < _LONG else 1
    found = _child(engine.lower(), path, size, job, times)
    return {
        "engine": engine,
        "job": job,
        "n": size,
        "seconds": summary(found["seconds"]),
        "megabytes": round(found["megabytes"], 2),
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
    command = [sys.executable, "-m", "benchmarks.asked", *details]
    done = subprocess.run(  # noqa: S603 -- it runs this Python
        command,
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
    )
    found: Row = json.loads(done.stdout)
    return found
