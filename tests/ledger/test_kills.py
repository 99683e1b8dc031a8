"""The ledger when processes die: its own at every statement, and its server's.

One body for both stores, and controls in the wrong order that the same kills catch.
"""

import os
import random
import signal
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from leastnoise.errors import LedgerUnavailable
from leastnoise.ledger.recording import Recording
from leastnoise.ledger.rows import ALLOCATION, CHARGES
from tests.support.ledger_files import Privacy, child, ln, mechanism, quick_folder
from tests.support.postgres_servers import Server
from tests.support.traced_database import InDatabase
from tests.support.traced_ledgers import (
    InFile,
    Kept,
    always_charged,
    charged_times,
    die,
    drawn_first,
    in_small,
    kill_everywhere,
    never_stored,
    wrong_everywhere,
)

MECHANISM = mechanism()

# ------------------------------------------------------------------ the process that releases


def test_killed_at_every_step(kept: Kept) -> None:
    steps = kill_everywhere(kept, 1)
    assert steps["before"] == steps["after"] >= 23


def test_killed_at_every_step_of_beginning(kept: Kept) -> None:
    """After a statement is before the next, but for what is said between."""
    assert kill_everywhere(kept, 1, new=True, whens=("before",))["before"] >= 33


def test_killed_at_every_step_of_a_release_from_an_allocation(kept: Kept) -> None:
    steps = kill_everywhere(kept, 1, gaussian=True)
    assert steps["before"] == steps["after"] >= 23


def test_killed_at_every_step_of_beginning_with_an_allocation(kept: Kept) -> None:
    steps = kill_everywhere(kept, 1, new=True, whens=("before",), gaussian=True)
    assert steps["before"] >= 33


def test_killed_at_every_step_of_making_an_allocation(kept: Kept) -> None:
    """It is made whole or not at all, and charged once however often it is asked for."""
    part = Privacy("0.4", "1e-7")
    kept.begin(1, limit=Privacy("0.6", "1e-6"))
    made = 0
    for step in count():
        kept.again()

        def work(say: Callable[[bytes], object], at: int = step) -> None:
            steps = count()

            def told(now: str, _: str, __: Any) -> None:
                if now == "before" and next(steps) == at:
                    die()

            with kept.telling(told), ln.Ledger(kept.where) as ledger:
                ledger.allocate("survey", part)
                say(b"made")

        said = child(work)[1]()
        rows = [body for kind, _, body in kept.rows() if kind == ALLOCATION]
        assert len(rows) <= 1
        assert rows or b"made" not in said, "it was there and is not"
        made += bool(rows)
        with ln.Ledger(kept.where) as ledger:
            assert ledger.spent == (Privacy("0.5", "1e-7") if rows else Privacy("0.1"))
            ledger.allocate("survey", part)
            ledger.allocate("survey", part)
            assert ledger.spent == Privacy("0.5", "1e-7")
            ledger.verify()
        if b"." in said:
            break
    assert made
    assert step - made >= 10  # some kills came before it


# A hundred times, in parts, so that several processes can share them.


@pytest.mark.long
@pytest.mark.parametrize("part", range(5))
def test_killed_at_every_step_a_hundred_times(kept: Kept, part: int) -> None:
    steps = in_small(kill_everywhere, kept, times=20, whens=("before",))
    assert steps["before"] >= 23


@pytest.mark.long
def test_killed_at_every_step_until_begun_twenty_times(kept: Kept) -> None:
    """From when there is a ledger, it is released from as from any, which was killed above."""
    steps = in_small(kill_everywhere, kept, times=20, new=True, whens=("before",), until_begun=True)
    assert steps["before"] >= 8


@pytest.mark.long
def test_killed_after_every_step_of_beginning(kept: Kept) -> None:
    kill_everywhere(kept, 1, new=True, whens=("after",))


def test_killed_at_every_step_on_the_real_disk(tmp_path: Path) -> None:
    kill_everywhere(InFile(tmp_path), 1, whens=("before",))


@pytest.mark.parametrize(
    ("naive", "how"),
    [
        (drawn_first, "drawn without a charge"),
        (never_stored, "left without being stored|another answer"),
        (always_charged, "charged twice|another answer"),
    ],
)
@pytest.mark.parametrize("gaussian", [False, True])
def test_killing_catches_a_release_in_the_wrong_order(
    kept: Kept, monkeypatch: pytest.MonkeyPatch, naive: Any, how: str, *, gaussian: bool
) -> None:
    """The tests above can fail."""
    monkeypatch.setattr(Recording, "release", naive)
    with pytest.raises(AssertionError, match=how):
        kill_everywhere(kept, 1, gaussian=gaussian)


def kill_whenever(folder: Path, times: int, seed: int, **begin: Any) -> None:
    """Kill a process that releases on and on at any moment, also within a statement."""
    at, dice = folder / "ledger", random.Random(seed)
    ln.Ledger(at, **{"limit": Privacy(10**6), **begin}).close()
    _ = MECHANISM.gaussian_cost  # before any fork
    given: dict[bytes, int] = {}
    charges = 0
    for turn in range(times):

        def work(say: Callable[[bytes], object], turn: int = turn) -> None:
            with ln.Ledger(at) as ledger:
                for nth in count():
                    key = f"{turn}-{nth}"
                    say(b"q%s " % key.encode())
                    index = MECHANISM.release(1, ledger=ledger, key=key).index
                    say(b"%s=%d " % (key.encode(), index))

        process, end = child(work)
        time.sleep(dice.uniform(0.005, 0.03))
        os.kill(process, signal.SIGKILL)
        words = end().split(b" ")
        given |= {word.split(b"=")[0]: int(word.split(b"=")[1]) for word in words if b"=" in word}
        asked = sum(word.startswith(b"q") for word in words)
        answered = sum(b"=" in word for word in words)
        with ln.Ledger(at) as ledger:
            after = sum(row.kind in CHARGES for row in ledger.rows())
            assert answered <= after - charges <= asked <= answered + 1
            assert charged_times(ledger) == after
            for key, index in dice.sample(sorted(given.items()), min(3, len(given))):
                again = MECHANISM.release(1, ledger=ledger, key=key.decode())
                assert again.index == index
            charges = after
    with ln.Ledger(at) as ledger:
        ledger.verify()
        for key, index in given.items():
            again = MECHANISM.release(1, ledger=ledger, key=key.decode())
            assert (again.index, again.receipt.reused) == (index, True)
        assert charged_times(ledger) == charges
    assert given


def test_killed_at_any_moment() -> None:
    with quick_folder() as folder:
        kill_whenever(Path(folder), 25, seed=1)


def test_killed_at_any_moment_with_gaussian_accounting() -> None:
    with quick_folder() as folder:
        whole = {"limit": Privacy(10**6, "1e-6"), "accounting": "gaussian"}
        kill_whenever(Path(folder), 15, seed=4, **whole)


@pytest.mark.long
def test_killed_at_any_moment_often(tmp_path: Path) -> None:
    with quick_folder() as folder:
        kill_whenever(Path(folder), 150, seed=2)
    kill_whenever(tmp_path, 100, seed=3)


# ------------------------------------------------------------------ the server


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_session_ended_at_every_step(kept_in_database: InDatabase, when: str) -> None:
    """Where it is noticed when a transaction begins, the ledger connects anew and goes on."""

    def end(connection: Any) -> None:
        if connection is not None:  # there is none yet before it connects
            kept_in_database.end(connection)

    steps, raised = wrong_everywhere(kept_in_database, when, end, LedgerUnavailable)
    assert steps >= 23
    assert steps / 2 < raised < steps


def test_a_session_killed_at_some_steps(kept_in_crashing: InDatabase) -> None:
    """The whole server then starts again; of the last steps, which write, every fourth."""
    _, raised = wrong_everywhere(
        kept_in_crashing,
        "after",
        kept_in_crashing.crash,
        LedgerUnavailable,
        steps=lambda step: step >= 13 and step % 4 == 2,
    )
    assert raised >= 2


@pytest.mark.long
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_session_killed_at_every_step(kept_in_crashing: InDatabase, when: str) -> None:
    def crash(connection: Any) -> None:
        if connection is not None:
            kept_in_crashing.crash(connection)

    steps, raised = wrong_everywhere(kept_in_crashing, when, crash, LedgerUnavailable)
    assert steps >= 23
    assert raised >= steps / 2


@pytest.mark.long
def test_a_server_killed_at_every_step(
    kept_in_crashing: InDatabase, postgres_of_its_own: Server
) -> None:
    """Whoever asks meanwhile is told so, or is answered by the server that is back."""

    def crash(_: Any) -> None:
        postgres_of_its_own.kill()
        postgres_of_its_own.start()

    steps, raised = wrong_everywhere(kept_in_crashing, "before", crash, LedgerUnavailable)
    assert steps >= 23
    assert steps / 2 < raised < steps
