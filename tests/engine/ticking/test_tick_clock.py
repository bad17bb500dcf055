"""The estimate of the store's clock between two reads."""

from __future__ import annotations

from datetime import timedelta

from drumbeat.engine.ticking.tick_clock import READS, TickClock
from drumbeat.testing import FakeClock
from drumbeat.testing.clock import START

BEHIND = timedelta(seconds=2)


async def read(clock: FakeClock, ticks: TickClock, request: float, answer: float) -> None:
    """A read of a store whose clock is two seconds behind."""
    asked_at = clock.elapsed()
    await clock.advance(request)
    as_of = clock.now() - BEHIND
    await clock.advance(answer)
    ticks.learn(as_of, asked_at)


async def test_the_stores_clock_is_estimated_by_the_time_that_has_elapsed() -> None:
    clock = FakeClock()
    ticks = TickClock(clock)
    await read(clock, ticks, 0.1, 0.1)
    await clock.advance(5)
    assert ticks.now() == clock.now() - BEHIND
    assert ticks.until(START + timedelta(seconds=10)) == 10 - (5.2 - 2)
    assert ticks.until(START) == 0


async def test_the_quickest_of_the_last_reads_counts() -> None:
    clock = FakeClock()
    ticks = TickClock(clock)
    await read(clock, ticks, 0.001, 0.001)
    for _ in range(READS - 1):
        await read(clock, ticks, 0.5, 0)
    assert ticks.now() == clock.now() - BEHIND
    await read(clock, ticks, 0.5, 0)
    off = ticks.now() - (clock.now() - BEHIND)
    assert off == timedelta(seconds=0.25), "half way was assumed"


async def test_this_nodes_clock_counts_if_it_is_earlier() -> None:
    clock = FakeClock()
    ticks = TickClock(clock)
    ticks.learn(clock.now() + BEHIND, clock.elapsed())
    assert ticks.now() == clock.now()


async def test_nothing_is_estimated_without_a_read() -> None:
    clock = FakeClock()
    ticks = TickClock(clock)
    ticks.learn(clock.now() - BEHIND, clock.elapsed())
    ticks.forget()
    assert ticks.now() == clock.now()


async def test_an_answer_that_is_read_late_is_no_skew() -> None:
    clock = FakeClock()
    ticks, asked_at, as_of = TickClock(clock), clock.elapsed(), clock.now()
    await clock.advance(10)
    assert ticks.skew(as_of, asked_at) == timedelta(0)
    assert ticks.skew(as_of - BEHIND, asked_at) == BEHIND
    assert ticks.skew(as_of + timedelta(seconds=12), asked_at) == -BEHIND
