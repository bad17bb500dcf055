"""A term of leadership for benchmarks of the ticker, which measure no election."""

from __future__ import annotations

from datetime import timedelta

from drumbeat.backends.memory.coordinator import MemoryCoordinator
from drumbeat.engine.leading.candidacy import Candidacy
from drumbeat.engine.leading.elector import LeaderElector
from drumbeat.engine.leading.leadership import Term
from drumbeat.engine.plumbing.bus import Bus
from drumbeat.model.fleet.lease import SCHEDULER, Epoch, Lease
from drumbeat.model.ids import NodeId
from drumbeat.ports.store import Store
from drumbeat.rules.leadership.lease_trust import LeaseTimings
from drumbeat.testing import FakeRuntime

NODE = NodeId("bench:1")


class EndlessTerm(Term):
    """A term that never ends."""

    def may_act(self) -> bool:
        return True

    async def confirm(self) -> bool:
        return True


async def endless_term(store: Store, token: int, runtime: FakeRuntime) -> EndlessTerm:
    """Claim the fence of the store with this token."""
    lease = Lease(SCHEDULER, NODE, "bench", token, timedelta(seconds=10))
    epoch = await store.fence.claim(lease)
    assert isinstance(epoch, Epoch)
    candidacy = Candidacy(SCHEDULER, NODE, LeaseTimings.for_ttl(10), 1.0)
    elector = LeaderElector(
        candidacy,
        lambda: MemoryCoordinator(runtime.clock, "bench"),
        runtime,
        Bus(runtime.clock),
    )
    return EndlessTerm(lease, epoch, elector)
