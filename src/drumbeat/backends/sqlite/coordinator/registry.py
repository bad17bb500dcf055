"""Registry: the SQLite coordinator's list of live nodes."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import TypeAlias

from drumbeat.backends.hint_waiter import ChangeHints, HintWaiter
from drumbeat.backends.sqlite.connection.database import Database
from drumbeat.backends.sqlite.connection.hints.topics import REGISTRY
from drumbeat.backends.sqlite.connection.session import Session
from drumbeat.backends.sqlite.connection.statements import Statements
from drumbeat.backends.sqlite.connection.times import to_microseconds
from drumbeat.backends.sqlite.coordinator.machine import Machine
from drumbeat.model.encoding.document import node_from_text, node_to_text
from drumbeat.model.fleet.node import Node
from drumbeat.model.ids import NodeId

SQL = Statements("drumbeat.backends.sqlite.coordinator.statements", "registry.sql")

Listed: TypeAlias = tuple[str, ...]
"""What all live nodes say of themselves: two lists that are equal are the same list."""


class SqliteRegistry:
    """Nodes, each until its time runs out."""

    def __init__(
        self, database: Database[Session], machine: Machine, waiter: HintWaiter[int]
    ) -> None:
        self._database = database
        self._machine = machine
        self._waiter = waiter

    async def register(self, node: Node, ttl: timedelta) -> None:
        said, length = node_to_text(node), to_microseconds(ttl)

        def step(session: Session) -> None:
            bounds = self._machine.bounds()
            before = session.execute(SQL.said_before, {**bounds, "id": node.id}).fetchone()
            ends_at = self._machine.now() + length
            values = {"id": node.id, "node": said, "ends_at": ends_at, "boot": bounds["boot"]}
            session.execute(SQL.register, values)
            session.execute(SQL.delete_ended, bounds)
            if before is None or before[0] != said:
                session.hints |= REGISTRY

        await self._database.write(step)

    async def deregister(self, node: NodeId) -> None:
        def step(session: Session) -> None:
            if session.execute(SQL.deregister, (node,)).fetchall():
                session.hints |= REGISTRY

        await self._database.write(step)

    async def nodes(self) -> Sequence[Node]:
        listed, _ = await self.listed()
        return [node_from_text(said) for said in listed]

    def changes(self) -> AsyncIterator[None]:
        return ChangeHints(self._waiter, REGISTRY, self.listed)

    async def listed(self) -> tuple[Listed, timedelta | None]:
        def question(connection: sqlite3.Connection) -> tuple[Listed, int | None]:
            rows = connection.execute(SQL.nodes, self._machine.bounds()).fetchall()
            ends = [ends_at for _, ends_at in rows]
            return tuple(said for said, _ in rows), min(ends) if ends else None

        listed, ends_at = await self._database.read(question)
        return listed, self._machine.left(ends_at)
