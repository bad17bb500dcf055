"""The bus: listeners hear everything in order, and break nothing."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from drumbeat import Drumbeat, Status
from drumbeat.engine.plumbing.bus import LONGEST_BACKLOG, Bus
from drumbeat.model.errors import InvalidInput
from drumbeat.model.events import (
    AttemptCompleted,
    AttemptStarted,
    Event,
    JobSettled,
    JobSubmitted,
    ListenerFailed,
    NodeStopped,
    TaskUnknown,
)
from drumbeat.telemetry.logs import log_events
from drumbeat.testing.clock import FakeClock
from tests.engine.support.fleet import Fleet, Heard


@pytest.mark.parametrize(
    ("error", "asynchronous"),
    [
        (RuntimeError("boom"), False),
        (RuntimeError("boom"), True),
        (SystemExit(1), False),
        (SystemExit(1), True),
        (asyncio.CancelledError(), False),
        (asyncio.CancelledError(), True),
        (StopIteration(), False),
    ],
)
async def test_a_listener_that_fails_stops_nothing_and_is_told_of(
    fleet: Fleet, app: Drumbeat, heard: Heard, error: BaseException, asynchronous: bool
) -> None:
    def fail(event: Event) -> None:
        raise error

    async def fail_later(event: Event) -> None:
        raise error

    for kind in (JobSubmitted, AttemptStarted, AttemptCompleted, JobSettled):
        app.on(kind)(fail_later if asynchronous else fail)

    @app.task
    async def work() -> None: ...

    async with fleet.running(app):
        for _ in range(3):
            job = await fleet.done(app, await work.submit(), "1s")
            assert job.status is Status.COMPLETED
        failures = heard.of(ListenerFailed)
        assert len(failures) == 12
        assert {type(failure.event) for failure in failures} == {
            JobSubmitted,
            AttemptStarted,
            AttemptCompleted,
            JobSettled,
        }
        assert {type(failure.error) for failure in failures} == {type(error)}


async def test_a_listener_of_failures_that_fails_tells_nobody(clock: FakeClock) -> None:
    bus = Bus(clock)
    told: list[Event] = []

    def fail(event: Event) -> None:
        told.append(event)
        raise RuntimeError("boom")

    bus.on(Event, fail)
    bus.emit(TaskUnknown("work"))
    assert [type(event) for event in told] == [TaskUnknown, ListenerFailed]


async def test_asynchronous_listeners_run_one_after_the_other_in_order(
    fleet: Fleet, app: Drumbeat
) -> None:
    told: list[str] = []

    @app.on(JobSettled)
    async def slow(event: JobSettled) -> None:
        told.append(f"begin {event.settlement.hold.job_id}")
        await fleet.clock.sleep(5 - event.settlement.hold.job_id)
        told.append(f"end {event.settlement.hold.job_id}")

    @app.task
    async def work() -> None: ...

    async with fleet.running(app):
        for _ in range(3):
            await fleet.done(app, await work.submit(), "1s")
        await fleet.clock.advance(20)
    assert told == [f"{what} {job}" for job in (1, 2, 3) for what in ("begin", "end")]


async def test_listeners_hear_of_the_very_end(fleet: Fleet, app: Drumbeat) -> None:
    told: list[str] = []

    @app.on(NodeStopped)
    async def last(event: NodeStopped) -> None:
        await fleet.clock.sleep(0)
        told.append(event.node)

    async with fleet.running(app):
        pass
    assert told == [app.id]


async def test_the_backlog_of_slow_listeners_is_bounded(clock: FakeClock) -> None:
    bus = Bus(clock)
    told: list[str] = []

    async def slow(event: TaskUnknown) -> None:
        told.append(event.task)

    bus.on(TaskUnknown, slow)
    for number in range(LONGEST_BACKLOG + 10):
        bus.emit(TaskUnknown(str(number)))
    assert bus.dropped == 10
    await bus.flush()
    assert len(told) == LONGEST_BACKLOG
    assert (told[0], told[-1]) == ("10", str(LONGEST_BACKLOG + 9))


async def test_a_listener_can_be_taken_away_even_by_itself(clock: FakeClock) -> None:
    bus = Bus(clock)
    told: list[str] = []

    def once(event: TaskUnknown) -> None:
        told.append("once")
        stop()

    stop = bus.on(TaskUnknown, once)
    bus.on(TaskUnknown, lambda event: told.append("always"))
    for _ in range(2):
        bus.emit(TaskUnknown("work"))
    stop()
    assert told == ["once", "always", "always"]


async def test_a_listener_that_hangs_does_not_keep_the_node_from_stopping(
    fleet: Fleet, app: Drumbeat
) -> None:
    @app.on(NodeStopped)
    async def hang(event: NodeStopped) -> None:
        await asyncio.Event().wait()

    async with fleet.running(app):
        pass


async def test_a_kind_that_nobody_hears_is_not_made(
    clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    bus = Bus(clock)
    log_events(bus.on, "web-1")
    with caplog.at_level(logging.WARNING, logger="drumbeat"):
        assert not bus.hears(AttemptCompleted)
    with caplog.at_level(logging.INFO, logger="drumbeat"):
        assert bus.hears(AttemptCompleted)


async def test_what_is_no_kind_of_event_cannot_be_listened_to(app: Drumbeat) -> None:
    kind: Any = "TickFired"
    with pytest.raises(InvalidInput, match="'TickFired' is not a kind of event"):
        app.on(kind)(print)
