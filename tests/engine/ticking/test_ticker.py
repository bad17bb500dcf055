"""Ticks: each fires once or is skipped for a reason, whatever happens around it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest

from drumbeat import Context, Drumbeat, cron, every
from drumbeat.engine.ticking import ticker
from drumbeat.model.errors import Unavailable
from drumbeat.model.events import (
    ClockSkewed,
    LeadershipLost,
    PlanFailed,
    ServiceFailed,
    TickFired,
    TickRaced,
    TickSkipped,
)
from drumbeat.model.fleet.lease import Epoch
from drumbeat.model.schedules.plan import Plan, SkipReason
from drumbeat.model.schedules.policy import Misfire
from drumbeat.model.schedules.schedule import DueSchedule
from drumbeat.rules.planning.plan import plan
from drumbeat.testing.clock import START
from tests.engine.support.fleet import Fault, Fleet, Heard, SkewedClock, fired, ledger, skipped

MINUTE = timedelta(minutes=1)


async def test_every_tick_fires_once_and_stands_in_the_ledger(
    fleet: Fleet, app: Drumbeat, heard: Heard
) -> None:
    ran: list[datetime | None] = []

    @app.scheduled(cron("* * * * *"))
    async def work(ctx: Context) -> None:
        ran.append(ctx.tick_at)

    async with fleet.running(app):
        await fleet.clock.advance("1h")
        expected = [START + n * MINUTE for n in range(1, 61)]
        ticks = await ledger(app, "work")
        assert fired(ticks) == ran == expected
        assert [event.tick_at for event in heard.of(TickFired)] == expected
        assert len({tick.job_id for tick in ticks}) == 60
        assert {(tick.epoch, tick.leader) for tick in ticks} == {(1, app.id)}
        assert max(tick.lateness for tick in ticks) < timedelta(milliseconds=1)


async def test_a_change_of_leaders_neither_loses_nor_doubles_a_tick(fleet: Fleet) -> None:
    apps = [fleet.app() for _ in range(3)]
    ran: list[datetime | None] = []
    for app in apps:

        @app.scheduled(every(seconds=7), misfire="all", overlap="allow")
        async def work(ctx: Context) -> None:
            ran.append(ctx.tick_at)

    async with fleet.running(*apps):
        for _ in range(12):
            await fleet.clock.advance(11.3)
            for app in apps:
                app.leadership.resign()
        await fleet.clock.advance(30)
        ticks = await ledger(apps[0], "work")
        assert fired(ticks) == sorted(each for each in ran if each is not None)
        first = fired(ticks)[0]
        count = (fleet.clock.now() - first) // timedelta(seconds=7) + 1
        assert fired(ticks) == [first + n * timedelta(seconds=7) for n in range(count)]
        epochs = [tick.epoch for tick in ticks]
        assert epochs == sorted(epochs, key=lambda epoch: epoch or 0)
        assert len(set(epochs)) > 3


@pytest.mark.parametrize("mode", ["before", "after"])
async def test_a_commit_without_an_answer_neither_loses_nor_doubles_a_tick(
    fleet: Fleet, app: Drumbeat, heard: Heard, mode: str
) -> None:
    ran: list[datetime | None] = []

    @app.scheduled(every(minutes=1))
    async def work(ctx: Context) -> None:
        ran.append(ctx.tick_at)

    async with fleet.running(app):
        fault = Fault(fleet.store.schedules, "commit")
        for _ in range(5):
            getattr(fault, mode)()
            await fleet.clock.advance(60)
        await fleet.clock.advance(1)
        assert len(heard.of(ServiceFailed)) == 5
        assert fired(await ledger(app, "work")) == ran
        assert len(ran) == 5


@pytest.mark.parametrize("then", ["hang", "before"])
async def test_a_leader_that_gives_up_says_what_the_store_has_said(
    fleet: Fleet, app: Drumbeat, heard: Heard, then: str
) -> None:
    @app.scheduled(every(seconds=1))
    async def work() -> None: ...

    async with fleet.running(app):
        fault = Fault(fleet.store.schedules, "due")
        fault.error = Unavailable("its disk is full")
        fault.before(3).always(then)
        await fleet.clock.advance(20)
        assert heard.of(LeadershipLost)[0].reason == "the store cannot be reached: its disk is full"
        assert "within 0 s" not in " ".join(str(each.error) for each in heard.of(ServiceFailed))
        fault.heal()


@pytest.mark.parametrize("skew", [timedelta(seconds=6), timedelta(seconds=-6), timedelta(days=1)])
async def test_a_leader_whose_clock_is_off_says_so_and_resigns(
    fleet: Fleet, skew: timedelta
) -> None:
    clock = SkewedClock(fleet.clock, skew)
    skewed, healthy = fleet.app(clock=clock), fleet.app()
    ears = Heard(skewed)
    for app in (skewed, healthy):

        @app.scheduled(every(minutes=1))
        async def work() -> None: ...

    async with fleet.running(skewed, healthy):
        await fleet.clock.advance(1)
        assert ears.of(ClockSkewed)[0].skew == skew
        assert "clock" in ears.of(LeadershipLost)[0].reason
        assert healthy.leadership.is_leader
        await fleet.clock.advance(120)
        assert healthy.leadership.is_leader
        ticks = await ledger(healthy, "work")
        assert len(fired(ticks)) == 2
        assert {tick.leader for tick in ticks} == {healthy.id}


@pytest.mark.parametrize("seconds", [4, -4])
async def test_a_clock_that_is_a_little_off_fires_nothing_early(fleet: Fleet, seconds: int) -> None:
    app = fleet.app(clock=SkewedClock(fleet.clock, timedelta(seconds=seconds)))

    @app.scheduled(every(minutes=1))
    async def work() -> None: ...

    async with fleet.running(app):
        await fleet.clock.advance(65)
        (tick,) = await ledger(app, "work")
        assert tick.tick_at == START + MINUTE
        late = tick.recorded_at - tick.tick_at
        assert timedelta(0) <= late <= timedelta(seconds=max(0, -seconds) + 0.5)


async def test_a_schedule_that_cannot_be_planned_does_not_stop_the_others(
    fleet: Fleet, app: Drumbeat, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("bad", "good"):

        @app.scheduled(every(minutes=1), name=name)
        async def work() -> None: ...

    def fail(due: DueSchedule, now: datetime) -> Plan:
        if due.stored.name == "bad":
            raise ZeroDivisionError("odd calendar")
        return plan(due, now)

    monkeypatch.setattr(ticker, "plan", fail)
    async with fleet.running(app):
        await fleet.clock.advance(181)
        assert len(fired(await ledger(app, "good"))) == 3
        assert await ledger(app, "bad") == ()
        assert {event.schedule for event in heard.of(PlanFailed)} == {"bad"}
        assert heard.of(ServiceFailed) == []


async def test_schedules_that_cannot_be_planned_do_not_fill_the_batch_of_the_others(
    fleet: Fleet, app: Drumbeat, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("bad-1", "bad-2", "bad-3", "good"):

        @app.scheduled(every(minutes=1), name=name)
        async def work() -> None: ...

    def fail(due: DueSchedule, now: datetime) -> Plan:
        if due.stored.name.startswith("bad"):
            raise ZeroDivisionError("odd calendar")
        return plan(due, now)

    monkeypatch.setattr(ticker, "plan", fail)
    monkeypatch.setattr(
        "drumbeat.wiring.leader.TickerSettings", partial(ticker.TickerSettings, batch=2)
    )
    async with fleet.running(app):
        await fleet.clock.advance(190)
        assert len(fired(await ledger(app, "good"))) == 3


async def test_a_schedule_that_cannot_be_planned_is_not_reported_without_end(
    fleet: Fleet, app: Drumbeat, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    @app.scheduled(every(hours=1))
    async def bad() -> None: ...

    def fail(due: DueSchedule, now: datetime) -> Plan:
        raise ZeroDivisionError("odd calendar")

    monkeypatch.setattr(ticker, "plan", fail)
    async with fleet.running(app):
        await fleet.clock.advance("1h")
        await fleet.clock.advance("10m")
        assert 1 <= len(heard.of(PlanFailed)) < 100


async def test_a_plan_that_was_overtaken_is_made_again_at_once(
    fleet: Fleet, app: Drumbeat, heard: Heard
) -> None:
    @app.scheduled(every(hours=1))
    async def work() -> None: ...

    commit = fleet.store.schedules.commit

    async def overtaken(plans: Sequence[Plan], epoch: Epoch) -> Any:
        fleet.store.schedules.commit = commit  # type: ignore[method-assign]
        # Somebody skips a later tick between our reading and our writing.
        await app.schedules.skip("work", START + timedelta(hours=5))
        return await commit(plans, epoch)

    async with fleet.running(app):
        fleet.store.schedules.commit = overtaken  # type: ignore[method-assign, assignment]
        await fleet.clock.advance("1h")
        await fleet.clock.advance(1)
        assert [event.schedule for event in heard.of(TickRaced)] == ["work"]
        assert fired(await ledger(app, "work")) == [START + timedelta(hours=1)]


async def test_ticks_missed_while_everything_was_down_are_accounted_for(
    fleet: Fleet, app: Drumbeat, heard: Heard
) -> None:
    for policy in Misfire:

        @app.scheduled(every(minutes=5), name=policy.value, misfire=policy, overlap="allow")
        async def work() -> None: ...

    async with fleet.running(app):
        await fleet.clock.advance("1m")
    await fleet.clock.advance("30m")
    async with fleet.running(app):
        await fleet.clock.advance(1)
        latest, each, none = [await ledger(app, name) for name in ("latest", "all", "skip")]
        assert fired(latest) == [START + 30 * MINUTE]
        assert skipped(latest) == [(SkipReason.COALESCED, 5)]
        assert fired(each) == [START + n * MINUTE for n in range(5, 31, 5)]
        assert fired(none) == []
        assert skipped(none) == [(SkipReason.MISSED_WINDOW, 6)]
        assert {event.reason for event in heard.of(TickSkipped)} == {
            SkipReason.COALESCED,
            SkipReason.MISSED_WINDOW,
        }
