"""Connecting: how every connection to the server is made, and what the server must be.

A connection to the server itself carries its settings from its first message on. Behind a pooler in
transaction mode a connection is lent a server's session for one transaction at a time: there is no
state to set, no statement to keep prepared, nobody to listen. Whether there is a pooler is seen at
the first connection: the process number that we were told is then not the one that answers.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Final

from drumbeat.backends.postgres.connection.address import Address, Pooler
from drumbeat.backends.postgres.connection.client import Connection, Record, connect
from drumbeat.backends.postgres.connection.failures import READ_ONLY, translated, unavailable
from drumbeat.model.errors import ConfigurationError
from drumbeat.version import VERSION

log = logging.getLogger("drumbeat.backends.postgres.connection")

OLDEST: Final = 13
"""The first version of PostgreSQL that will do."""
STATEMENTS: Final = 512
"""Prepared statements that a connection keeps."""
SLACK: Final = 2.0
"""Seconds that the server gets to say itself that something takes too long."""
_LOOK = """
SELECT pg_backend_pid() AS process,
       current_setting('server_version_num')::int AS version,
       current_setting('server_encoding') AS encoding,
       pg_is_in_recovery() OR current_setting('transaction_read_only')::bool AS read_only
"""
_SET = (
    "SELECT set_config(name, value, false) FROM unnest($1::text[], $2::text[]) AS s (name, value)"
)


@dataclass(frozen=True, slots=True)
class Limits:
    """How many connections, and how many seconds for what."""

    connections: int = 4
    """At most so many at once on each event loop; listening takes one more."""
    patience: float = 5.0
    """Until a caller that waits for a connection is told that all are busy."""
    connecting: float = 5.0
    """Until a host that does not answer is given up."""
    statement: float = 30.0
    """Until a statement is ended."""
    lock: float = 10.0
    """Until a statement that waits for another transaction is ended."""
    idle: float = 10.0
    """Until a transaction that nothing happens in is ended, by the end of its connection."""


class Connector:
    """Makes connections, and remembers what it has learnt of the server."""

    def __init__(self, address: Address, limits: Limits) -> None:
        self.address = address
        self._limits = limits
        self._pooled: bool | None = None
        if address.pooler is not None:
            self._pooled = address.pooler is Pooler.TRANSACTION
        self._looked = False

    @property
    def pooled(self) -> bool:
        """Whether a pooler lends us sessions; False while nobody knows."""
        return bool(self._pooled)

    async def connect(self) -> Connection:
        """A new connection, checked if it is the first; errors as callers should see them."""
        try:
            return await self._connect()
        except Exception as error:
            meant = translated(error, self.address)
            if meant is None:
                raise
            raise meant from self._cause(error)

    def _cause(self, error: Exception) -> Exception | None:
        """The error itself, unless it would give a secret away."""
        text = str(error)
        return error if self.address.scrubbed(text) == text else None

    async def _connect(self) -> Connection:
        if not self._looked:
            await self._look()
        settings = {} if self.pooled else self._settings()
        at_once = self.address.pooler is not Pooler.SESSION  # a pooler knows few settings
        connection = await self._reach(
            statement_cache_size=0 if self.pooled else STATEMENTS,
            server_settings=settings if at_once else {},
        )
        if settings and not at_once:
            try:
                await connection.fetch(_SET, list(settings), list(settings.values()))
            except BaseException:
                connection.terminate()
                raise
        return connection

    async def _look(self) -> None:
        """See what kind of server this is, by a connection that leaves nothing behind there."""
        connection = await self._reach(statement_cache_size=0)
        try:
            row = await connection.fetchrow(_LOOK)
            assert row is not None
            self._judge(row, connection.get_server_pid())
        finally:
            connection.terminate()
        self._looked = True

    async def _reach(self, **options: object) -> Connection:
        return await connect(
            self.address.full,
            timeout=self._limits.connecting,
            command_timeout=self._limits.statement + SLACK,
            max_cached_statement_lifetime=0,
            max_cacheable_statement_size=0,
            **options,
        )

    def _settings(self) -> dict[str, str]:
        return {
            "application_name": f"drumbeat {VERSION}",
            "statement_timeout": f"{self._limits.statement * 1000:.0f}",
            "lock_timeout": f"{self._limits.lock * 1000:.0f}",
            "idle_in_transaction_session_timeout": f"{self._limits.idle * 1000:.0f}",
            "jit": "off",
        }

    def _judge(self, row: Record, told: int) -> None:
        """Refuse what will not do."""
        shown = self.address.shown
        if row["version"] < OLDEST * 10_000:
            raise ConfigurationError(
                f"PostgreSQL at {shown} has version {row['version'] // 10_000}; "
                f"Drumbeat needs {OLDEST} or later"
            )
        if row["encoding"] != "UTF8":
            raise ConfigurationError(
                f"the database at {shown} has the encoding {row['encoding']}; Drumbeat needs UTF8"
            )
        if row["read_only"]:
            raise unavailable(self.address, READ_ONLY)
        if self._pooled is None:
            self._pooled = row["process"] != told
            if self._pooled:
                log.info(
                    "PostgreSQL at %s is behind a pooler: news is looked for every quarter of a "
                    "second (pooler=session in the address says that it keeps sessions)",
                    shown,
                )
