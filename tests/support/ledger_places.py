"""Places where tests begin ledgers: each test runs once with SQLite and once with PostgreSQL."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.support.postgres_servers import Server


@pytest.fixture(params=["sqlite", "postgres"])
def places(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Iterator[str]]:
    """Any number of places where a fresh ledger can be begun, on either store."""
    if request.param == "sqlite":
        yield (str(tmp_path / f"people{number}.ledger") for number in count())
        return
    server: Server = request.getfixturevalue("postgres")
    given: list[str] = []

    def further() -> Iterator[str]:
        while True:
            given.append(server.database())
            yield given[-1]

    yield further()
    for address in given:
        server.clear(address)


@pytest.fixture
def place(places: Iterator[str]) -> str:
    """Where a fresh ledger can be begun, on either store."""
    return next(places)
