"""Witnesses in memory: the executable specification, for simulated processes and for tests.

A store in memory has one process, which dies together with its store. So `MemoryStore` has no
witnesses by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from drumbeat.backends.memory.store.nodes import MemoryNodes
from drumbeat.model.errors import Unavailable
from drumbeat.model.fleet.node import Vanished, WitnessCheck


class MemoryWitness:
    """One session. `cut` ends it as the death of its process does."""

    def __init__(self, taken: dict[int, MemoryWitness], on_lost: Callable[[], None]) -> None:
        self._taken = taken
        self._on_lost = on_lost
        self._number: int | None = None

    async def take(self, number: int) -> bool:
        if self._taken.setdefault(number, self) is not self:
            return False
        self._number = number
        return True

    async def prove(self) -> None:
        if self._number is None or self._taken.get(self._number) is not self:
            raise Unavailable("the session of the witness is over")

    async def close(self) -> None:
        self.cut()

    def cut(self) -> None:
        """Free the number, without a word to the holder."""
        if self._number is not None and self._taken.get(self._number) is self:
            del self._taken[self._number]

    def lose(self) -> None:
        """Free the number, and tell the holder."""
        self.cut()
        self._on_lost()


class MemoryWitnesses:
    """The witnesses of the nodes of one store."""

    freed_together = True  # as by a server that is restarted

    def __init__(self, nodes: MemoryNodes) -> None:
        self._nodes = nodes
        self.taken: dict[int, MemoryWitness] = {}
        """Which session holds which number."""

    def session(self, on_lost: Callable[[], None]) -> MemoryWitness:
        return MemoryWitness(self.taken, on_lost)

    async def check_all(self, at: datetime | None = None) -> WitnessCheck:
        expected = await self._nodes.witnessed(at)
        vanished = tuple(each for each in expected if each.witness not in self.taken)
        return WitnessCheck(len(expected), vanished)

    async def declare_dead(self, vanished: Vanished) -> bool:
        return await self._nodes.declare_dead(vanished)
