"""The time of a ledger: charges compared with fsync, and opening and verifying many rows.

The lower limit is to append one block to a file and sync it: no charge can be on disk sooner.
Charges, releases and appends are interleaved in the same folder.
"""

import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from fractions import Fraction
from itertools import islice
from pathlib import Path

import leastnoise as ln
from benchmarks.plan import Plan
from benchmarks.progress import say
from benchmarks.timing import Row, each, interleaved, ratio, seconds, short, summary
from leastnoise.ledger.rows import ANSWER, CHARGE, Head
from leastnoise.ledger.rows import Row as LedgerRow

FSYNC, CHARGED, RELEASED = "fsync of 4 KiB", "charge", "release"
_BLOCK = b"\0" * 4096
_EPSILON = "1e-9"
_LIMIT = ln.Privacy(1000, "1e-6")
_ALLOCATIONS, _FEW = 100, 10
_COLD_ROUNDS = 7
# Seconds in a new process that has imported leastnoise: to open a ledger, then to read an account.
_COLD = """
import sys, time
import leastnoise
start = time.perf_counter()
ledger = leastnoise.Ledger(sys.argv[1])
opened = time.perf_counter()
if sys.argv[2] == "account":
    ledger.allocation("allocation 0").remaining
print(opened - start, time.perf_counter() - start)
"""


def measure(plan: Plan) -> Row:
    """Return the times of a charge, a release and an fsync, and of ledgers with many rows."""
    with tempfile.TemporaryDirectory(prefix="leastnoise-", dir=Path.cwd()) as folder:
        return {
            **_measure_charges(plan, Path(folder)),
            **_measure_rows(plan, Path(folder)),
            "allocated": _measure_allocations(plan, Path(folder)),
        }


def _measure_charges(plan: Plan, folder: Path) -> Row:
    """Return the time of one charge, compared with one fsync."""
    mechanism = ln.calibrate(ln.Privacy(_EPSILON), sensitivity=1)
    ledger = ln.Ledger(folder / "charges.ledger", limit=ln.Privacy(1000))
    spending = mechanism.spending()
    file = os.open(folder / "appended", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    repeats = range(plan.charges)

    def append() -> None:
        for _ in repeats:
            os.write(file, _BLOCK)
            os.fsync(file)

    def charges() -> None:
        for _ in repeats:
            ledger.charge(spending)

    def releases() -> None:
        for _ in repeats:
            mechanism.release(42.5, ledger=ledger)

    say(f"ledgers: {plan.charges} charges a round")
    contestants = {FSYNC: append, CHARGED: charges, RELEASED: releases}
    try:
        times = interleaved(
            {name: each(call, plan.charges) for name, call in contestants.items()}, plan.rounds
        )
    finally:
        os.close(file)
        ledger.close()
    series = {name: summary(rounds) for name, rounds in times.items()}
    ratios = {name: ratio(series[name], series[FSYNC]) for name in (CHARGED, RELEASED)}
    return {"seconds": series, "ratios": ratios}


def _measure_rows(plan: Plan, folder: Path) -> Row:
    """Return the time to open and to verify a ledger with many rows."""
    path = folder / "rows.ledger"
    say(f"ledgers: {plan.rows:,} rows")
    _fill(path, plan.rows)

    def open_ledger() -> None:
        ln.Ledger(path, limit=ln.Privacy(1000)).close()

    def verify_ledger() -> None:
        with ln.Ledger(path) as ledger:
            ledger.verify()

    opening = [seconds(open_ledger) for _ in range(5)]
    verifying = [seconds(verify_ledger) for _ in range(3 if plan.rows < 10**6 else 2)]
    return {
        "rows": plan.rows,
        "megabytes": round(path.stat().st_size / 1e6, 1),
        "opening": summary(opening),
        "verifying": summary(verifying),
    }


def _measure_allocations(plan: Plan, folder: Path) -> Row:
    """Return the times, in a new process, of ledgers with a hundred allocations.

    A ledger with many rows is only opened, because reading the first account verifies all rows. A
    ledger with few rows is opened, and the remaining budget of an allocation is read.
    """
    say(f"ledgers: {_ALLOCATIONS} allocations, {plan.rows:,} rows")
    many, few = folder / "many.ledger", folder / "few.ledger"
    creating = seconds(lambda: _fill(few, _ALLOCATIONS + _FEW, allocations=_ALLOCATIONS))
    _fill(many, plan.rows, allocations=_ALLOCATIONS)
    opening = [_start(many, "none")[0] for _ in range(_COLD_ROUNDS)]
    reading = [_start(few, "account")[1] for _ in range(_COLD_ROUNDS)]
    return {
        "rows": plan.rows,
        "allocations": _ALLOCATIONS,
        "making": short(creating / _ALLOCATIONS),
        "opening": summary(opening),
        "reading": summary(reading),
    }


def _start(path: Path, task: str) -> tuple[float, float]:
    """Return the seconds until a new process has opened a ledger, and until it ends."""
    command = [sys.executable, "-c", _COLD, str(path), task]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    opened, ended = map(float, done.stdout.split())
    return opened, ended


def _fill(path: Path, count: int, allocations: int = 0) -> None:
    """Create a ledger with this many rows, charges and their answers, in one transaction.

    Single releases would write the same rows, but each would need an fsync. Allocations are created
    one at a time.
    """
    mechanism = ln.calibrate(ln.Privacy(_EPSILON), sensitivity=1)
    with ln.Ledger(path, limit=_LIMIT if allocations else ln.Privacy(1000)) as ledger:
        for number in range(allocations):
            part = ln.Privacy(Fraction(1 + number, 1000), Fraction(1 + number, 10**10))
            ledger.allocate(f"allocation {number}", part)
        mechanism.release(42.5, ledger=ledger)
        *_, charge, answer = ledger.rows()
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    rows = list(islice(_repeat_rows(charge, answer), count - answer.seq))
    connection.executemany(
        "INSERT INTO rows VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (row.seq, row.version, row.kind, row.key, row.at, row.body, row.payload, row.hash)
            for row in rows
        ),
    )
    connection.execute("UPDATE head SET seq = ?, hash = ?", (rows[-1].seq, rows[-1].hash))
    connection.execute("COMMIT")
    connection.close()


def _repeat_rows(charge: LedgerRow, answer: LedgerRow) -> Iterator[LedgerRow]:
    """Yield further charges and answers with the same content."""
    head: Head = answer.head
    while True:
        key = f"{head.seq:032x}"
        next_charge = LedgerRow.after(head, CHARGE, key, charge.content)
        yield next_charge
        body = {**answer.content, "charge": next_charge.seq}
        next_answer = LedgerRow.after(next_charge.head, ANSWER, key, body)
        yield next_answer
        head = next_answer.head
