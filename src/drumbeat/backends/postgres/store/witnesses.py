"""Witnesses: the PostgreSQL store's, by advisory locks of sessions.

The server frees such a lock when the session ends: at once if the process has died, since the
kernel closes its sockets then. The first number of a lock stands for the namespace, the second is
the node's. A pooler in transaction mode keeps no sessions, so behind one there are no witnesses.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from hashlib import blake2b

from drumbeat.backends.postgres.connection.database import Database
from drumbeat.backends.postgres.connection.session import Session
from drumbeat.backends.postgres.store.statements import NODES
from drumbeat.backends.postgres.store.time import checked
from drumbeat.model.errors import Unavailable
from drumbeat.model.fleet.node import Vanished, WitnessCheck
from drumbeat.model.ids import NodeId

BITS = 0x7FFFFFFF
SETTINGS = {"tcp_keepalives_idle": "30", "tcp_keepalives_interval": "10", "tcp_user_timeout": "0"}
"""Longer than a heartbeat lasts: a machine that is cut off is judged by its heartbeats."""
ENDING = 10
"""How often to ask whether an earlier session of this process has ended."""
PAUSE = 0.05


class PostgresWitness:
    """One session of the server."""

    def __init__(self, witnesses: PostgresWitnesses, on_lost: Callable[[], None]) -> None:
        self._witnesses = witnesses
        self._on_lost = on_lost
        self._session: Session | None = None
        self._process: int | None = None
        """The process of the server that took the lock for this session."""

    async def take(self, number: int) -> bool:
        """Take the lock. An earlier session of this process that still has it is ended."""
        witnesses = self._witnesses
        if self._session is None:
            self._session = await witnesses.database.session(SETTINGS, self._on_lost)
        session, sql, key = self._session, witnesses.sql, (witnesses.domain, number)
        process = await session.value(sql.take_witness, *key)
        if process is None and witnesses.process is not None:
            for _ in range(ENDING):
                await session.value(sql.end_own_session, *key, witnesses.process)
                await session.value(sql.pause, PAUSE)
                process = await session.value(sql.take_witness, *key)
                if process is not None:
                    break
        if process is None:
            return False
        self._process = witnesses.process = process
        return True

    async def prove(self) -> None:
        """A session that answers is the one that took the lock, and has it.

        A pooler may answer with another one, although the address says that it keeps sessions.
        """
        if self._session is None or self._process is None:
            raise Unavailable("the witness was not taken")
        if await self._session.value(self._witnesses.sql.prove) != self._process:
            raise Unavailable("a pooler gave its connection to the server to another client")

    async def close(self) -> None:
        session, self._session, self._process = self._session, None, None
        if session is not None:
            session.close()


class PostgresWitnesses:
    """The witnesses of all nodes of a namespace."""

    freed_together = True  # by a restart of the server

    def __init__(self, database: Database) -> None:
        self.database = database
        self.sql = NODES.of(database.names)
        digest = blake2b(f"drumbeat witness {database.names.namespace}".encode(), digest_size=4)
        self.domain = int.from_bytes(digest.digest()) & BITS
        """The first number of the locks of this namespace."""
        self.process: int | None = None
        """The process of the server that had the last session of this process."""

    def session(self, on_lost: Callable[[], None]) -> PostgresWitness:
        return PostgresWitness(self, on_lost)

    async def check_all(self, at: datetime | None = None) -> WitnessCheck:
        row = await self.database.fetch_row(self.sql.check_all, self.domain, checked(at))
        assert row is not None
        expected, *columns = row
        return WitnessCheck(
            expected,
            tuple(
                Vanished(NodeId(node), number, beat_at)
                for node, number, beat_at in zip(*columns, strict=True)
            ),
        )

    async def declare_dead(self, vanished: Vanished) -> bool:
        rows = await self.database.fetch(self.sql.declare_dead, vanished.node, vanished.beat_at)
        return bool(rows)
