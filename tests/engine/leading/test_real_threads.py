# pyright: reportPrivateUsage=false
"""What depends on real threads: renewals beside a blocked loop, and hand-overs.

No check here depends on how fast the machine is. The tests wait for events, and all intervals that
could help by themselves are far longer than the tests wait. The bounds in seconds are checked on
the fake clock, by `test_watchdog` and `test_leadership`.
"""

from __future__ import annotations

import asyncio
import threading

from drumbeat import Drumbeat, Status
from drumbeat.backends.memory.coordinator import MemoryCoordinator
from drumbeat.backends.memory.store import MemoryStore
from drumbeat.engine.plumbing.runtime import SystemRuntime
from drumbeat.model.events import LeadershipGained, LeadershipLost
from drumbeat.model.fleet.lease import Lease
from drumbeat.testing import inside
from tests.engine.support.fleet import PATIENCE, Heard

RENEWALS = 3
"""Renewals during which the event loop is blocked. One could have been under way before."""
LONG = 20 * PATIENCE
"""Seconds of a term or a pause that cannot end while a test waits."""


class Renewals:
    """Counts the renewals of a coordinator. Any thread can wait for more of them."""

    def __init__(self, coordinator: MemoryCoordinator) -> None:
        self._renew = coordinator.leases.renew
        self._count = 0
        self._changed = threading.Condition()
        setattr(coordinator.leases, "renew", self._counted)  # noqa: B010 - a Protocol's method

    async def _counted(self, lease: Lease) -> Lease | None:
        renewed = await self._renew(lease)
        with self._changed:
            self._count += renewed is not None
            self._changed.notify_all()
        return renewed

    def wait_for(self, more: int) -> bool:
        """Block this thread until there were so many more; False: they did not come."""
        with self._changed:
            wanted = self._count + more
            return self._changed.wait_for(lambda: self._count >= wanted, PATIENCE)


async def test_a_leader_renews_its_lease_while_a_handler_blocks_the_event_loop() -> None:
    """The elector renews in a thread of its own, whatever user code does."""
    runtime = SystemRuntime()
    store, coordinator = MemoryStore(runtime.clock), MemoryCoordinator(runtime.clock, "test")
    renewals = Renewals(coordinator)
    leader = Drumbeat(store, coordinator=coordinator, lease_ttl=LONG, renew_interval=0.05)
    heard = Heard(leader)

    @leader.task
    async def rude() -> bool:
        return renewals.wait_for(RENEWALS)  # never awaits, so the loop stands still

    async with leader.running():
        await heard.next(LeadershipGained)
        job = await leader.jobs.wait((await rude.submit()).id, 2 * PATIENCE)
        assert job.status is Status.COMPLETED
        assert rude.result(job), "the lease was not renewed while the loop was blocked"
        fence = await store.fence.read("scheduler")
        assert fence is not None
        assert (leader.leadership.epoch, fence.epoch, fence.holder) == (1, 1, leader.id)
        assert heard.of(LeadershipLost) == []


async def test_a_leader_that_stops_hands_over_without_waiting_for_an_interval() -> None:
    """The other learns of the vacancy at once: its next try and the end of the term are far off."""
    runtime = SystemRuntime()
    store, coordinator = MemoryStore(runtime.clock), MemoryCoordinator(runtime.clock, "test")
    first, second = (
        Drumbeat(store, coordinator=coordinator, lease_ttl=LONG, retry_interval=LONG)
        for _ in range(2)
    )
    heard = [Heard(app) for app in (first, second)]
    await first.start()
    await heard[0].next(LeadershipGained)
    await second.start()
    node = inside.node(second)
    assert node is not None
    elector = node._parts.elector
    assert elector is not None
    async with asyncio.timeout(PATIENCE):
        while not elector.tries:  # else its first try might find the vacancy
            await runtime.clock.sleep(0.01)
    stopping = asyncio.ensure_future(first.stop(0))
    await heard[1].next(LeadershipGained)
    await stopping
    assert second.leadership.epoch == 2
    await second.stop(0)
