"""Listeners of one task and of one schedule."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from drumbeat import Drumbeat, Retry, every
from drumbeat.model.errors import InvalidHook, InvalidInput
from drumbeat.model.events import (
    AttemptCompleted,
    AttemptEnded,
    Event,
    JobSettled,
    JobSubmitted,
    LeadershipGained,
    TickFired,
)
from drumbeat.model.jobs.ending import Raised
from drumbeat.testing import FakeClock, FakeRuntime, running

ONCE = Retry.never()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def app(clock: FakeClock) -> Drumbeat:
    return Drumbeat("memory://", runtime=FakeRuntime(clock))


async def test_a_listener_of_a_task_gets_only_the_events_of_that_task(
    app: Drumbeat, clock: FakeClock
) -> None:
    seen: list[str] = []
    errors: list[BaseException | None] = []

    @app.task(retry=ONCE)
    async def send(number: int) -> None:
        if number > 1:
            raise ValueError(number)

    @app.task(retry=ONCE)
    async def other() -> None:
        raise ValueError("other")

    @send.on(AttemptEnded)
    async def failed(event: AttemptEnded) -> None:
        assert isinstance(event.ending, Raised)
        errors.append(event.ending.exception)

    @send.options(priority=9).on(AttemptCompleted)
    def completed(event: AttemptCompleted) -> None:
        seen.append(event.attempt.spec.task)

    @app.task_named("send").on(JobSubmitted)
    def submitted(event: JobSubmitted) -> None:
        seen.append("submitted")

    async with running(app):
        await send.submit(1)
        await send.submit(2)
        await other.submit()
        await clock.until(app.wait_until_idle())
    assert sorted(seen) == ["send", "submitted", "submitted"]
    assert [str(error) for error in errors] == ["2"]


async def test_a_scheduled_task_has_the_events_of_its_schedule_and_of_its_jobs(
    app: Drumbeat, clock: FakeClock
) -> None:
    seen: list[tuple[str, str]] = []

    @app.scheduled(every(minutes=5))
    async def sweep() -> None: ...

    app.schedule(sweep, every(minutes=1), name="often")

    @app.scheduled(every(minutes=1))
    async def other() -> None: ...

    @sweep.on(TickFired)
    def fired(event: TickFired) -> None:
        seen.append(("handle", event.schedule))

    @sweep.on(AttemptCompleted)
    def ran(event: AttemptCompleted) -> None:
        seen.append(("ran", event.attempt.spec.schedule or "by hand"))

    @app.on(TickFired, schedule="often")
    def fired_often(event: TickFired) -> None:
        seen.append(("app", event.schedule))

    @app.on(AttemptCompleted, task="sweep", schedule="often")
    def ran_often(event: AttemptCompleted) -> None:
        seen.append(("ran as", event.attempt.spec.schedule or ""))

    async with running(app):
        await clock.advance(5 * 60 + 30)
        await sweep.submit()
        await clock.until(app.wait_until_idle())
    by_listener = {name: sorted(one for kind, one in seen if kind == name) for name, _ in seen}
    assert by_listener == {
        "handle": ["sweep"],
        "app": ["often"] * 5,
        "ran": ["by hand", *["often"] * 5, "sweep"],
        "ran as": ["often"] * 5,
    }


async def test_all_events_of_a_task_may_be_asked_for(app: Drumbeat, clock: FakeClock) -> None:
    kinds: set[str] = set()

    @app.task
    async def send() -> None: ...

    @send.on(Event)
    def note(event: Event) -> None:
        kinds.add(type(event).__name__)

    async with running(app):
        await send.submit()
        await clock.until(app.wait_until_idle())
    assert kinds == {"JobSubmitted", "AttemptStarted", "AttemptCompleted"}


async def test_events_without_a_task_or_a_schedule_are_refused(app: Drumbeat) -> None:
    @app.task
    async def send() -> None: ...

    @app.scheduled("0 2 * * *")
    async def nightly() -> None: ...

    def listener(event: Event) -> None: ...

    for kind in (LeadershipGained, JobSettled, TickFired):
        with pytest.raises(InvalidInput, match=f"{kind.__name__} events do not name a task"):
            send.on(kind)(listener)
    for kind in (LeadershipGained, JobSettled):
        with pytest.raises(InvalidInput, match="do not name"):
            nightly.on(kind)(listener)
        with pytest.raises(InvalidInput, match="do not name a schedule"):
            app.on(kind, schedule="nightly")(listener)
    with pytest.raises(InvalidInput, match="is not a kind of event"):
        send.on("AttemptEnded")(listener)  # type: ignore[arg-type]


def generates(event: Event) -> Iterator[int]:
    yield 1


@pytest.mark.parametrize(
    ("wrong", "error"), [(None, "a function, not None"), (generates, "is a generator")]
)
def test_what_cannot_be_a_listener_is_refused(app: Drumbeat, wrong: Any, error: str) -> None:
    @app.task
    async def send() -> None: ...

    for on in (app.on, send.on):
        with pytest.raises(InvalidHook, match=error):
            on(AttemptEnded)(wrong)
