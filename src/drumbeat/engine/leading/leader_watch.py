"""LeaderWatch: a follower notices that the process of the leader has ended, and evicts its lease.

Without this a dead leader is followed by another only when its lease has run out. The lease and the
fence still decide: an eviction ends one term, and makes nobody a leader.
"""

from __future__ import annotations

from drumbeat.engine.leading.elector import LeaderElector
from drumbeat.engine.leading.witness_keeper import WitnessKeeper
from drumbeat.engine.plumbing.service import Service, ServiceContext
from drumbeat.model.errors import Unavailable
from drumbeat.model.events import LeaderEvicted
from drumbeat.model.fleet.lease import Lease
from drumbeat.model.fleet.node import Vanished
from drumbeat.model.ids import NodeId
from drumbeat.ports.clock import Clock
from drumbeat.ports.coordinator import Coordinator
from drumbeat.ports.witness import Witnesses
from drumbeat.rules.leadership import witness_trust
from drumbeat.rules.leadership.lease_trust import Leading
from drumbeat.rules.leadership.witness_trust import Look, Suspicions


class LeaderWatch(Service):
    """Looks for the witness of the leader while this node follows."""

    name = "leader-watch"

    def __init__(
        self,
        elector: LeaderElector,
        keeper: WitnessKeeper,
        coordinator: Coordinator,
        context: ServiceContext,
    ) -> None:
        super().__init__(context)
        self._elector = elector
        self._keeper = keeper
        self._coordinator = coordinator
        self._lease: Lease | None = None
        """The term of the leader that has vanished; only looks after it was read count."""
        self._suspicions: Suspicions = {}
        self._last: Look | None = None
        self._patience = keeper.timings.patience
        """How long to wait, by the look at which the leader was first seen gone."""
        self._evicted: dict[NodeId, float] = {}

    async def once(self) -> float | None:
        """Look once; evict the leader if it is dead."""
        timings = self._keeper.timings
        if isinstance(self._elector.state, Leading):
            self._forget()
            return timings.look_every
        try:
            return await self._look()
        except Unavailable:  # the services that need the store or the coordinator report it
            self._forget()
            return timings.look_every

    async def _look(self) -> float:
        timings, clock = self._keeper.timings, self._runtime.clock
        look = self._last = await look_at(self._keeper.witnesses, clock, self._last)
        usual = witness_trust.look_every(look.check.expected, timings)
        pause = usual * (0.75 + self._runtime.random.random() / 2)
        if not look.check.vanished:
            self._forget()
            return pause
        lease = await self._vanished_leader(look)
        if lease is None:
            self._forget()
            return pause
        if lease != self._lease:
            self._lease, self._suspicions = lease, {}
            self._patience = self._patience_at(look)
            return 0.0  # look again now that the term is known
        patience = max(self._patience, self._patience_at(look))
        self._suspicions = witness_trust.suspected(self._suspicions, look, patience)
        if any(each.node == lease.holder for each in witness_trust.dead(self._suspicions, look)):
            await self._evict(lease)
            return pause
        return witness_trust.next_look(self._suspicions, clock.elapsed(), pause)

    def _patience_at(self, look: Look) -> float:
        timings = self._keeper.timings
        return witness_trust.patience_at(look, timings.patience, self._keeper.lost_at, timings)

    async def _vanished_leader(self, look: Look) -> Lease | None:
        """The leader's term, if the leader is among those that have vanished."""
        await self._coordinator.open()  # the node may have started while it was out of reach
        lease = await self._coordinator.leases.current(self._elector.candidacy.election)
        vanished = {each.node for each in look.check.vanished}
        return lease if lease is not None and lease.holder in vanished else None

    async def _evict(self, lease: Lease) -> None:
        now, candidacy = self._runtime.clock.elapsed(), self._elector.candidacy
        if not witness_trust.may_evict(lease.holder, self._evicted, now, candidacy.timings.ttl):
            return
        self._evicted = {
            node: at for node, at in self._evicted.items() if now - at < candidacy.timings.ttl
        }
        self._evicted[lease.holder] = now
        if await self._coordinator.leases.evict(lease):
            self._bus.emit(LeaderEvicted(lease.name, candidacy.node, lease.holder, lease.token))
        self._elector.hurry()

    def _forget(self) -> None:
        self._lease, self._suspicions = None, {}


async def look_at(witnesses: Witnesses, clock: Clock, before: Look | None = None) -> Look:
    """Check all witnesses, and note when it was asked for and answered, and who was gone before."""
    asked_at = clock.elapsed()
    check = await witnesses.check_all()
    gone = frozenset(before.check.vanished) if before is not None else frozenset[Vanished]()
    return Look(check, asked_at, clock.elapsed(), gone, witnesses.freed_together)
