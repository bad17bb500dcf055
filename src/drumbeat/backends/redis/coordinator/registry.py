"""RedisRegistry: the live nodes, in Redis."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta

from drumbeat.backends.hint_waiter import ChangeHints, HintWaiter
from drumbeat.backends.redis.connection.server import Server
from drumbeat.backends.redis.coordinator.durations import milliseconds, time_left
from drumbeat.backends.redis.coordinator.keys import Keys
from drumbeat.backends.redis.coordinator.scripts import SCRIPTS
from drumbeat.model.encoding.document import node_from_text, node_to_text
from drumbeat.model.fleet.node import Node
from drumbeat.model.ids import NodeId


class RedisRegistry:
    """Nodes, each until its TTL has passed by the server's clock."""

    def __init__(self, server: Server, keys: Keys, waiter: HintWaiter[str]) -> None:
        self._server = server
        self._keys = keys
        self._waiter = waiter

    async def register(self, node: Node, ttl: timedelta) -> None:
        text, lifetime = node_to_text(node), milliseconds(ttl)
        await self._server.run(
            SCRIPTS["register"], self._keys.nodes, node.id, text, lifetime, self._keys.channel
        )

    async def deregister(self, node: NodeId) -> None:
        await self._server.run(SCRIPTS["deregister"], self._keys.nodes, node, self._keys.channel)

    async def nodes(self) -> Sequence[Node]:
        listed, _ = await self.listed()
        return [node_from_text(text) for text in listed]

    def changes(self) -> AsyncIterator[None]:
        return ChangeHints(self._waiter, "registry", self.listed)

    async def listed(self) -> tuple[tuple[str, ...], timedelta | None]:
        """The entries of the live nodes, and how long until the first of them expires."""
        left, *flat = await self._server.run(SCRIPTS["listed"], self._keys.nodes)
        entries = dict(zip(flat[::2], flat[1::2], strict=True))
        listed = tuple(entries[node].decode() for node in sorted(entries))
        return listed, time_left(left) if listed else None
