"""Witnesses: how a store notices at once that the process of a node has ended.

Each node holds one number in the store for as long as its process lives. The kernel or the server
frees it when the process ends, however that happens. A process that is only paused keeps it.

A free witness is evidence and never permission. A holder that lives may have lost its witness by an
error of the network, so others wait, look again, and let the holder notice first; and whatever they
do then is refused by the lease, the fence or the heartbeat if they were wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from drumbeat.model.fleet.node import Vanished, WitnessCheck


class Witness(Protocol):
    """One session that holds a number. It is used on one event loop, and is over after an error.

    Every call may raise `Unavailable`.
    """

    async def take(self, number: int) -> bool:
        """Hold the number until this session or its process ends. False: another one holds it."""
        ...

    async def prove(self) -> None:
        """Return if the number was held by this session ever since it was taken; else raise."""
        ...

    async def close(self) -> None:
        """Free the number."""
        ...


class Witnesses(Protocol):
    """The witnesses of all nodes of a namespace."""

    @property
    def freed_together(self) -> bool:
        """Whether all numbers may be freed at once while their holders live.

        A server does that when it is restarted. The kernel frees each with its own process.
        """
        ...

    def session(self, on_lost: Callable[[], None]) -> Witness:
        """A new session on the running loop; `on_lost` is called there if it is found to be over.

        A store may miss that: `prove` finds out.
        """
        ...

    async def check_all(self, at: datetime | None = None) -> WitnessCheck:
        """The nodes with a witness that are alive by the store's clock, and who has vanished.

        The answer may be wrong about a node that lives, for a moment or for long. `at` is the
        current time, as for a store.
        """
        ...

    async def declare_dead(self, vanished: Vanished) -> bool:
        """End the lifetime of a node, as if its heartbeat had expired; its attempts are lost then.

        It expires a millisecond after its last heartbeat, so that its record says that it died.
        The same step checks that it has sent no heartbeat since. False: it has, and nothing
        changed. A later heartbeat of the node makes it live again.
        """
        ...
