"""Ticks are planned shortly before their instant, and committed at it."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from drumbeat import Context, Drumbeat, every, once
from drumbeat.engine.ticking import ticker
from drumbeat.engine.ticking.ticker import AHEAD, LEAD
from drumbeat.model.events import TickFired, TickRaced
from drumbeat.model.schedules.plan import SkipReason
from drumbeat.model.schedules.schedule import DueSchedule
from drumbeat.ports.clock import Alarm
from drumbeat.ports.store import Topic
from drumbeat.testing.clock import START
from tests.engine.support.fleet import Fault, Fleet, Heard, SkewedClock, fired, ledger, skipped

SECOND = timedelta(seconds=1)
SHORTLY = LEAD / 2
"""Seconds before a tick, when it has been read and planned."""


class Spied:
    """The calls of the ticker, and when they were made."""

    def __init__(self, fleet: Fleet) -> None:
        self.calls: list[tuple[str, datetime]] = []
        for name in ("due", "commit"):
            self._spy_on(fleet, name)

    def _spy_on(self, fleet: Fleet, name: str) -> None:
        call = getattr(fleet.store.schedules, name)

        async def noted(*args: Any, **kwargs: Any) -> Any:
            self.calls.append((name, fleet.clock.now()))
            return await call(*args, **kwargs)

        setattr(fleet.store.schedules, name, noted)

    def since(self, instant: datetime) -> list[tuple[str, datetime]]:
        return [each for each in self.calls if each[1] >= instant]


@pytest.fixture
async def ran(fleet: Fleet, app: Drumbeat) -> AsyncIterator[list[datetime]]:
    """When the handler of `work` ran: every minute. The fixture ends shortly before the first."""
    found: list[datetime] = []

    @app.scheduled(every(minutes=1))
    async def work() -> None:
        found.append(fleet.clock.now())

    async with fleet.running(app):
        await fleet.clock.advance(60 - SHORTLY)
        yield found


async def test_a_tick_is_read_ahead_and_only_committed_at_its_instant(
    fleet: Fleet, app: Drumbeat, heard: Heard
) -> None:
    @app.scheduled(every(minutes=1))
    async def work() -> None: ...

    async with fleet.running(app):
        await fleet.clock.advance(30)
        spied = Spied(fleet)
        await fleet.clock.advance(30.5)
    tick = START + 60 * SECOND
    assert spied.since(START) == [("due", tick - timedelta(seconds=LEAD)), ("commit", tick)]
    assert [event.lateness for event in heard.of(TickFired)] == [timedelta(0)]


async def test_a_pause_after_the_tick_was_planned_is_obeyed(
    fleet: Fleet, app: Drumbeat, ran: list[datetime], heard: Heard
) -> None:
    await app.schedules.pause("work")
    await fleet.clock.advance(SHORTLY)
    await fleet.clock.advance(1)
    assert ran == []
    assert skipped(await ledger(app, "work")) == [(SkipReason.PAUSED, 1)]
    assert len(heard.of(TickRaced)) <= 1


async def test_a_schedule_removed_after_the_tick_was_planned_does_not_fire(
    fleet: Fleet, app: Drumbeat, ran: list[datetime]
) -> None:
    await app.schedules.remove("work")
    await fleet.clock.advance(2)
    assert ran == []
    assert await ledger(app, "work") == ()


async def test_a_tick_skipped_after_it_was_planned_does_not_fire(
    fleet: Fleet, app: Drumbeat, ran: list[datetime]
) -> None:
    await app.schedules.skip("work", START + 60 * SECOND)
    await fleet.clock.advance(2)
    assert ran == []
    assert skipped(await ledger(app, "work")) == [(SkipReason.OVERRIDDEN, 1)]


async def test_an_edit_that_moves_no_tick_does_not_delay_it(
    fleet: Fleet, app: Drumbeat, ran: list[datetime]
) -> None:
    await app.schedules.skip("work", START + timedelta(hours=1))
    await fleet.clock.advance(SHORTLY)
    assert ran == [START + 60 * SECOND]


async def test_a_schedule_that_is_new_after_others_were_planned_fires_on_time(
    fleet: Fleet, app: Drumbeat, ran: list[datetime]
) -> None:
    """Its tick comes after one that was read ahead, and before the next read."""
    soon = START + timedelta(seconds=60 + SHORTLY)
    await app.schedules.put("soon", once(soon), "work")
    await fleet.clock.advance(2 * SHORTLY)
    assert ran == [START + 60 * SECOND, soon]


async def test_a_change_that_no_hint_told_of_is_noticed_at_the_commit(
    fleet: Fleet,
    app: Drumbeat,
    ran: list[datetime],
    heard: Heard,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stored = await app.schedules.get("work")
    hints = fleet.store.schedules._schedules._hints
    monkeypatch.setattr(hints, "note", keep_silent)
    await app.schedules.pause("work")
    monkeypatch.undo()
    await fleet.clock.advance(SHORTLY)
    await fleet.clock.advance(1)
    assert ran == []
    assert [event.schedule for event in heard.of(TickRaced)] == [stored.name]
    assert skipped(await ledger(app, "work")) == [(SkipReason.PAUSED, 1)]


async def test_a_job_that_ends_just_before_the_next_tick_does_not_overlap_with_it(
    fleet: Fleet, app: Drumbeat
) -> None:
    @app.scheduled(every(seconds=1))
    async def work() -> None:
        await fleet.clock.sleep(1 - SHORTLY)

    async with fleet.running(app):
        await fleet.clock.advance(5.5)
        ticks = await ledger(app, "work")
    assert fired(ticks) == [START + n * SECOND for n in range(1, 6)]
    assert skipped(ticks) == []


async def test_a_tick_waits_for_the_stores_clock_however_it_was_estimated(
    fleet: Fleet, heard: Heard
) -> None:
    """Requests take long and answers do not, so the store's clock seems to be ahead."""
    app = fleet.app(clock=SkewedClock(fleet.clock, 3 * SECOND))
    slow, due = AHEAD.total_seconds() / 5, fleet.store.schedules.due

    async def late(*args: Any, **kwargs: Any) -> Any:
        await fleet.clock.sleep(slow)
        return await due(*args, **kwargs)

    fleet.store.schedules.due = late  # type: ignore[method-assign]

    @app.scheduled(every(minutes=1))
    async def work() -> None: ...

    ears = Heard(app)
    async with fleet.running(app):
        await fleet.clock.advance(62)
        (tick,) = await ledger(app, "work")
    assert len(ears.of(TickRaced)) == 1, "it was tried too early"
    assert timedelta(0) <= tick.lateness <= timedelta(seconds=slow)


@pytest.mark.parametrize("mode", ["before", "after"])
async def test_a_plan_whose_commit_was_not_answered_is_not_committed_again_blindly(
    fleet: Fleet, app: Drumbeat, ran: list[datetime], mode: str
) -> None:
    fault = Fault(fleet.store.schedules, "commit")
    getattr(fault, mode)()
    spied = Spied(fleet)
    await fleet.clock.advance(2)
    assert [name for name, _ in spied.calls[:2]] == ["commit", "due"]
    assert len(ran) == len(fired(await ledger(app, "work"))) == 1


async def test_a_tick_that_cannot_be_planned_ahead_is_read_and_fired_at_its_instant(
    fleet: Fleet, app: Drumbeat, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[datetime] = []

    @app.scheduled(every(seconds=1))
    async def work() -> None:
        ran.append(fleet.clock.now())

    monkeypatch.setattr(ticker, "may_be_planned_ahead", never)
    async with fleet.running(app):
        for _ in range(20):
            await fleet.clock.advance(1)
    assert ran == [START + n * SECOND for n in range(1, 21)]


def never(_: DueSchedule) -> bool:
    return False


def keep_silent(topic: Topic, default: None = None) -> None: ...


class HeldUpClock(SkewedClock):
    """Of a node that is suspended right before each tick that it waits for, for ten minutes."""

    def call_punctually(self, seconds: float, callback: Callable[[], None]) -> Alarm:
        return super().call_punctually(seconds + 600, callback)


async def test_a_leader_that_was_held_up_judges_its_plans_anew(fleet: Fleet) -> None:
    """What it planned ahead would fire; by now it is too late for that."""
    app = fleet.app(clock=HeldUpClock(fleet.clock, timedelta(0)))
    ran: list[datetime | None] = []

    @app.scheduled(every(hours=1), window="30s")
    async def work(ctx: Context) -> None:
        ran.append(ctx.tick_at)

    async with fleet.running(app):
        await fleet.clock.advance("1h")
        await fleet.clock.advance("20m")
        assert ran == []
        assert skipped(await ledger(app, "work")) == [(SkipReason.MISSED_WINDOW, 1)]
