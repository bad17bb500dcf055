"""What has to be in time by a real clock: renewals beside a blocked loop, and hand-overs."""

from __future__ import annotations

import asyncio
import threading

from drumbeat import Drumbeat
from drumbeat.coordinators.memory import MemoryCoordinator
from drumbeat.engine.runtime import SystemRuntime
from drumbeat.model.events import (
    LeadershipGained,
)
from drumbeat.stores.memory import MemoryStore

from .support import PATIENCE, Heard

TRIES = 5


async def test_a_handler_that_blocks_the_event_loop_for_a_while_does_not_cost_the_lease() -> None:
    """In real time: the elector renews in a thread of its own, whatever user code does."""
    for _ in range(TRIES):
        if await _is_blocked_for_less_than_a_term():
            return
    raise AssertionError("this machine is too busy to block a loop for so short a time")


async def _is_blocked_for_less_than_a_term() -> bool:
    """Block the loop of a leader, which goes on. False: a busy machine blocked it for too long."""
    runtime = SystemRuntime()
    ttl = 4.0
    store, coordinator = MemoryStore(runtime.clock), MemoryCoordinator(runtime.clock, "test")
    apps = [
        Drumbeat(store, coordinator=coordinator, lease_ttl=ttl, retry_interval=0.1, instance_id=id_)
        for id_ in ("blocked", "other")
    ]
    leader = apps[0]
    heard = Heard(leader)

    @leader.task
    async def rude() -> float:
        since = runtime.clock.elapsed()
        threading.Event().wait(0.9 * ttl)  # a lease that this loop had renewed would be over
        return runtime.clock.elapsed() - since

    await leader.start()
    async with asyncio.timeout(PATIENCE):
        while not leader.leadership.is_leader:
            await runtime.clock.sleep(0.01)
    await apps[1].start()
    job = await rude.submit()
    blocked_for = rude.result(await leader.jobs.wait(job.id, PATIENCE))
    if blocked_for < 0.95 * ttl:
        assert leader.leadership.epoch == 1
        fence = await store.fence.read("scheduler")
        assert fence is not None
        assert (fence.epoch, fence.holder) == (1, leader.id)
        assert not [event for event in heard.events if "Leadership" in type(event).__name__][1:]
    for app in apps:
        await app.stop(0)
    return blocked_for < 0.95 * ttl


async def test_stopping_hands_leadership_over_within_a_second_of_real_time() -> None:
    took = [await _hand_over()]
    while min(took) >= 1.0 and len(took) < TRIES:  # a busy machine may be late
        took.append(await _hand_over())
    assert min(took) < 1.0


async def _hand_over() -> float:
    """How long it takes, in seconds, from the stop of a leader until another leads."""
    runtime = SystemRuntime()
    store, coordinator = MemoryStore(runtime.clock), MemoryCoordinator(runtime.clock, "test")
    first, second = (Drumbeat(store, coordinator=coordinator) for _ in range(2))
    gained = asyncio.Event()

    @second.leadership.on_gained
    def note(event: LeadershipGained) -> None:
        gained.set()

    await first.start()
    async with asyncio.timeout(PATIENCE):
        while not first.leadership.is_leader:
            await runtime.clock.sleep(0.01)
    await second.start()
    stopped_at = runtime.clock.elapsed()
    stopping = asyncio.ensure_future(first.stop(0))
    async with asyncio.timeout(PATIENCE):
        await gained.wait()
    took = runtime.clock.elapsed() - stopped_at
    await stopping
    assert second.leadership.epoch == 2
    await second.stop(0)
    return took
