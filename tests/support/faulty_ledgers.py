"""Ledgers where a fault can be made, on either store: for every test that wants one."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.ledger_files import quick_folder
from tests.support.postgres_servers import Server
from tests.support.traced_database import InDatabase
from tests.support.traced_ledgers import InFile, Kept


@contextmanager
def kept_in(store: str, server: Callable[[], Server]) -> Iterator[Kept]:
    """Keep a ledger in a file where a commit costs little, or in a database of a server's."""
    if store == "sqlite":
        with quick_folder() as folder:
            yield InFile(Path(folder))
        return
    with in_database(server()) as database, database.sessions.used_again():
        yield database


@contextmanager
def in_database(server: Server) -> Iterator[InDatabase]:
    """Keep a ledger in a database of a server's."""
    database = InDatabase(server.database())
    yield database
    database.close()
    server.answering()
    server.clear(database.where)


@pytest.fixture(params=["sqlite", "postgres"])
def kept(request: pytest.FixtureRequest) -> Iterator[Kept]:
    """A ledger on either store, where a fault can be made."""
    with kept_in(request.param, lambda: request.getfixturevalue("quick_postgres")) as found:
        yield found


@pytest.fixture
def kept_in_database(quick_postgres: Server) -> Iterator[InDatabase]:
    """A ledger in PostgreSQL, where a fault can be made."""
    with in_database(quick_postgres) as database, database.sessions.used_again():
        yield database


@pytest.fixture
def kept_in_crashing(postgres_of_its_own: Server) -> Iterator[InDatabase]:
    """A ledger on a server that may be killed."""
    with in_database(postgres_of_its_own) as database:
        yield database
