"""A node whose event loop is blocked by user code: its lease must not keep the others out."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from drumbeat import Drumbeat
from drumbeat.engine.leading.candidacy import BLOCKED
from drumbeat.engine.leading.watchdog import LoopWatchdog
from drumbeat.model.events import LeadershipGained, LeadershipLost
from drumbeat.ports.runtime import Isolated
from drumbeat.testing import FakeClock, FakeRuntime
from tests.engine.support.fleet import PATIENCE, Heard

TTL = 3.0


class Blockable:
    """Isolated work whose calls to the event loop wait for as long as that loop is blocked."""

    def __init__(self, work: Isolated, runtime: BlockableRuntime) -> None:
        self._work = work
        self._runtime = runtime

    def call_home(self, callback: Callable[[], None]) -> None:
        if self._runtime.blocked:
            self._runtime.waiting.append(callback)
        else:
            self._work.call_home(callback)

    def call_inside(self, callback: Callable[[], None]) -> None:
        self._work.call_inside(callback)

    async def ended(self) -> None:
        await self._work.ended()

    def cancel(self) -> None:
        self._work.cancel()


class BlockableRuntime(FakeRuntime):
    """A runtime whose event loop seems to stand still to the elector's thread."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__(clock)
        self.blocked = False
        self.waiting: list[Callable[[], None]] = []

    def spawn_isolated(
        self, name: str, work: Callable[[Isolated], Coroutine[Any, Any, None]]
    ) -> Isolated:
        async def blockable(isolated: Isolated) -> None:
            await work(Blockable(isolated, self))

        return super().spawn_isolated(name, blockable)

    def unblock(self) -> None:
        self.blocked = False
        waiting, self.waiting = self.waiting, []
        for callback in waiting:
            callback()


async def _reasons_of_losses(seconds: float) -> list[str]:
    """Why a leader lost its terms whose loop stood still for so long, and was free for as long."""
    clock = FakeClock()
    runtime = BlockableRuntime(clock)
    app = Drumbeat("memory://", runtime=runtime, environment={}, lease_ttl=TTL, retry_interval=0.1)
    heard = Heard(app)
    async with app.running(["scheduler"]):
        await clock.advance(10 * TTL)
        assert app.leadership.is_leader
        runtime.blocked = True
        await clock.advance(seconds)
        runtime.unblock()
        await clock.advance(10 * TTL)
        assert app.leadership.is_leader
        return [event.reason for event in heard.of(LeadershipLost)]


async def test_a_leader_whose_loop_is_blocked_for_long_gives_its_term_up_and_leads_again() -> None:
    assert await _reasons_of_losses(3 * TTL) == [BLOCKED]


@pytest.mark.parametrize("seconds", [0.1, TTL / 3, 0.9 * TTL])
async def test_a_leader_whose_loop_is_blocked_for_less_than_a_term_goes_on(seconds: float) -> None:
    assert await _reasons_of_losses(seconds) == []


async def test_a_loop_that_really_stands_still_loses_its_term_and_leads_again() -> None:
    """In real time, with threads. Which of its guards ended the term depends on the machine."""
    app = Drumbeat("memory://", environment={}, lease_ttl=TTL, retry_interval=0.1)
    gained, lost = asyncio.Event(), asyncio.Event()

    @app.leadership.on_gained
    def gain(_: LeadershipGained) -> None:
        gained.set()

    @app.leadership.on_lost
    def lose(_: LeadershipLost) -> None:
        gained.clear()
        lost.set()

    async with asyncio.timeout(PATIENCE), app.running(["scheduler"]):
        await gained.wait()
        threading.Event().wait(2 * TTL)  # as a handler does that never awaits
        await lost.wait()
        await gained.wait()


class Loop:
    """An event loop whose calls wait until a test answers them."""

    def __init__(self) -> None:
        self.calls: list[Callable[[], None]] = []

    def call(self, callback: Callable[[], None]) -> None:
        self.calls.append(callback)


async def test_one_call_waits_at_a_time_and_silence_is_counted_from_it() -> None:
    clock, loop = FakeClock(), Loop()
    watchdog = LoopWatchdog(clock)
    await clock.advance(100)  # before the first call nobody could be silent
    assert watchdog.blocked_for(loop.call) == 0
    await clock.advance(3)
    assert watchdog.blocked_for(loop.call) == 3
    await clock.advance(4)
    assert watchdog.blocked_for(loop.call) == 7
    (answer,) = loop.calls
    answer()
    assert watchdog.blocked_for(loop.call) == 0
    assert len(loop.calls) == 2
