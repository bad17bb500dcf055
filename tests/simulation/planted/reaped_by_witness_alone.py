"""A node whose witness is free is declared dead, although it has sent a heartbeat since."""

# pyright: reportPrivateUsage=false

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import patch

from drumbeat.backends.memory.store.witnesses import MemoryWitnesses
from drumbeat.engine.leading.leader_watch import look_at
from drumbeat.engine.maintenance.dead_nodes import DeadNodes
from drumbeat.model.fleet.node import Vanished

CAUGHT_BY = {"S14", "S23"}
FOUND_AT = 0


async def declare_dead(self: MemoryWitnesses, vanished: Vanished) -> bool:
    record = self._nodes._records[vanished.node]
    self._nodes._records[vanished.node] = replace(record, expires_at=record.beat_at)
    return True


async def declare_all_dead(self: DeadNodes) -> int:
    look = await look_at(self._keeper.witnesses, self._runtime.clock)
    for each in look.check.vanished:
        await self._keeper.witnesses.declare_dead(each)
    return len(look.check.vanished)


@contextmanager
def planted() -> Generator[None]:
    with (
        patch.object(MemoryWitnesses, "declare_dead", declare_dead),
        patch.object(DeadNodes, "declare_dead", declare_all_dead),
    ):
        yield
