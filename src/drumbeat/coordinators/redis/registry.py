"""Registry: the Redis coordinator's list of live nodes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import TypeAlias

from drumbeat.coordinators.bell import Bell
from drumbeat.coordinators.redis.keys import Keys
from drumbeat.coordinators.redis.lengths import milliseconds, time_left
from drumbeat.model.document import node_from_text, node_to_text
from drumbeat.model.ids import NodeId
from drumbeat.model.node import Node
from drumbeat.redis.scripts import Scripts
from drumbeat.redis.server import Server

SCRIPTS = Scripts("drumbeat.coordinators.redis.scripts")
REGISTER = SCRIPTS.named("register")
DEREGISTER = SCRIPTS.named("deregister")
LISTED = SCRIPTS.named("listed")

Listed: TypeAlias = tuple[str, ...]
"""What all live nodes say of themselves: two lists that are equal are the same list."""


class RedisRegistry:
    """Nodes, each until its time runs out by the server's clock."""

    def __init__(self, server: Server, keys: Keys, bell: Bell[str]) -> None:
        self._server = server
        self._keys = keys
        self._bell = bell

    async def register(self, node: Node, ttl: timedelta) -> None:
        """List the node for another TTL."""
        said, lifetime = node_to_text(node), milliseconds(ttl)
        await self._server.run(
            REGISTER, self._keys.nodes, node.id, said, lifetime, self._keys.channel
        )

    async def deregister(self, node: NodeId) -> None:
        """Take the node off the list."""
        await self._server.run(DEREGISTER, self._keys.nodes, node, self._keys.channel)

    async def nodes(self) -> Sequence[Node]:
        """The nodes whose time has not run out, ordered by identity."""
        listed, _ = await self.listed()
        return [node_from_text(said) for said in listed]

    def changes(self) -> AsyncIterator[None]:
        """A hint at once, and after each change, also when a node's time runs out."""
        return _Changes(self, self._bell)

    async def listed(self) -> tuple[Listed, timedelta | None]:
        """What the live nodes say, and how long until the first of them runs out."""
        left, *flat = await self._server.run(LISTED, self._keys.nodes)
        said = dict(zip(flat[::2], flat[1::2], strict=True))
        listed = tuple(said[node].decode() for node in sorted(said))
        return listed, time_left(left) if listed else None


class _Changes:
    """The first hint comes at once: what happened before it was asked for is then not missed."""

    def __init__(self, registry: RedisRegistry, bell: Bell[str]) -> None:
        self._registry = registry
        self._bell = bell
        self._told: Listed | None = None
        self._again_in: timedelta | None = None

    def __aiter__(self) -> AsyncIterator[None]:
        return self

    async def __anext__(self) -> None:
        self._told = await self._bell.wait_for("registry", self._untold, lambda: self._again_in)

    async def _untold(self) -> Listed | None:
        listed, self._again_in = await self._registry.listed()
        return None if listed == self._told else listed
