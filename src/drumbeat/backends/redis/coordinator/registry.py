"""RedisRegistry: the live nodes, in Redis."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import TypeAlias

from drumbeat.backends.hint_waiter import ChangeHints, HintWaiter
from drumbeat.backends.redis.connection.scripts import Scripts
from drumbeat.backends.redis.connection.server import Server
from drumbeat.backends.redis.coordinator.durations import milliseconds, time_left
from drumbeat.backends.redis.coordinator.keys import Keys
from drumbeat.model.encoding.document import node_from_text, node_to_text
from drumbeat.model.fleet.node import Node
from drumbeat.model.ids import NodeId

SCRIPTS = Scripts("drumbeat.backends.redis.coordinator.scripts")
REGISTER = SCRIPTS.named("register")
DEREGISTER = SCRIPTS.named("deregister")
LISTED = SCRIPTS.named("listed")

Listed: TypeAlias = tuple[str, ...]
"""What all live nodes say of themselves: two lists that are equal are the same list."""


class RedisRegistry:
    """Nodes, each until its TTL has passed by the server's clock."""

    def __init__(self, server: Server, keys: Keys, waiter: HintWaiter[str]) -> None:
        self._server = server
        self._keys = keys
        self._waiter = waiter

    async def register(self, node: Node, ttl: timedelta) -> None:
        said, lifetime = node_to_text(node), milliseconds(ttl)
        await self._server.run(
            REGISTER, self._keys.nodes, node.id, said, lifetime, self._keys.channel
        )

    async def deregister(self, node: NodeId) -> None:
        await self._server.run(DEREGISTER, self._keys.nodes, node, self._keys.channel)

    async def nodes(self) -> Sequence[Node]:
        listed, _ = await self.listed()
        return [node_from_text(said) for said in listed]

    def changes(self) -> AsyncIterator[None]:
        return ChangeHints(self._waiter, "registry", self.listed)

    async def listed(self) -> tuple[Listed, timedelta | None]:
        """The entries of the live nodes, and how long until the first of them expires."""
        left, *flat = await self._server.run(LISTED, self._keys.nodes)
        said = dict(zip(flat[::2], flat[1::2], strict=True))
        listed = tuple(said[node].decode() for node in sorted(said))
        return listed, time_left(left) if listed else None
