"""The files of a ledger in SQLite: who may read them, and how they are created."""

import os
import sqlite3
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from leastnoise.core.privacy import Privacy
from leastnoise.core.sampling import entropy
from leastnoise.errors import EntropyFailed, InvalidParameter, LedgerUnavailable
from leastnoise.ledger.ledger import Ledger
from tests.support.ledger_files import FILES, counting

LIMIT = Privacy(5)


@pytest.fixture(params=[0o000, 0o022, 0o077, 0o277, 0o777])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    """A umask, which other programs would give the rights of their files by."""
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def rights(path: Path) -> dict[str, int]:
    return {end: stat.S_IMODE(os.stat(f"{path}{end}").st_mode) for end in FILES}


def test_the_files_of_a_new_ledger_are_for_their_owner_alone(umask: int, tmp_path: Path) -> None:
    path, witness = tmp_path / "people.ledger", tmp_path / "witness"
    with Ledger(path, limit=LIMIT, witness=witness) as ledger:
        counting().release(7, ledger=ledger)
        assert rights(path) == dict.fromkeys(FILES, 0o600)
        assert stat.S_IMODE(witness.stat().st_mode) == 0o600
    sqlite3.connect(tmp_path / "control").execute("CREATE TABLE t (x)")
    assert stat.S_IMODE((tmp_path / "control").stat().st_mode) == 0o644 & ~umask


@pytest.mark.parametrize("name", ["\ud800.ledger", "a\0b"])
def test_what_cannot_be_the_name_of_a_file_is_rejected(name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="A ledger must be the path of a file"):
        Ledger(f"{tmp_path}/{name}", limit=LIMIT)
    with pytest.raises(InvalidParameter, match="A witness must be a head"):
        Ledger(tmp_path / "people.ledger", limit=LIMIT, witness=f"{tmp_path}/{name}")
    assert not list(tmp_path.iterdir())


def test_the_keys_of_releases_without_one_are_of_checked_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A generator that repeats itself would give the answer of one release to another."""
    with Ledger(tmp_path / "people.ledger", limit=LIMIT) as ledger:
        block = os.urandom(64)
        with monkeypatch.context() as patched:
            for module in (os, entropy):
                patched.setattr(module, "urandom", lambda size: block[:size])
            spending = counting().spending()
            first = ledger.charge(spending)
            with pytest.raises(EntropyFailed, match="random generator failed"):
                ledger.charge(spending)
        second = ledger.charge(spending)
        assert first.key != second.key
        assert len(first.key) == len(second.key) == 32
        assert not second.reused


def test_the_rights_of_an_existing_file_stay_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "people.ledger"
    path.touch(mode=0o640)
    path.chmod(0o640)
    for _ in range(2):
        with Ledger(path, limit=LIMIT) as ledger:
            counting().release(7, ledger=ledger)
            assert rights(path) == dict.fromkeys(FILES, 0o640)


def test_a_link_to_a_file_that_is_missing_leads_to_a_private_one(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "people.ledger")
    with Ledger(tmp_path / "link", limit=LIMIT) as ledger:
        counting().release(7, ledger=ledger)
        assert rights(tmp_path / "people.ledger") == dict.fromkeys(FILES, 0o600)


def test_a_folder_that_is_missing_is_reported(tmp_path: Path) -> None:
    with pytest.raises(LedgerUnavailable, match="its file cannot be opened"):
        Ledger(tmp_path / "missing" / "people.ledger", limit=LIMIT)


def test_a_new_ledger_waits_for_another_process_that_creates_it(tmp_path: Path) -> None:
    path = tmp_path / "people.ledger"
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(LedgerUnavailable, match="locked it past the timeout"):
        Ledger(path, limit=LIMIT, timeout="0.1")
    later = threading.Timer(0.3, other.execute, ["COMMIT"])
    later.start()
    with Ledger(path, limit=LIMIT, timeout=60) as ledger:
        assert ledger.limit == LIMIT
    later.join()
    other.close()


def test_sqlite_itself_does_not_wait_for_such_a_process(tmp_path: Path) -> None:
    other, own = (sqlite3.connect(tmp_path / "file", timeout=60) for _ in range(2))
    other.isolation_level = own.isolation_level = None
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(sqlite3.OperationalError, match="database is locked"):
        own.execute("PRAGMA journal_mode = WAL")  # the time-out of the tests would be passed
