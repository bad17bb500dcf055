"""Registry: the PostgreSQL coordinator's list of live nodes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import TypeAlias

from drumbeat.backends.hint_waiter import ChangeHints
from drumbeat.backends.postgres.connection.database import Database
from drumbeat.backends.postgres.connection.statements import Statements
from drumbeat.backends.postgres.coordinator.news import CoordinatorWaiter, News
from drumbeat.model.encoding.document import node_from_text, node_to_text
from drumbeat.model.fleet.node import Node
from drumbeat.model.ids import NodeId

SQL = Statements("drumbeat.backends.postgres.coordinator.statements", "registry.sql")

Listed: TypeAlias = tuple[str, ...]
"""What all live nodes say of themselves: two lists that are equal are the same list."""


class PostgresRegistry:
    """Nodes, each until its time runs out."""

    def __init__(self, database: Database, waiter: CoordinatorWaiter) -> None:
        self._database = database
        self._waiter = waiter
        self._sql = SQL.of(database.names)

    async def register(self, node: Node, ttl: timedelta) -> None:
        """List the node for another TTL."""
        await self._database.fetch(self._sql.register, node.id, node_to_text(node), ttl)

    async def deregister(self, node: NodeId) -> None:
        """Take the node off the list."""
        await self._database.fetch(self._sql.deregister, node)

    async def nodes(self) -> Sequence[Node]:
        """The nodes whose time has not run out, ordered by identity."""
        listed, _ = await self.listed()
        return [node_from_text(said) for said in listed]

    def changes(self) -> AsyncIterator[None]:
        """A hint at once, and after each change, also when a node's time runs out."""
        return ChangeHints(self._waiter, News.REGISTRY, self.listed)

    async def listed(self) -> tuple[Listed, timedelta | None]:
        """What the live nodes say, and how long the first of them has left."""
        rows = await self._database.fetch(self._sql.nodes)
        remaining = min((row["remaining"] for row in rows), default=None)
        return tuple(row["node"] for row in rows), remaining
