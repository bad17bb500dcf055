"""ConsulRegistry: the live nodes, in Consul."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import NamedTuple

from drumbeat.backends.consul.connection.client import ConsulClient, Objected
from drumbeat.backends.consul.connection.messages import delete, lock
from drumbeat.backends.http.coordinator import nodes_of
from drumbeat.backends.http.hints import Changes, Hints, Reading
from drumbeat.backends.http.keyspace import Keyspace
from drumbeat.model.encoding.document import node_to_text
from drumbeat.model.errors import Unavailable
from drumbeat.model.fleet.node import Node
from drumbeat.model.ids import NodeId
from drumbeat.ports.clock import Clock


class NodeSession(NamedTuple):
    """The session that has locked a node's entry, and its TTL."""

    id: str
    ttl: timedelta


class ConsulRegistry:
    """Each node's entry is locked by a session of its own."""

    def __init__(self, client: ConsulClient, clock: Clock, keyspace: Keyspace) -> None:
        self._client = client
        self._clock = clock
        self._keyspace = keyspace
        self._sessions: dict[NodeId, NodeSession] = {}

    async def register(self, node: Node, ttl: timedelta) -> None:
        session = self._sessions.get(node.id)
        if not (session and session.ttl == ttl and await self._client.renew_session(session.id)):
            session = NodeSession(await self._client.make_session(ttl), ttl)
            self._sessions[node.id] = session
        key, text = self._keyspace.node(node.id), node_to_text(node).encode()
        entry = lock(key, text, session.id)  # Consul changes nothing if the entry is the same
        if isinstance(await self._client.transact(entry), Objected):
            # An earlier session of this node still has the lock.
            await self._client.transact(delete(key), entry)

    async def deregister(self, node: NodeId) -> None:
        await self._client.transact(delete(self._keyspace.node(node)))
        session = self._sessions.pop(node, None)
        if session is not None:
            with suppress(Unavailable):  # it ends by itself
                await self._client.end_session(session.id)

    async def nodes(self) -> Sequence[Node]:
        return nodes_of((await self._read(None)).state)

    def changes(self) -> AsyncIterator[None]:
        return Hints(Changes(self._clock, self._read))

    async def _read(self, since: int | None) -> Reading[tuple[bytes, ...]]:
        found = await self._client.find_below(self._keyspace.nodes, since or 0)
        values = tuple(each.value or b"" for each in found.keys if each.session)
        return Reading(values, found.index)
