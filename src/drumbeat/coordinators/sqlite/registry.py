"""Registry: the SQLite coordinator's list of live nodes."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import TypeAlias

from drumbeat.coordinators.bell import Bell
from drumbeat.coordinators.sqlite.machine import Machine
from drumbeat.coordinators.sqlite.session import CoordinatorSession
from drumbeat.model.document import node_from_text, node_to_text
from drumbeat.model.ids import NodeId
from drumbeat.model.node import Node
from drumbeat.sqlite.database import Database
from drumbeat.sqlite.instants import to_microseconds
from drumbeat.sqlite.news import REGISTRY
from drumbeat.sqlite.statements import Statements

SQL = Statements("drumbeat.coordinators.sqlite.statements", "registry.sql")

Listed: TypeAlias = tuple[str, ...]
"""What all live nodes say of themselves: two lists that are equal are the same list."""


class SqliteRegistry:
    """Nodes, each until its time runs out."""

    def __init__(
        self, database: Database[CoordinatorSession], machine: Machine, bell: Bell[int]
    ) -> None:
        self._database = database
        self._machine = machine
        self._bell = bell

    async def register(self, node: Node, ttl: timedelta) -> None:
        """List the node for another TTL."""
        said, length = node_to_text(node), to_microseconds(ttl)

        def step(session: CoordinatorSession) -> None:
            bounds = self._machine.bounds()
            before = session.execute(SQL.said_before, {**bounds, "id": node.id}).fetchone()
            ends_at = self._machine.now() + length
            values = {"id": node.id, "node": said, "ends_at": ends_at, "boot": bounds["boot"]}
            session.execute(SQL.register, values)
            session.execute(SQL.forget_ended, bounds)
            if before is None or before[0] != said:
                session.news |= REGISTRY

        await self._database.write(step)

    async def deregister(self, node: NodeId) -> None:
        """Take the node off the list."""

        def step(session: CoordinatorSession) -> None:
            if session.execute(SQL.deregister, (node,)).fetchall():
                session.news |= REGISTRY

        await self._database.write(step)

    async def nodes(self) -> Sequence[Node]:
        """The nodes whose time has not run out, ordered by identity."""
        listed, _ = await self.listed()
        return [node_from_text(said) for said in listed]

    def changes(self) -> AsyncIterator[None]:
        """A hint at once, and after each change, also when a node's time runs out."""
        return _Changes(self, self._machine, self._bell)

    async def listed(self) -> tuple[Listed, int | None]:
        """What the live nodes say, and when the first of them runs out."""

        def question(connection: sqlite3.Connection) -> tuple[Listed, int | None]:
            rows = connection.execute(SQL.nodes, self._machine.bounds()).fetchall()
            ends = [ends_at for _, ends_at in rows]
            return tuple(said for said, _ in rows), min(ends) if ends else None

        return await self._database.read(question)


class _Changes:
    """The first hint comes at once: what happened before it was asked for is then not missed."""

    def __init__(self, registry: SqliteRegistry, machine: Machine, bell: Bell[int]) -> None:
        self._registry = registry
        self._machine = machine
        self._bell = bell
        self._told: Listed | None = None
        self._ends_at: int | None = None

    def __aiter__(self) -> AsyncIterator[None]:
        return self

    async def __anext__(self) -> None:
        self._told = await self._bell.wait_for(
            REGISTRY, self._untold, lambda: self._machine.left(self._ends_at)
        )

    async def _untold(self) -> Listed | None:
        listed, self._ends_at = await self._registry.listed()
        return None if listed == self._told else listed
