"""Forged ledgers: files with other rows, whose numbers and hashes are right."""

import shutil
import sqlite3
from itertools import count
from pathlib import Path
from typing import Any

from leastnoise.ledger.rows import BEGINNING, Row, canonical

_NUMBERS = count()


def chained(rows: list[Row]) -> list[Row]:
    """Return the rows with numbers and hashes that fit."""
    done: list[Row] = []
    head = BEGINNING
    for row in rows:
        fit = row._replace(seq=head.seq + 1)
        done.append(fit._replace(hash=fit.compute_hash(head.hash)))
        head = done[-1].head
    return done


def forged(source: Path, folder: Path, rows: list[Row]) -> Path:
    """Write a copy of a ledger with other rows, whose hashes are right."""
    target = folder / f"{next(_NUMBERS)}.ledger"  # a process cannot use one name for several files
    shutil.copyfile(source, target)
    connection = sqlite3.connect(target, isolation_level=None)
    connection.execute("PRAGMA synchronous = OFF")
    find = "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"
    triggers = connection.execute(find).fetchall()
    connection.execute("BEGIN")
    for name, _ in triggers:
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute("DELETE FROM rows")
    fit = chained(rows)
    connection.executemany("INSERT INTO rows VALUES (?, ?, ?, ?, ?, ?, ?, ?)", fit)
    connection.execute("UPDATE head SET seq = ?, hash = ?", (fit[-1].seq, fit[-1].hash))
    for _, sql in triggers:
        connection.execute(sql)
    connection.execute("COMMIT")
    connection.close()
    return target


def says(row: Row, **fields: Any) -> Row:
    """Return a row with other fields in its body."""
    return row._replace(body=canonical({**row.content, **fields}))
