"""Registry: the Consul coordinator's list of live nodes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import NamedTuple, TypeAlias

from drumbeat.coordinators.consul.client import ConsulClient, Looked, Objected
from drumbeat.coordinators.consul.hints import Hints, Interest
from drumbeat.coordinators.consul.keyspace import Keyspace
from drumbeat.coordinators.consul.messages import delete, lock
from drumbeat.model.document import node_from_text, node_to_text
from drumbeat.model.errors import Unavailable
from drumbeat.model.ids import NodeId
from drumbeat.model.node import Node
from drumbeat.ports.clock import Clock

Listed: TypeAlias = tuple[bytes, ...]
"""What all live nodes say of themselves: two lists that are equal are the same list."""


class Tie(NamedTuple):
    """The session that a node's entry lives by, and for how long."""

    session: str
    ttl: timedelta


class ConsulRegistry:
    """Nodes, each locked by a session of its own."""

    def __init__(self, client: ConsulClient, clock: Clock, keyspace: Keyspace) -> None:
        self._client = client
        self._clock = clock
        self._keyspace = keyspace
        self._ties: dict[NodeId, Tie] = {}

    async def register(self, node: Node, ttl: timedelta) -> None:
        """List the node for another TTL."""
        tie = self._ties.get(node.id)
        kept = tie is not None and tie.ttl == ttl and await self._client.renew_session(tie.session)
        if tie is None or not kept:
            self._ties[node.id] = tie = Tie(await self._client.make_session(ttl), ttl)
        key, said = self._keyspace.node(node.id), node_to_text(node).encode()
        entry = lock(key, said, tie.session)  # leaves it alone if it says so already
        if isinstance(await self._client.transact(entry), Objected):
            # A session of the past has it. What it said is over, and the entry is ours.
            await self._client.transact(delete(key), entry)

    async def deregister(self, node: NodeId) -> None:
        """Take the node off the list."""
        await self._client.transact(delete(self._keyspace.node(node)))
        tie = self._ties.pop(node, None)
        if tie is not None:
            with suppress(Unavailable):  # it ends by itself
                await self._client.end_session(tie.session)

    async def nodes(self) -> Sequence[Node]:
        """The nodes whose time has not run out, ordered by identity."""
        listed = _listed(await self._look(0))
        return sorted((node_from_text(said.decode()) for said in listed), key=lambda node: node.id)

    def changes(self) -> AsyncIterator[None]:
        """A hint at once, and after each change, also when a node's time runs out."""
        return _Changes(
            Hints(self._clock, Interest(self._look, _listed, lambda told, seen: told != seen))
        )

    async def _look(self, index: int) -> Looked:
        return await self._client.look_below(self._keyspace.nodes, index)


class _Changes:
    """The first hint comes at once: what happened before it was asked for is then not missed."""

    def __init__(self, hints: Hints[Listed]) -> None:
        self._hints = hints

    def __aiter__(self) -> AsyncIterator[None]:
        return self

    async def __anext__(self) -> None:
        await anext(self._hints)


def _listed(looked: Looked) -> Listed:
    return tuple(found.value or b"" for found in looked.found if found.session)
