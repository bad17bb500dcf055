"""Registry: the etcd coordinator's list of live nodes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from datetime import timedelta
from math import ceil
from typing import NamedTuple, TypeAlias

from drumbeat.coordinators.etcd.client import EtcdClient
from drumbeat.coordinators.etcd.hints import Glance, Hints, Interest, Watcher
from drumbeat.coordinators.etcd.keyspace import Keyspace
from drumbeat.coordinators.etcd.refusal import NOT_FOUND, Refused
from drumbeat.coordinators.etcd.transaction import Transaction, bound_to, delete, holds, put
from drumbeat.model.document import node_from_text, node_to_text
from drumbeat.model.errors import Unavailable
from drumbeat.model.ids import NodeId
from drumbeat.model.node import Node

Listed: TypeAlias = tuple[bytes, ...]
"""What all live nodes say of themselves: two lists that are equal are the same list."""


class Tie(NamedTuple):
    """The lease that a node's entry lives by, and for how long."""

    number: int
    seconds: int


class EtcdRegistry:
    """Nodes, each bound to a lease of its own."""

    def __init__(self, client: EtcdClient, watcher: Watcher, keyspace: Keyspace) -> None:
        self._client = client
        self._watcher = watcher
        self._keyspace = keyspace
        self._ties: dict[NodeId, Tie] = {}

    async def register(self, node: Node, ttl: timedelta) -> None:
        """List the node for another TTL, rounded up to whole seconds."""
        seconds = ceil(ttl.total_seconds())
        tie = self._ties.get(node.id)
        if tie is not None and tie.seconds == seconds and await self._client.keep_alive(tie.number):
            try:
                await self._write(node, tie)
            except Refused as refused:
                if refused.code != NOT_FOUND:  # the lease ended in between
                    raise
            else:
                return
        self._ties[node.id] = tie = Tie(await self._client.grant(seconds), seconds)
        await self._write(node, tie)

    async def deregister(self, node: NodeId) -> None:
        """Take the node off the list."""
        await self._client.transact(Transaction(then=(delete(self._keyspace.node(node)),)))
        tie = self._ties.pop(node, None)
        if tie is not None:
            with suppress(Unavailable):  # it ends by itself
                await self._client.revoke(tie.number)

    async def nodes(self) -> Sequence[Node]:
        """The nodes whose time has not run out, ordered by identity."""
        glance = await self._look()
        nodes = [node_from_text(said.decode()) for said in glance.seen]
        return sorted(nodes, key=lambda node: node.id)

    def changes(self) -> AsyncIterator[None]:
        """A hint at once, and after each change, also when a node's time runs out."""
        return _Changes(
            Hints(self._watcher, Interest(self._keyspace.nodes, self._look, _is_another))
        )

    async def _write(self, node: Node, tie: Tie) -> None:
        """Written only if it is not there already: a heartbeat alone shall wake nobody."""
        key, said = self._keyspace.node(node.id), node_to_text(node).encode()
        await self._client.transact(
            Transaction(
                (holds(key, said), bound_to(key, tie.number)),
                otherwise=(put(key, said, tie.number),),
            )
        )

    async def _look(self) -> Glance[Listed]:
        ranged = await self._client.range(self._keyspace.nodes)
        return Glance(tuple(found.value for found in ranged.kvs), ranged.header.revision)


class _Changes:
    """The first hint comes at once: what happened before it was asked for is then not missed."""

    def __init__(self, hints: Hints[Listed]) -> None:
        self._hints = hints

    def __aiter__(self) -> AsyncIterator[None]:
        return self

    async def __anext__(self) -> None:
        await anext(self._hints)


def _is_another(told: Listed | None, seen: Listed) -> bool:
    return told != seen
