"""Sessions of a PostgreSQL server that are used again, for tests with very many ledgers."""

import os
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg.pq import PGconn, TransactionStatus


class Sessions:
    """Hands a session whose connection was closed to the next that connects in the same way.

    To begin one costs a server more than a release does. Closing a connection on which nothing is
    begun changes nothing in the database, so what is tested stays the same: one in the midst of a
    transaction is closed as always, one that the server has ended is not given out, and a forked
    process begins its own. A closed connection is closed for whoever still has it.
    """

    close_returns = True  # psycopg asks this of what a connection belongs to

    def __init__(self) -> None:
        self._process = os.getpid()
        self._idle: dict[Hashable, list[Any]] = {}
        self._ways: dict[int, Hashable] = {}  # in which a session was connected, by its number

    @contextmanager
    def used_again(self) -> Iterator[None]:
        """Use sessions again within a block."""
        connect: Any = psycopg.connect

        def connect_again(*rest: Any, **more: Any) -> Any:
            if self._process != os.getpid():
                return connect(*rest, **more)
            way = (rest, tuple(sorted(more.items())))
            connection = self._taken(way, more) or connect(*rest, **more)
            self._ways[connection.info.backend_pid] = way
            connection._pool = self
            return connection

        module: Any = psycopg
        module.connect = connect_again
        try:
            yield
        finally:
            module.connect = connect
            for idle in self._idle.values():
                for session in idle:
                    session.finish()
            self._idle.clear()

    def putconn(self, connection: Any) -> None:
        """Take the session of a connection that is being closed, or end it."""
        session = connection.pgconn
        way = self._ways.pop(session.backend_pid, None)
        idle = session.transaction_status == TransactionStatus.IDLE
        if way is not None and idle and self._process == os.getpid():
            connection.pgconn = PGconn()  # which was never connected
            self._idle.setdefault(way, []).append(session)
        connection._pool = None
        connection.close()

    def ended(self, number: int) -> None:
        """Be told that the server ended a session, which its connection has yet to notice."""
        self._ways.pop(number, None)

    def _taken(self, way: Hashable, options: dict[str, Any]) -> Any:
        """Return a connection with an idle session that was connected in this way, if any."""
        if not self._idle.get(way):
            return None
        connection: Any = psycopg.Connection(self._idle[way].pop())
        connection.autocommit = options.get("autocommit", False)
        connection.prepare_threshold = options.get("prepare_threshold", 5)
        return connection
