"""The coordinator: appoints leaders, grants locks, lists nodes, keeps small configuration.

It gives liveness only. It may be wrong, it may forget, and two may believe that it chose them:
safety lives in the store, which takes a leader's writes only at the highest epoch it has seen.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import Protocol

from drumbeat.model.ids import NodeId
from drumbeat.model.lease import Entry, Lease
from drumbeat.model.node import Node


class Leases(Protocol):
    """Terms, for elections and for locks alike. Every name is a matter of its own.

    Any call may raise `Unavailable`, which never means "not done": the caller keeps its own
    deadline, counted from before it asked.
    """

    async def acquire(self, name: str, candidate: NodeId, ttl: timedelta) -> Lease | None:
        """A new term if the name is vacant, with a token above every earlier one; else None.

        A candidate that holds the name already is refused too: a term is acquired once.
        """
        ...

    async def renew(self, lease: Lease) -> Lease | None:
        """Lengthen this very term by its TTL from now. None: this term is over.

        Compared by holder *and* token: a later term of the same holder is not this one, and a
        term whose TTL has run out cannot be renewed even if nobody took its place.
        """
        ...

    async def release(self, lease: Lease) -> bool:
        """End this very term, and wake those who wait. False: it was over; nothing was touched."""
        ...

    async def current(self, name: str) -> Lease | None:
        """The live term of the name, if any. For showing; it may be over on arrival."""
        ...

    def vacancies(self, name: str) -> AsyncIterator[None]:
        """Hints that the name may be vacant now. They may never come, and may come in vain."""
        ...


class Registry(Protocol):
    """The nodes that are alive, each with a time to live."""

    async def register(self, node: Node, ttl: timedelta) -> None:
        """List the node for another TTL; replaces what it said before."""
        ...

    async def deregister(self, node: NodeId) -> None:
        """Take the node off the list. Harmless if it is not on it."""
        ...

    async def nodes(self) -> Sequence[Node]:
        """The nodes whose time has not run out, ordered by identity."""
        ...

    def changes(self) -> AsyncIterator[None]:
        """Hints that the list may have changed. They may never come."""
        ...


class Configuration(Protocol):
    """Small values that a fleet shares, each with the number of its last write."""

    async def get(self, key: str) -> Entry | None:
        """The value, or None."""
        ...

    async def put(self, key: str, value: bytes) -> Entry:
        """Write whatever was there; the revision rises."""
        ...

    async def compare_and_set(self, key: str, value: bytes | None, revision: int) -> Entry | None:
        """Write only if the key is still at the revision (0: does not exist). None: it was not.

        The value None deletes the key; the entry returned then carries an empty value.
        """
        ...

    def watch(self, key: str) -> AsyncIterator[Entry | None]:
        """The value now, and again after each change that is seen; None when it is deleted.

        Changes in quick succession may be seen as one; the last is always seen.
        """
        ...


class Coordinator(Protocol):
    """A place that the whole fleet can reach and agree by."""

    async def open(self) -> None:
        """Make ready for use, on the calling event loop. Calling it again does nothing."""
        ...

    async def close(self) -> None:
        """Let go of everything; leases run out by themselves."""
        ...

    @property
    def leases(self) -> Leases:
        """Elections and locks."""
        ...

    @property
    def registry(self) -> Registry:
        """The list of nodes."""
        ...

    @property
    def configuration(self) -> Configuration:
        """Shared small values."""
        ...
