"""A node whose event loop is blocked by user code: its lease must not keep the others out."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

from drumbeat import Drumbeat
from drumbeat.engine.elector import BLOCKED
from drumbeat.engine.home import Home
from drumbeat.model.events import LeadershipGained, LeadershipLost
from drumbeat.testing import FakeClock

TTL = 3.0
"""Seconds, in truth: the thread that renews may be late by one, on a busy machine."""
TRIES = 5
"""A machine that stands still for longer than that costs the term as well: then once more."""


async def _blocked_for(seconds: float) -> list[str]:
    """What became of a leader whose loop stood still for so long: why it lost, and if it leads."""
    story: list[str] = []
    gained = asyncio.Event()
    app = Drumbeat("memory://", environment={}, lease_ttl=TTL, retry_interval=0.1)

    @app.leadership.on_gained
    def gain(_: LeadershipGained) -> None:
        gained.set()

    @app.leadership.on_lost
    def lose(event: LeadershipLost) -> None:
        story.append(event.reason)

    async with asyncio.timeout(60), app.running(["scheduler"]):
        await gained.wait()
        gained.clear()
        threading.Event().wait(seconds)  # as a handler does that never awaits
        if seconds > TTL:
            await gained.wait()
        return [*story, "leads" if app.leadership.is_leader else "follows"]


async def _stories(seconds: float, expected: list[str]) -> list[list[str]]:
    """Tell it once, or a few times until it goes as it does on a machine that never pauses."""
    stories = [await _blocked_for(seconds)]
    while expected not in stories and len(stories) < TRIES:
        stories.append(await _blocked_for(seconds))
    return stories


async def test_a_leader_whose_loop_is_blocked_for_long_gives_its_term_up_and_leads_again() -> None:
    expected = [BLOCKED, "leads"]
    assert expected in await _stories(2 * TTL, expected)


async def test_a_leader_whose_loop_is_blocked_for_a_moment_goes_on() -> None:
    assert ["leads"] in await _stories(TTL / 3, ["leads"])


class Line:
    """The way home, on which calls wait for whoever is to answer them."""

    def __init__(self) -> None:
        self.calls: list[Callable[[], None]] = []

    def call_home(self, callback: Callable[[], None]) -> None:
        self.calls.append(callback)

    def call_inside(self, callback: Callable[[], None]) -> None:
        callback()

    async def ended(self) -> None: ...

    def cancel(self) -> None: ...


async def test_one_call_waits_at_a_time_and_silence_is_counted_from_it() -> None:
    clock, line = FakeClock(), Line()
    home = Home(clock)
    await clock.advance(100)  # before the first call nobody could be silent
    assert home.silent_for(line) == 0
    await clock.advance(3)
    assert home.silent_for(line) == 3
    await clock.advance(4)
    assert home.silent_for(line) == 7
    (answer,) = line.calls
    answer()
    assert home.silent_for(line) == 0
    assert len(line.calls) == 2
