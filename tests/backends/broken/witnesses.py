"""Broken witnesses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from drumbeat.backends.memory.store import MemoryStore
from drumbeat.backends.memory.store.witnesses import MemoryWitness, MemoryWitnesses
from drumbeat.model.fleet.node import Vanished, WitnessCheck
from drumbeat.ports.clock import Clock


class _Shared(MemoryWitness):
    async def take(self, number: int) -> bool:
        self._taken[number] = self
        self._number = number
        return True


class TakesWhatIsHeld(MemoryWitnesses):
    """Gives a number to whoever asks."""

    def session(self, on_lost: Callable[[], None]) -> MemoryWitness:
        return _Shared(self.taken, on_lost)


class _Confident(MemoryWitness):
    async def prove(self) -> None:
        """Nothing is looked at."""


class ProvesByMemory(MemoryWitnesses):
    """Says that the number is held because it was."""

    def session(self, on_lost: Callable[[], None]) -> MemoryWitness:
        return _Confident(self.taken, on_lost)


class _Lasting(MemoryWitness):
    def cut(self) -> None:
        """Nothing is freed."""


class NeverFrees(MemoryWitnesses):
    """Keeps a number after its session."""

    def session(self, on_lost: Callable[[], None]) -> MemoryWitness:
        return _Lasting(self.taken, on_lost)


class AccusesEverybody(MemoryWitnesses):
    """Takes every node for dead, whether or not its number is held."""

    async def check_all(self, at: datetime | None = None) -> WitnessCheck:
        expected = await self._nodes.witnessed(at)
        return WitnessCheck(len(expected), tuple(expected))


class MissesEverybody(MemoryWitnesses):
    """Never takes a node for dead."""

    async def check_all(self, at: datetime | None = None) -> WitnessCheck:
        return replace(await super().check_all(at), vanished=())


class BuriesByNameOnly(MemoryWitnesses):
    """Buries a node that has sent a heartbeat since."""

    async def declare_dead(self, vanished: Vanished) -> bool:
        known = {each.node: each for each in await self._nodes.witnessed()}
        known |= {
            record.node.id: Vanished(record.node.id, 0, record.beat_at)
            for record in await self._nodes.list()
        }
        found = known.get(vanished.node)
        return found is not None and await self._nodes.declare_dead(found)


class BuriesInWordsOnly(MemoryWitnesses):
    """Says that it has declared the node dead, and changes nothing."""

    async def declare_dead(self, vanished: Vanished) -> bool:
        return True


def store_with_witnesses(kind: type[MemoryWitnesses], clock: Clock) -> MemoryStore:
    """A memory store with these witnesses."""
    store = MemoryStore(clock)
    store.witnesses = kind(store.nodes)
    return store
