"""PostgresRegistry: the live nodes, in PostgreSQL."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta

from drumbeat.backends.hint_waiter import ChangeHints, HintWaiter
from drumbeat.backends.postgres.connection.database import Database
from drumbeat.backends.postgres.connection.statements import Statements
from drumbeat.model.encoding.document import node_from_text, node_to_text
from drumbeat.model.fleet.node import Node
from drumbeat.model.ids import NodeId

SQL = Statements("drumbeat.backends.postgres.coordinator.statements", "registry.sql")


class PostgresRegistry:
    """Nodes, each until its TTL has passed by the server's clock."""

    def __init__(self, database: Database, waiter: HintWaiter[str]) -> None:
        self._database = database
        self._waiter = waiter
        self._sql = SQL.of(database.names)

    async def register(self, node: Node, ttl: timedelta) -> None:
        await self._database.fetch(self._sql.register, node.id, node_to_text(node), ttl)

    async def deregister(self, node: NodeId) -> None:
        await self._database.fetch(self._sql.deregister, node)

    async def nodes(self) -> Sequence[Node]:
        listed, _ = await self.listed()
        return [node_from_text(node) for node in listed]

    def changes(self) -> AsyncIterator[None]:
        return ChangeHints(self._waiter, "registry", self.listed)

    async def listed(self) -> tuple[tuple[str, ...], timedelta | None]:
        """The entries of the live nodes, and how long until the first of them expires."""
        rows = await self._database.fetch(self._sql.nodes)
        remaining = min((row["remaining"] for row in rows), default=None)
        return tuple(row["node"] for row in rows), remaining
