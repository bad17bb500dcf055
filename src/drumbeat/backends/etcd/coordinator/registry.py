"""EtcdRegistry: the live nodes, in etcd."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from datetime import timedelta
from math import ceil
from typing import NamedTuple

from drumbeat.backends.etcd.connection.client import EtcdClient
from drumbeat.backends.etcd.connection.messages import Ranged
from drumbeat.backends.etcd.connection.refusal import NOT_FOUND, Refused
from drumbeat.backends.etcd.connection.transaction import (
    Keys,
    Transaction,
    bound_to,
    delete,
    holds,
    put,
)
from drumbeat.backends.etcd.coordinator.watch import Watcher
from drumbeat.backends.http.coordinator import nodes_of
from drumbeat.backends.http.hints import Changes, Hints
from drumbeat.backends.http.keyspace import Keyspace
from drumbeat.model.encoding.document import node_to_text
from drumbeat.model.errors import Unavailable
from drumbeat.model.fleet.node import Node
from drumbeat.model.ids import NodeId


class NodeLease(NamedTuple):
    """The etcd lease that a node's entry is bound to, and its TTL."""

    number: int
    seconds: int


class EtcdRegistry:
    """Each node's entry is bound to an etcd lease of its own. TTLs are rounded up to seconds."""

    def __init__(self, client: EtcdClient, watcher: Watcher, keyspace: Keyspace) -> None:
        self._client = client
        self._watcher = watcher
        self._keyspace = keyspace
        self._nodes = Keys.below(keyspace.nodes)
        self._leases: dict[NodeId, NodeLease] = {}

    async def register(self, node: Node, ttl: timedelta) -> None:
        seconds = ceil(ttl.total_seconds())
        lease = self._leases.get(node.id)
        if lease and lease.seconds == seconds and await self._client.keep_alive(lease.number):
            try:
                await self._write(node, lease)
            except Refused as refused:
                if refused.code != NOT_FOUND:  # else the lease ended in between
                    raise
            else:
                return
        self._leases[node.id] = lease = NodeLease(await self._client.grant(seconds), seconds)
        await self._write(node, lease)

    async def deregister(self, node: NodeId) -> None:
        await self._client.transact(Transaction(then=(delete(self._keyspace.node(node)),)))
        lease = self._leases.pop(node, None)
        if lease is not None:
            with suppress(Unavailable):  # it ends by itself
                await self._client.revoke(lease.number)

    async def nodes(self) -> Sequence[Node]:
        return nodes_of(_values(await self._client.range(self._nodes)))

    def changes(self) -> AsyncIterator[None]:
        return Hints(Changes(self._watcher.clock, self._watcher.reader(self._nodes, _values)))

    async def _write(self, node: Node, lease: NodeLease) -> None:
        """Write the entry only if it differs: a heartbeat alone must not wake the watchers."""
        key, text = self._keyspace.node(node.id), node_to_text(node).encode()
        await self._client.transact(
            Transaction(
                (holds(key, text), bound_to(key, lease.number)),
                otherwise=(put(key, text, lease.number),),
            )
        )


def _values(ranged: Ranged) -> tuple[bytes, ...]:
    return tuple(found.value for found in ranged.kvs)
