"""Settling concurrently with the claims: only where it helps, each ending once, none forgotten."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from drumbeat import Context, Drumbeat, Status
from drumbeat.engine.working.worker import ORPHANS_EVERY
from drumbeat.model.events import AttemptSuperseded, ServiceFailed
from drumbeat.model.fleet.node import Role
from drumbeat.model.jobs.job import Change, Hold
from tests.engine.support.fleet import Fault, Fleet, Heard

WORKER = (Role.WORKER,)
LATENCY = 0.001
JOBS = 4_000


class Slow:
    """Lets each step of a store need a millisecond, and keeps a record of what it was told."""

    def __init__(self, fleet: Fleet) -> None:
        self._clock = fleet.clock
        self._take: Any = fleet.store.jobs.take
        self._settle: Any = fleet.store.jobs.settle
        self.told: list[Hold] = []
        """In all settlements, however they came."""
        self.beside = 0
        """How many of them came by themselves,"""
        self.at_once = 0
        """and how often that was while a take was under way."""
        self.changes: Counter[Change] = Counter()
        self._taking = False
        fleet.store.jobs.take = self.take  # type: ignore[method-assign, assignment]
        fleet.store.jobs.settle = self.settle  # type: ignore[method-assign, assignment]

    async def take(self, wanted: Any, by: Any, settled: Any = (), at: None = None) -> Any:
        self._note(settled)
        self._taking = True
        await self._clock.sleep(LATENCY)
        taken = await self._take(wanted, by, settled, at)
        self._taking = False
        return taken

    async def settle(self, settlements: Any, at: None = None) -> Any:
        self._note(settlements)
        self.beside += len(settlements)
        self.at_once += self._taking
        await self._clock.sleep(LATENCY)
        return await self._settle(settlements, at)

    def _note(self, settlements: Any) -> None:
        self.told += [settlement.hold for settlement in settlements]
        self.changes.update(settlement.change for settlement in settlements)


class Backlog:
    """Jobs that are over at once, and how often and in which order they were run."""

    def __init__(self, fleet: Fleet, concurrency: int = 10) -> None:
        self.fleet = fleet
        self.app: Drumbeat = fleet.app(concurrency=concurrency)
        self.heard = Heard(self.app)
        self.ran: list[int] = []

        @self.app.task
        async def quick(ctx: Context) -> None:
            self.ran.append(ctx.job_id)

        self.quick = quick

    async def fill(self) -> None:
        await self.quick.submit_many([()] * JOBS)

    async def drain(self) -> None:
        await self.fill()
        async with self.fleet.running(self.app, roles=WORKER):
            await self.fleet.clock.until(self.app.wait_until_idle(), "2m")

    async def check(self) -> None:
        """Each ran once and is completed, and nobody was said to have come too late."""
        assert len(self.ran) == len(set(self.ran)) == JOBS
        counts = await self.fleet.store.jobs.counts()
        assert counts["default"] == {Status.COMPLETED: JOBS}
        assert not self.heard.of(AttemptSuperseded)


@pytest.fixture
def two_writers(fleet: Fleet) -> None:
    fleet.store.writers = 2


@pytest.mark.usefixtures("two_writers")
async def test_a_backlog_is_settled_while_more_of_it_is_claimed(fleet: Fleet) -> None:
    slow, backlog = Slow(fleet), Backlog(fleet)
    await backlog.drain()
    await backlog.check()
    assert slow.beside > JOBS / 2
    assert slow.at_once > 1
    assert len(slow.told) == len(set(slow.told)) == JOBS


async def test_a_store_with_one_writer_is_told_with_the_claims(fleet: Fleet) -> None:
    slow, backlog = Slow(fleet), Backlog(fleet)
    await backlog.drain()
    await backlog.check()
    assert slow.beside == 0
    assert len(slow.told) == JOBS


@pytest.mark.usefixtures("two_writers")
async def test_jobs_start_in_their_order_although_endings_are_told_beside(fleet: Fleet) -> None:
    slow, backlog = Slow(fleet), Backlog(fleet, concurrency=1)
    await backlog.drain()
    assert slow.at_once > 0
    assert backlog.ran == sorted(backlog.ran)


@pytest.mark.usefixtures("two_writers")
async def test_a_few_jobs_are_told_with_the_claims(fleet: Fleet) -> None:
    slow, backlog = Slow(fleet), Backlog(fleet)
    async with fleet.running(backlog.app, roles=WORKER):
        for _ in range(20):
            await backlog.quick.submit()
            await fleet.clock.until(backlog.app.wait_until_idle(), "1m")
    assert slow.beside == 0


@pytest.mark.usefixtures("two_writers")
@pytest.mark.parametrize("mode", ["before", "after"])
async def test_endings_whose_telling_failed_are_told_again(fleet: Fleet, mode: str) -> None:
    Slow(fleet)
    fault = Fault(fleet.store.jobs, "settle")
    fault.modes.append(mode)
    backlog = Backlog(fleet)
    await backlog.drain()
    await backlog.check()
    failed = [event for event in backlog.heard.of(ServiceFailed) if event.service == "settler"]
    assert len(failed) == 1


@pytest.mark.usefixtures("two_writers")
async def test_what_is_being_told_is_not_taken_for_forgotten(fleet: Fleet) -> None:
    slow = Slow(fleet)
    fault = Fault(fleet.store.jobs, "settle").hang()
    held = Fault(fleet.store.jobs, "held")
    backlog = Backlog(fleet)
    await backlog.fill()
    async with fleet.running(backlog.app, roles=WORKER):
        await fleet.clock.until(fault.hanging.wait(), "1m")
        asked = len(held.calls)
        await fleet.clock.advance(ORPHANS_EVERY + 1)
        assert len(held.calls) > asked  # it has looked for claims that it does not know of
        fault.heal()
        await fleet.clock.until(backlog.app.wait_until_idle(), "2m")
    await backlog.check()
    assert set(slow.changes) == {Change.COMPLETE}


@pytest.mark.usefixtures("two_writers")
async def test_a_node_that_stops_while_it_tells_forgets_no_ending(fleet: Fleet) -> None:
    Slow(fleet)
    fault = Fault(fleet.store.jobs, "settle").hang()
    backlog = Backlog(fleet)
    await backlog.fill()
    async with fleet.running(backlog.app, roles=WORKER):
        await fleet.clock.until(fault.hanging.wait(), "1m")
        await fleet.clock.until(backlog.app.stop(), "2m")
    counts = (await fleet.store.jobs.counts())["default"]
    ran = len(backlog.ran)
    assert len(set(backlog.ran)) == ran
    assert counts == {Status.COMPLETED: ran, Status.QUEUED: JOBS - ran}
