"""An election of real electors, and an eye on them: no two may act at once, on one clock."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from drumbeat.engine.leading.candidacy import Candidacy
from drumbeat.engine.leading.elector import LeaderElector
from drumbeat.engine.plumbing.bus import Bus
from drumbeat.engine.plumbing.runtime import SystemRuntime
from drumbeat.model.fleet.lease import Lease
from drumbeat.model.ids import node_id
from drumbeat.ports.coordinator import Coordinator
from drumbeat.rules.leadership.lease_trust import Leading, LeaseTimings

TTL = 4.0
TIMINGS = LeaseTimings(TTL, renew_every=0.8, request_timeout=1.2, margin=0.5, drift=0.01)
"""A busy machine may take a second for an answer, and no elector loses touch by that."""
PATIENCE = 30.0
"""Seconds that a busy machine may take for what comes by itself."""
NEVER = 3600.0
"""Seconds between two tries without a hint: a follower that leads was told of the vacancy."""
NAMES = ("anne", "bert", "carl")
clock = SystemRuntime().clock


class Doubled(AssertionError):
    """Two electors took themselves for the leader at once."""


class Election:
    """Electors of one election, and an eye on them."""

    def __init__(self, *connects: Callable[[], Coordinator], retry_every: float = 0.5) -> None:
        runtime = SystemRuntime()
        self.electors = [
            LeaderElector(
                Candidacy("scheduler", node_id(name, 0), TIMINGS, retry_every),
                connect,
                runtime,
                Bus(clock),
            )
            for name, connect in zip(NAMES, connects, strict=False)
        ]
        self.terms: list[Lease] = []

    @asynccontextmanager
    async def held(self) -> AsyncGenerator[Election]:
        """Hold the election, which the first wins; whoever watches raises `Doubled` in the body."""
        async with asyncio.TaskGroup() as group:
            eye = group.create_task(self._watch())
            first, *others = self.electors
            try:
                first.start()
                await self.leader()
                for elector in others:
                    elector.start()
                await self.all_have_tried()
                yield self
            finally:
                await asyncio.gather(*(elector.stop() for elector in self.electors))
                eye.cancel()

    async def all_have_tried(self) -> None:
        """Wait until the others know the server: one that comes later knows nothing of its past."""
        async with asyncio.timeout(PATIENCE):
            while any(each.outage or not each.tries for each in self.electors[1:]):
                await clock.sleep(0.005)

    def acting(self) -> list[Lease]:
        """The terms in which somebody may act right now."""
        states = [elector.state for elector in self.electors]
        return [
            state.lease
            for state, elector in zip(states, self.electors, strict=True)
            if isinstance(state, Leading) and elector.may_act(state.lease)
        ]

    async def leader(self, but: Lease | None = None) -> Lease:
        """Wait until somebody leads, in another term than that."""
        async with asyncio.timeout(PATIENCE):
            while True:
                for lease in self.acting():
                    if lease != but:
                        return lease
                await clock.sleep(0.005)

    async def nobody(self, within: float) -> None:
        """Wait until nobody may act, and see nobody act later than that."""
        since = looked_at = clock.elapsed()
        while acting := self.acting():
            assert looked_at - since < within, f"{acting} after {looked_at - since:g} s"
            await clock.sleep(0.005)
            looked_at = clock.elapsed()

    def nobody_acts_in_a_term_before(self, lease: Lease) -> bool:
        """Whether those who may act now were appointed then or later."""
        return all(acting.token >= lease.token for acting in self.acting())

    def elector_of(self, lease: Lease) -> LeaderElector:
        (elector,) = (each for each in self.electors if each.candidacy.node == lease.holder)
        return elector

    async def _watch(self) -> None:
        while True:
            acting = self.acting()
            if len(acting) > 1:
                raise Doubled(f"{acting} at once")
            for lease in acting:
                if lease not in self.terms:
                    self.terms.append(lease)
                elif any(follows(later, lease) for later in self.terms):
                    raise Doubled(f"{lease} went on after {self.terms}")
            await clock.sleep(0.002)


def follows(later: Lease, earlier: Lease) -> bool:
    """Whether one server has granted it after the other."""
    return later.domain == earlier.domain and later.token > earlier.token


def in_a_thread(act: Callable[[], object]) -> asyncio.Future[object]:
    """Do something that blocks beside the event loop."""
    return asyncio.ensure_future(asyncio.to_thread(act))
