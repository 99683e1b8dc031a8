"""What is left of a SQLite ledger whose log was cut short or changed: what was committed before."""

import os
import random
import sqlite3
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from leastnoise.errors import LedgerDamaged
from leastnoise.ledger.rows import CHARGE
from tests.support.ledger_files import Privacy, child, ln, mechanism, quick_folder
from tests.support.traced_ledgers import InFile, die

MECHANISM = mechanism()


class Cut:
    """A ledger whose process was killed in the midst of a transaction, and its commits."""

    def __init__(self, folder: Path) -> None:
        self.at = folder / "killed"
        self.copy = folder / "copy"
        log = f"{self.at}-wal"

        def work(say: Callable[[bytes], object]) -> None:
            def told(now: str, sql: str, _: Any) -> None:
                if now == "after" and sql == "COMMIT":
                    with sqlite3.connect(self.at) as reader:
                        head = reader.execute("SELECT seq, hash FROM head").fetchone()
                    say(f"{os.path.getsize(log)} {head[0]} {head[1]}\n".encode())
                if now == "after" and sql.startswith("UPDATE head") and next(moves) == 10:
                    die()  # the last rows are in the file, and not committed

            moves = count()
            with InFile(folder).telling(told):
                ledger = ln.Ledger(self.at, limit=Privacy(1))
                for key in ("one", "two", "three"):
                    MECHANISM.release(1, ledger=ledger, key=key)
                ledger._chain._store._connection.execute("PRAGMA cache_size = 1")
                MECHANISM.release(np.zeros(2000, dtype=int), ledger=ledger, key="many")

        lines = child(work)[1]().decode().splitlines()
        self.commits = sorted({(int(line.split()[0]), line.split()[1], line) for line in lines})
        self.size = os.path.getsize(log)
        self.last = self.commits[-1][0]
        self.log = Path(log).read_bytes()
        self.file = self.at.read_bytes()

    def head(self, length: int) -> str | None:
        """Return the head that a WAL cut to a length must give."""
        heads = [line.split() for size, _, line in self.commits if size <= length]
        return f"{heads[-1][1]}-{heads[-1][2]}" if heads else None

    def put(self, log: bytes) -> None:
        """Put the file beside a WAL; its third does not outlive a crash of the machine."""
        Path(f"{self.copy}-shm").unlink(missing_ok=True)
        Path(f"{self.copy}-wal").write_bytes(log)
        self.copy.write_bytes(self.file)

    def glance(self, length: int) -> None:
        """Check that a WAL cut to a length gives the head that it must, and the rows up to it."""
        self.put(self.log[:length])
        reader = sqlite3.connect(self.copy)
        (head,) = reader.execute("SELECT seq || '-' || hash FROM head").fetchone()
        (rows,) = reader.execute("SELECT max(seq) || '-' || count(*) FROM rows").fetchone()
        reader.close()
        seq = head.split("-")[0]
        assert (head, rows) == (self.head(length), f"{seq}-{seq}"), length

    def check(self, log: bytes, length: int) -> None:
        """Check that a WAL gives the head that it must; ``length`` is how much of it is good."""
        self.put(log)
        head = self.head(length)
        witness = self.commits[-1][2].split()
        if head is None or head.startswith("0-"):
            with ln.Ledger(self.copy, limit=Privacy(1)) as ledger:  # nothing was there yet
                assert ledger.spent == Privacy(0, 0)
        else:
            with ln.Ledger(self.copy) as ledger:
                assert str(ledger.verify()) == head, length
                keys = [row.key for row in ledger.rows() if row.kind == CHARGE]
                assert len(keys) == len(set(keys))
                assert ledger.spent == Privacy(Fraction(len(keys), 10))
                if length < self.last:
                    with pytest.raises(LedgerDamaged, match="an older copy"):
                        ledger.verify(f"{witness[1]}-{witness[2]}")
                else:
                    ledger.verify(f"{witness[1]}-{witness[2]}")


@pytest.fixture(scope="module")
def cut() -> Iterator[Cut]:
    with quick_folder() as name:
        yield Cut(Path(name))


FRAME = 24 + 4096


def test_a_wal_cut_anywhere_gives_what_was_committed_before(cut: Cut) -> None:
    assert len(cut.commits) > 8
    assert cut.size > cut.last + 2 * FRAME  # there are frames without a commit
    edges = range(32, cut.size + 1, FRAME)
    places = {edge + near for edge in edges for near in (-1, 0, 1)} | set(range(0, cut.size, 4999))
    for length in sorted(place for place in places if 0 <= place <= cut.size):
        cut.check(cut.log[:length], length)


@pytest.mark.long
def test_a_wal_cut_at_every_byte_after_the_last_commit(cut: Cut) -> None:
    """And at every byte of the commit itself; of the cuts before it many."""
    places = {*range(cut.last - FRAME, cut.size + 1)}
    places |= {*range(cut.commits[-2][0], cut.last, 17)}
    for length in sorted(places):
        if length % 101:
            cut.glance(length)
        else:
            cut.check(cut.log[:length], length)


def test_garbage_after_the_last_commit_loses_nothing(cut: Cut) -> None:
    dice = random.Random(4)
    for length in (1, 23, 24, 25, FRAME - 1, FRAME, FRAME + 1, 10 * FRAME):
        for end in (cut.last, cut.size):
            cut.check(cut.log[:end] + dice.randbytes(length), end)
            cut.check(cut.log[:end] + bytes(length), end)
    for frame in range(32, cut.last, FRAME):  # frames that were good once, out of their place
        cut.check(cut.log[: cut.last] + cut.log[frame : frame + FRAME] * 2, cut.last)


def test_a_changed_byte_of_the_wal_gives_an_earlier_state_that_a_witness_tells(cut: Cut) -> None:
    dice = random.Random(5)
    for _ in range(60):
        place = dice.randrange(32, cut.last)
        log = bytearray(cut.log)
        log[place] ^= 1 << dice.randrange(8)
        frame = 32 + (place - 32) // FRAME * FRAME
        cut.check(bytes(log), frame)
