"""The connector: opens connections, and checks the server at the first one.

A direct connection sends its settings when it is opened. A pooler in transaction mode assigns a
session of the server for one transaction at a time, so a connection through it has no settings, no
prepared statements and no notifications. The first connection detects such a pooler: the process
number that it was given differs from that of the process that answers.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from drumbeat.backends.postgres.connection.address import Address, Pooler
from drumbeat.backends.postgres.connection.client import Connection, Record, connect
from drumbeat.backends.postgres.connection.failures import READ_ONLY, translated, unavailable
from drumbeat.model.errors import ConfigurationError
from drumbeat.version import VERSION

log = logging.getLogger("drumbeat.backends.postgres.connection")

OLDEST: Final = 13
"""The lowest version of PostgreSQL that is supported."""
STATEMENTS: Final = 512
"""How many prepared statements a connection keeps."""
SLACK: Final = 2.0
"""Seconds that the server gets to end a statement itself before the client does."""
NO_SETTINGS: Final[Mapping[str, str]] = MappingProxyType({})
_FACTS = """
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
    """The number of connections, and time-outs in seconds."""

    connections: int = 4
    """The most at once on each event loop; the listener uses one more."""
    patience: float = 5.0
    """For a caller that waits for a free connection."""
    connecting: float = 5.0
    """For a host that does not answer."""
    statement: float = 30.0
    """For a statement."""
    lock: float = 10.0
    """For a statement that waits for another transaction."""
    idle: float = 10.0
    """For a transaction in which no statement runs; the server ends its connection."""


class Connector:
    """Opens connections, and remembers whether there is a pooler."""

    def __init__(self, address: Address, limits: Limits) -> None:
        self.address = address
        self._limits = limits
        self._pooled = None if address.pooler is None else address.pooler is Pooler.TRANSACTION
        self._checked = False

    @property
    def pooled(self) -> bool:
        """Whether there is a pooler in transaction mode; False until it is known."""
        return bool(self._pooled)

    async def connect(self, settings: Mapping[str, str] = NO_SETTINGS) -> Connection:
        """A new connection; the first call checks the server. Errors are those for callers.

        `settings` are those of the server for this session, in addition to the usual ones.
        """
        try:
            return await self._connect(settings)
        except Exception as error:
            meant = translated(error, self.address)
            if meant is None:
                raise
            secret = self.address.scrubbed(str(error)) != str(error)
            raise meant from None if secret else error

    async def _connect(self, more: Mapping[str, str]) -> Connection:
        if not self._checked:
            await self._check()
        settings = {} if self.pooled else {**self._settings(), **more}
        at_once = self.address.pooler is not Pooler.SESSION  # a pooler accepts few settings
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

    async def _check(self) -> None:
        """Check the server over a connection of its own."""
        connection = await self._reach(statement_cache_size=0)
        try:
            row = await connection.fetchrow(_FACTS)
            assert row is not None
            self._judge(row, connection.get_server_pid())
        finally:
            connection.terminate()
        self._checked = True

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

    def _judge(self, row: Record, process: int) -> None:
        """Reject a server that cannot be used, and detect a pooler."""
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
            self._pooled = row["process"] != process
            if self._pooled:
                log.info(
                    "PostgreSQL at %s is behind a pooler: polling for changes every quarter of a "
                    "second (pooler=session in the address says that it keeps sessions)",
                    shown,
                )
