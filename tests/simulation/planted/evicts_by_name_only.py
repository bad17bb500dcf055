"""Whoever finds any node dead ends the term that the name has by now, whoever holds it."""

# pyright: reportPrivateUsage=false

from collections.abc import Generator
from contextlib import contextmanager
from unittest.mock import patch

from drumbeat.engine.leading.leader_watch import LeaderWatch, look_at
from drumbeat.rules.leadership import witness_trust

CAUGHT_BY = {"S8"}
FOUND_AT = 3


async def _look(self: LeaderWatch) -> float:
    timings = self._keeper.timings
    look = await look_at(self._keeper.witnesses, self._runtime.clock)
    self._suspicions = witness_trust.suspected(self._suspicions, look, timings.patience)
    lease = await self._coordinator.leases.current(self._elector.candidacy.election)
    if lease is not None and witness_trust.dead(self._suspicions, look):
        await self._evict(lease)
    return timings.look_every


@contextmanager
def planted() -> Generator[None]:
    with patch.object(LeaderWatch, "_look", _look):
        yield
