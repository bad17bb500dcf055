"""HttpRegistry: the live nodes, as etcd and Consul have them in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import Generic, NamedTuple

from drumbeat.backends.http.bonds import Bond, Bonds, drop
from drumbeat.backends.http.hints import Changes, Hints, Reading
from drumbeat.backends.http.keyspace import Keyspace
from drumbeat.model.encoding.document import node_from_text, node_to_text
from drumbeat.model.errors import Unavailable
from drumbeat.model.fleet.node import Node
from drumbeat.model.ids import NodeId
from drumbeat.ports.clock import Clock


class NodeBond(NamedTuple, Generic[Bond]):
    """The bond of a node's entry, and its TTL."""

    bond: Bond
    ttl: timedelta


class HttpRegistry(ABC, Generic[Bond]):
    """Each node's entry is a key that is bound to a bond of its own."""

    def __init__(self, bonds: Bonds[Bond], keyspace: Keyspace, clock: Clock) -> None:
        self._bonds = bonds
        self._keyspace = keyspace
        self._clock = clock
        self._registered: dict[NodeId, NodeBond[Bond]] = {}

    async def register(self, node: Node, ttl: timedelta) -> None:
        key, value = self._keyspace.node(node.id), node_to_text(node).encode()
        last = self._registered.get(node.id)
        if (
            last is not None
            and last.ttl == ttl
            and await self._bonds.renew_bond(last.bond)
            and await self._write(key, value, last.bond)
        ):
            return
        bond = await self._bonds.make_bond(ttl)
        self._registered[node.id] = NodeBond(bond, ttl)
        if not await self._write(key, value, bond):
            raise Unavailable(f"the entry of the node {node.id} ended while it was written")

    async def deregister(self, node: NodeId) -> None:
        await self._delete(self._keyspace.node(node))
        last = self._registered.pop(node, None)
        if last is not None:
            await drop(self._bonds, last.bond)

    async def nodes(self) -> Sequence[Node]:
        entries = (await self._read(None)).state
        nodes = (node_from_text(value.decode()) for value in entries)
        return sorted(nodes, key=lambda node: node.id)

    def changes(self) -> AsyncIterator[None]:
        return Hints(Changes(self._clock, self._read))

    @abstractmethod
    async def _write(self, key: str, value: bytes, bond: Bond) -> bool:
        """Write an entry, unless it is the same already. False: the bond is over."""

    @abstractmethod
    async def _delete(self, key: str) -> None: ...

    @abstractmethod
    async def _read(self, since: int | None) -> Reading[tuple[bytes, ...]]:
        """Wait a while for a change of any entry since the revision, then read all."""
