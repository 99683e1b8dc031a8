"""The time of a ledger: charges compared with fsync, and opening and verifying many rows.

The floor is a file that is appended to and synced, one block at a time: no charge can be on disk
sooner. Charge, release and floor are interleaved in the same folder.
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
_PRICE = "1e-9"
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
    """Return the seconds of a charge, a release and an fsync, and those of many rows."""
    with tempfile.TemporaryDirectory(prefix="leastnoise-", dir=Path.cwd()) as folder:
        return {
            **_charges(plan, Path(folder)),
            **_rows(plan, Path(folder)),
            "allocated": _allocated(plan, Path(folder)),
        }


def _charges(plan: Plan, folder: Path) -> Row:
    """Return the time of one charge, compared with one fsync."""
    mechanism = ln.calibrate(ln.Privacy(_PRICE), sensitivity=1)
    ledger = ln.Ledger(folder / "charges.ledger", limit=ln.Privacy(1000))
    spending = mechanism.spending()
    file = os.open(folder / "floor", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    many = range(plan.charges)

    def floor() -> None:
        for _ in many:
            os.write(file, _BLOCK)
            os.fsync(file)

    def charges() -> None:
        for _ in many:
            ledger.charge(spending)

    def releases() -> None:
        for _ in many:
            mechanism.release(42.5, ledger=ledger)

    say(f"ledgers: {plan.charges} charges a round")
    contestants = {FSYNC: floor, CHARGED: charges, RELEASED: releases}
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


def _rows(plan: Plan, folder: Path) -> Row:
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


def _allocated(plan: Plan, folder: Path) -> Row:
    """Return the times in a new process of ledgers with a hundred allocations.

    A ledger with many rows is only opened: before the first account is read, all rows are checked,
    as by ``verify``. One with few rows is opened, and the rest of an allocation read.
    """
    say(f"ledgers: {_ALLOCATIONS} allocations, {plan.rows:,} rows")
    many, few = folder / "many.ledger", folder / "few.ledger"
    making = seconds(lambda: _fill(few, _ALLOCATIONS + _FEW, allocations=_ALLOCATIONS))
    _fill(many, plan.rows, allocations=_ALLOCATIONS)
    opening = [_cold(many, "none")[0] for _ in range(_COLD_ROUNDS)]
    reading = [_cold(few, "account")[1] for _ in range(_COLD_ROUNDS)]
    return {
        "rows": plan.rows,
        "allocations": _ALLOCATIONS,
        "making": short(making / _ALLOCATIONS),
        "opening": summary(opening),
        "reading": summary(reading),
    }


def _cold(path: Path, what: str) -> tuple[float, float]:
    """Return the seconds of a new process until a ledger is open, and until its end."""
    command = [sys.executable, "-c", _COLD, str(path), what]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    opened, ended = map(float, done.stdout.split())
    return opened, ended


def _fill(path: Path, count: int, allocations: int = 0) -> None:
    """Create a ledger with this many rows, charges and their answers, in one transaction.

    The rows are the same as after single releases, each of which would need an fsync. Allocations
    are made one by one.
    """
    mechanism = ln.calibrate(ln.Privacy(_PRICE), sensitivity=1)
    with ln.Ledger(path, limit=_LIMIT if allocations else ln.Privacy(1000)) as ledger:
        for number in range(allocations):
            part = ln.Privacy(Fraction(1 + number, 1000), Fraction(1 + number, 10**10))
            ledger.allocate(f"allocation {number}", part)
        mechanism.release(42.5, ledger=ledger)
        *_, charge, answer = ledger.rows()
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    rows = list(islice(_more(charge, answer), count - answer.seq))
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


def _more(charge: LedgerRow, answer: LedgerRow) -> Iterator[LedgerRow]:
    """Yield further charges and answers like the given ones."""
    head: Head = answer.head
    while True:
        key = f"{head.seq:032x}"
        charged = LedgerRow.after(head, CHARGE, key, charge.content)
        yield charged
        body = {**answer.content, "charge": charged.seq}
        answered = LedgerRow.after(charged.head, ANSWER, key, body)
        yield answered
        head = answered.head
