"""Registry: the PostgreSQL coordinator's list of live nodes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import TypeAlias

from drumbeat.coordinators.postgres.news import News, NewsBell
from drumbeat.model.document import node_from_text, node_to_text
from drumbeat.model.ids import NodeId
from drumbeat.model.node import Node
from drumbeat.postgres.database import Database
from drumbeat.postgres.statements import Statements

SQL = Statements("drumbeat.coordinators.postgres.statements", "registry.sql")

Listed: TypeAlias = tuple[str, ...]
"""What all live nodes say of themselves: two lists that are equal are the same list."""


class PostgresRegistry:
    """Nodes, each until its time runs out."""

    def __init__(self, database: Database, bell: NewsBell) -> None:
        self._database = database
        self._bell = bell
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
        return _Changes(self, self._bell)

    async def listed(self) -> tuple[Listed, timedelta | None]:
        """What the live nodes say, and how long the first of them has left."""
        rows = await self._database.fetch(self._sql.nodes)
        remaining = min((row["remaining"] for row in rows), default=None)
        return tuple(row["node"] for row in rows), remaining


class _Changes:
    """The first hint comes at once: what happened before it was asked for is then not missed."""

    def __init__(self, registry: PostgresRegistry, bell: NewsBell) -> None:
        self._registry = registry
        self._bell = bell
        self._told: Listed | None = None
        self._remaining: timedelta | None = None

    def __aiter__(self) -> AsyncIterator[None]:
        return self

    async def __anext__(self) -> None:
        self._told = await self._bell.wait_for(News.REGISTRY, self._untold, lambda: self._remaining)

    async def _untold(self) -> Listed | None:
        listed, self._remaining = await self._registry.listed()
        return None if listed == self._told else listed
