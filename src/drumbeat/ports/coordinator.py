"""The coordinator: elects leaders, grants locks, lists nodes and keeps small shared values.

It gives liveness only. It may be wrong, it may lose data, and two nodes may both believe that they
lead. Safety is in the store, which accepts a leader's writes only with the highest epoch.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from drumbeat.model.fleet.lease import Entry, Lease
    from drumbeat.model.fleet.node import Node
    from drumbeat.model.ids import NodeId


class Leases(Protocol):
    """Terms of elections and of locks. Names are independent of each other.

    Any call may raise `Unavailable`: the outcome is unknown, and the caller keeps its own deadline,
    counted from before it sent the request.
    """

    async def acquire(self, name: str, candidate: NodeId, ttl: timedelta) -> Lease | None:
        """A new term if the name is vacant, with a token above every earlier one; else None.

        A candidate that holds the name already gets None too: a term is acquired once.
        """
        ...

    async def renew(self, lease: Lease) -> Lease | None:
        """Extend this term by its TTL from now. None: this term is over.

        Compares holder *and* token: a later term of the same holder is another one. A term whose
        TTL has passed cannot be renewed, even if the name is vacant.
        """
        ...

    async def release(self, lease: Lease) -> bool:
        """End this term, and hint those who wait. False: it was over, and nothing changed."""
        ...

    async def evict(self, lease: Lease) -> bool:
        """End the term of a holder that is dead, and hint those who wait. Anyone may call it.

        Compares holder *and* token: a later term, also of the same holder, is never ended. False:
        this term was over, or is not for others to end, and nothing changed.
        """
        ...

    async def current(self, name: str) -> Lease | None:
        """The live term of the name, if any. For display: it may end at any time."""
        ...

    def vacancies(self, name: str) -> AsyncIterator[None]:
        """Hints that the name may be vacant now. They may be missing or spurious."""
        ...


class Registry(Protocol):
    """The live nodes, each with a TTL."""

    async def register(self, node: Node, ttl: timedelta) -> None:
        """List the node for another TTL, and replace its earlier entry."""
        ...

    async def deregister(self, node: NodeId) -> None:
        """Remove the node from the list. Harmless if it is not listed."""
        ...

    async def nodes(self) -> Sequence[Node]:
        """The nodes whose TTL has not passed, ordered by identity."""
        ...

    def changes(self) -> AsyncIterator[None]:
        """Hints that the list may have changed. They may be missing."""
        ...


class Configuration(Protocol):
    """Small values that a fleet shares, each with the revision of its last write."""

    async def get(self, key: str) -> Entry | None: ...

    async def put(self, key: str, value: bytes) -> Entry:
        """Write the value unconditionally; the revision rises."""
        ...

    async def compare_and_set(self, key: str, value: bytes | None, revision: int) -> Entry | None:
        """Write only if the key is still at the revision (0: it does not exist). None: it is not.

        The value None deletes the key; the returned entry then has an empty value.
        """
        ...

    def watch(self, key: str) -> AsyncIterator[Entry | None]:
        """The value now, and again after each change; None when it is deleted.

        Changes in quick succession may come as one; the last one always comes.
        """
        ...


class Coordinator(Protocol):
    """A service that all nodes of a fleet reach."""

    async def open(self) -> None:
        """Connect on the calling event loop. Calling it again does nothing."""
        ...

    async def close(self) -> None:
        """Release all connections. Leases are not released: they expire by their TTL."""
        ...

    @property
    def leases(self) -> Leases: ...

    @property
    def registry(self) -> Registry: ...

    @property
    def configuration(self) -> Configuration: ...
