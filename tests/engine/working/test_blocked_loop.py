"""An event loop that is busy: with handlers that never await, and with a full buffer."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from drumbeat import Status
from drumbeat.engine.working.slots import TURN
from drumbeat.model.fleet.node import Role
from drumbeat.model.jobs.job import Change
from tests.engine.support.fleet import Fleet, SkewedClock
from tests.engine.support.slow_store import Far

WORKER = (Role.WORKER,)


async def test_the_event_loop_has_its_turn_while_a_full_buffer_is_run(
    fleet: Fleet, far: Far
) -> None:
    app = fleet.app(concurrency=20)
    loop = asyncio.get_running_loop()
    ran = 0
    waited: list[int] = []

    @app.task
    async def work() -> None:
        nonlocal ran
        ran += 1
        if ran % 200 == 0:
            asked_at = ran
            loop.call_soon(lambda: waited.append(ran - asked_at))

    await work.submit_many([()] * 5_000)
    async with fleet.running(app, roles=WORKER):
        await fleet.clock.until(app.wait_until_idle(), "1m")
    assert max(far.sizes) > 4 * TURN
    assert max(waited) <= 2 * TURN


class BlockedClock(SkewedClock):
    """A clock on which a handler can let time pass that it does not share with anybody."""

    lag = 0.0

    def elapsed(self) -> float:
        return super().elapsed() + self.lag

    def block(self, seconds: float) -> None:
        self.lag += seconds


@pytest.mark.parametrize("seconds", [0.03, 0.06, 0.3])
async def test_handlers_that_keep_the_loop_to_themselves_hold_nobody_up_and_fill_all_slots(
    fleet: Fleet, far: Far, seconds: float
) -> None:
    """Free slots that start nothing: what waits for them goes back, and they are filled anew."""
    clock = BlockedClock(fleet.clock, timedelta(0))
    app = fleet.app(clock, concurrency=20)

    @app.task
    async def work() -> None:
        clock.block(seconds)
        await fleet.clock.sleep(3600)

    jobs = await work.submit_many([()] * 40)
    async with fleet.running(app, roles=WORKER):
        await fleet.clock.advance(5)
        now = [await app.jobs.get(job.id) for job in jobs]
        assert sum(job.status is Status.RUNNING for job in now) == 20
        assert {job.attempt for job in now} == {0, 1}
        # The first bite is the only one that was too large by far.
        given_back = [each for batch in far.settled for each in batch]
        assert {each.change for each in given_back} <= {Change.GIVE_BACK}
        assert len(given_back) <= 30


@pytest.mark.parametrize("second", range(2, 20))
async def test_slots_are_filled_however_the_allowance_falls_meanwhile(
    fleet: Fleet, far: Far, second: int
) -> None:
    """One handler keeps the loop until the node gives up, a later one not quite so long."""
    clock = BlockedClock(fleet.clock, timedelta(0))
    app = fleet.app(clock, concurrency=20)
    started = 0

    @app.task
    async def work() -> None:
        nonlocal started
        started += 1
        clock.block({1: 0.3, second: 0.15}.get(started, 0.0))
        await fleet.clock.sleep(3600)

    await work.submit_many([()] * 40)
    async with fleet.running(app, roles=WORKER):
        await fleet.clock.advance(1)
        assert started == 20
