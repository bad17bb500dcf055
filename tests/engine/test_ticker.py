"""Ticks: each fires once or is skipped for a reason, whatever happens around it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import datetime, timedelta
from functools import partial
from itertools import pairwise
from typing import Any

import pytest

from drumbeat import Context, Drumbeat, Status, cron, every, once, wiring
from drumbeat.engine import ticker
from drumbeat.model.errors import StaleEpoch, UnknownSchedule
from drumbeat.model.events import (
    ClockSkewed,
    LeadershipLost,
    PlanFailed,
    ScheduleChanged,
    ScheduleDeclared,
    ScheduleDrifted,
    ServiceFailed,
    TickFired,
    TickRaced,
    TickSkipped,
)
from drumbeat.model.lease import Epoch
from drumbeat.model.plan import Outcome, Plan, SkipReason, TickRecord
from drumbeat.model.schedule import DueSchedule
from drumbeat.model.triggers import daily
from drumbeat.rules.planning import plan
from drumbeat.testing.clock import START, FakeClock

from .support import Fault, Fleet, Heard, SkewedClock, ledger

MINUTE = timedelta(minutes=1)


def fired(ticks: Sequence[TickRecord]) -> list[datetime]:
    return [tick.tick_at for tick in ticks if tick.outcome is Outcome.FIRED]


def skipped(ticks: Sequence[TickRecord]) -> list[tuple[SkipReason | None, int]]:
    return [(tick.reason, tick.count) for tick in ticks if tick.outcome is Outcome.SKIPPED]


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
    monkeypatch.setattr(wiring, "TickerSettings", partial(ticker.TickerSettings, batch=2))
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
    for name, policy in (("latest", "latest"), ("all", "all"), ("skip", "skip")):

        @app.scheduled(every(minutes=5), name=name, misfire=policy, overlap="allow")
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


async def test_a_schedule_is_paused_resumed_and_removed_while_it_runs(
    fleet: Fleet, app: Drumbeat, heard: Heard
) -> None:
    @app.scheduled(every(minutes=1))
    async def work() -> None: ...

    async with fleet.running(app):
        await fleet.clock.advance(60)
        paused = await app.schedules.pause("work", "incident 7")
        assert (paused.paused, paused.pause_reason) == (True, "incident 7")
        await fleet.clock.advance(120)
        resumed = await app.schedules.resume("work")
        assert not resumed.paused
        await fleet.clock.advance(60)
        ticks = await ledger(app, "work")
        assert fired(ticks) == [START + MINUTE, START + 4 * MINUTE]
        assert sum(count for reason, count in skipped(ticks) if reason is SkipReason.PAUSED) == 2
        await app.schedules.remove("work")
        await fleet.clock.advance(300)
        assert await ledger(app, "work") == ticks
        with pytest.raises(UnknownSchedule, match="'work'"):
            await app.schedules.get("work")
        changes = [(event.change, event.reason) for event in heard.of(ScheduleChanged)]
        assert changes == [("pause", "incident 7"), ("resume", ""), ("remove", "")]


async def test_a_pause_survives_a_redeploy_and_drift_is_reported(fleet: Fleet) -> None:
    def deploy(minutes: int) -> tuple[Drumbeat, Heard]:
        app = fleet.app()

        @app.scheduled(every(minutes=minutes))
        async def work() -> None: ...

        return app, Heard(app)

    first, _ = deploy(1)
    async with fleet.running(first):
        await first.schedules.pause("work", "incident 7")
    second, heard = deploy(2)
    async with fleet.running(second):
        stored = await second.schedules.get("work")
        assert (stored.paused, stored.pause_reason) == (True, "incident 7")
        assert stored.schedule.trigger.describe() == "Every 2 minutes"
        assert heard.of(ScheduleDrifted) == []
        assert [event.created for event in heard.of(ScheduleDeclared)] == [False]
        await second.schedules.put("work", every(minutes=30), "work")
    third, heard = deploy(3)
    async with fleet.running(third):
        stored = await third.schedules.get("work")
        assert stored.schedule.trigger.describe() == "Every 30 minutes"
        assert stored.paused
        assert [event.schedule for event in heard.of(ScheduleDrifted)] == ["work"]
        await third.schedules.hand_back("work")
    fourth, heard = deploy(4)
    async with fleet.running(fourth):
        stored = await fourth.schedules.get("work")
        assert stored.schedule.trigger.describe() == "Every 4 minutes"
        assert heard.of(ScheduleDrifted) == []


async def test_a_redeploy_neither_resets_nor_doubles_an_interval(fleet: Fleet) -> None:
    async def deploy(seconds: float) -> None:
        app = fleet.app()

        @app.scheduled(every(minutes=10))
        async def work() -> None: ...

        async with fleet.running(app):
            await fleet.clock.advance(seconds)

    for _ in range(7):
        await deploy(4 * 60)
    app = fleet.app()
    assert fired(await ledger(app, "work")) == [START + 10 * MINUTE, START + 20 * MINUTE]


async def test_schedules_of_other_apps_are_left_alone(fleet: Fleet) -> None:
    apps = [fleet.app(), fleet.app()]
    for number, app in enumerate(apps):

        @app.scheduled(every(minutes=1), name=f"of-{number}")
        async def work() -> None: ...

    async with fleet.running(*apps):
        page = await apps[0].schedules.list()
        assert [stored.name for stored in page.items] == ["of-0", "of-1"]
        await fleet.clock.advance(61)
        assert len(fired(await ledger(apps[0], "of-1"))) == 1


async def test_once_fires_once_and_a_restart_does_not_repeat_it(fleet: Fleet) -> None:
    ran: list[str] = []

    def deploy() -> Drumbeat:
        app = fleet.app()

        @app.scheduled(once(START + timedelta(minutes=5)))
        async def at() -> None:
            ran.append("at")

        @app.scheduled(once())
        async def now() -> None:
            ran.append("now")

        return app

    async with fleet.running(deploy()):
        await fleet.clock.advance(60)
        assert ran == ["now"]
    async with fleet.running(deploy()):
        await fleet.clock.advance("5m")
        assert ran == ["now", "at"]
    async with fleet.running(deploy()):
        await fleet.clock.advance("10m")
        assert ran == ["now", "at"]


async def test_an_interval_from_completion_is_counted_from_the_end_of_the_last_job(
    fleet: Fleet, app: Drumbeat, clock: FakeClock
) -> None:
    runs: list[tuple[float, float]] = []

    @app.scheduled(every(minutes=5, from_completion=True))
    async def work() -> None:
        started = clock.elapsed()
        await clock.sleep(120)
        runs.append((started, clock.elapsed()))

    async with fleet.running(app):
        await clock.advance("30m")
    starts = [start for start, _ in runs]
    assert len(starts) >= 3
    for (_, ended), (started, _) in pairwise(runs):
        assert 300 <= started - ended <= 301


async def test_a_tick_while_the_last_job_runs_is_skipped_as_overlap(
    fleet: Fleet, app: Drumbeat
) -> None:
    release = asyncio.Event()

    @app.scheduled(every(minutes=1))
    async def slow() -> None:
        await release.wait()

    async with fleet.running(app):
        await fleet.clock.advance(181)
        ticks = await ledger(app, "slow")
        assert fired(ticks) == [START + MINUTE]
        assert sum(count for _, count in skipped(ticks)) == 2
        assert {reason for reason, _ in skipped(ticks)} == {SkipReason.OVERLAP}
        release.set()
        await fleet.clock.advance(60)
        assert len(fired(await ledger(app, "slow"))) == 2


async def test_a_tick_replaces_the_job_of_the_last_one(fleet: Fleet, app: Drumbeat) -> None:
    started: list[datetime | None] = []

    @app.scheduled(every(minutes=1), overlap="replace")
    async def slow(ctx: Context) -> None:
        started.append(ctx.tick_at)
        await asyncio.Event().wait()

    async with fleet.running(app):
        await fleet.clock.advance(60 + 60 + 20)
        first, second = [tick.job_id for tick in await ledger(app, "slow")]
        assert first is not None
        assert second is not None
        assert (await app.jobs.get(first)).status is Status.CANCELLED
        assert (await app.jobs.get(second)).status is Status.RUNNING
        assert started == [START + MINUTE, START + 2 * MINUTE]


async def test_jitter_moves_the_run_and_not_the_tick(fleet: Fleet, app: Drumbeat) -> None:
    ran: list[datetime] = []

    @app.scheduled(every(minutes=10), jitter="5m")
    async def work() -> None:
        ran.append(fleet.clock.now())

    async with fleet.running(app):
        await fleet.clock.advance("1h")
        await fleet.clock.advance("5m")
        ticks = fired(await ledger(app, "work"))
        assert ticks == [START + n * 10 * MINUTE for n in range(1, 7)]
        delays = [run - tick for tick, run in zip(ticks, ran, strict=True)]
        assert all(timedelta(0) <= delay <= timedelta(minutes=5, seconds=1) for delay in delays)
        assert len(set(delays)) > 1


async def test_a_schedule_is_triggered_skipped_previewed_and_backfilled_by_hand(
    fleet: Fleet, app: Drumbeat
) -> None:
    seen: list[tuple[datetime | None, int]] = []

    @app.scheduled(daily("01:00"), args=(7,))
    async def report(ctx: Context, number: int) -> None:
        seen.append((ctx.tick_at, number))

    hour = START + timedelta(hours=1)
    day = timedelta(days=1)
    async with fleet.running(app):
        assert await app.schedules.preview("report", 3) == [hour, hour + day, hour + 2 * day]
        job = await app.schedules.trigger("report")
        await fleet.done(app, job, "1s")
        other = await app.schedules.trigger("report", args=[8])
        await fleet.done(app, other, "1s")
        assert seen == [(None, 7), (None, 8)]
        await app.schedules.skip("report", hour)
        assert await app.schedules.preview("report", 1) == [hour + day]
        await fleet.clock.advance("2h")
        assert skipped(await ledger(app, "report")) == [(SkipReason.OVERRIDDEN, 1)]
        planned = await app.schedules.backfill(
            "report", START, START + 2 * timedelta(hours=1), dry_run=True
        )
        assert [fire.tick_at for fire in planned] == [hour]
        await app.schedules.backfill("report", START, START + 2 * timedelta(hours=1))
        await fleet.clock.until(app.wait_until_idle())
        assert seen[2:] == [(hour, 7)]


async def test_many_schedules_due_at_once_all_fire(fleet: Fleet, app: Drumbeat) -> None:
    @app.task
    async def work() -> None: ...

    for number in range(1_200):
        app.schedule(work, cron("0 1 * * *"), name=f"s{number}")
    async with fleet.running(app):
        await fleet.clock.advance("1h")
        await fleet.clock.until(app.wait_until_idle())
        counts = await app.jobs.counts()
        assert counts["default"][Status.COMPLETED] == 1_200


@pytest.fixture
async def crowd(
    fleet: Fleet, app: Drumbeat, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Fault]:
    """Five schedules that come due together, in portions of two; what stands before the commit."""
    monkeypatch.setattr(ticker, "PORTION", 2)

    @app.task
    async def work() -> None: ...

    for number in range(5):
        app.schedule(work, cron("0 1 * * *"), name=f"s{number}")
    async with fleet.running(app):
        yield Fault(fleet.store.schedules, "commit")


async def ticks_of_the_crowd(app: Drumbeat) -> list[int]:
    return [len(fired(await ledger(app, f"s{number}"))) for number in range(5)]


async def test_what_is_due_at_once_is_committed_in_portions(
    fleet: Fleet, app: Drumbeat, crowd: Fault
) -> None:
    await fleet.clock.advance("1h")
    assert [[made.name for made in call[0]] for call in crowd.calls] == [
        ["s0", "s1"],
        ["s2", "s3"],
        ["s4"],
    ]
    assert await ticks_of_the_crowd(app) == [1] * 5


async def test_the_next_portion_is_planned_while_the_last_is_written(
    fleet: Fleet, app: Drumbeat, crowd: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned: list[str] = []

    def noted(due: DueSchedule, now: datetime) -> Plan:
        planned.append(due.stored.name)
        return plan(due, now)

    monkeypatch.setattr(ticker, "plan", noted)
    crowd.hang()
    await fleet.clock.advance("1h")
    assert planned == ["s0", "s1", "s2", "s3"]
    assert len(crowd.calls) == 1
    crowd.heal()
    await fleet.clock.advance(1)
    assert await ticks_of_the_crowd(app) == [1] * 5


@pytest.mark.parametrize("mode", ["before", "after"])
async def test_a_portion_without_an_answer_neither_loses_nor_doubles_a_tick(
    fleet: Fleet, app: Drumbeat, crowd: Fault, heard: Heard, mode: str
) -> None:
    crowd.modes += ["", mode]
    await fleet.clock.advance("1h")
    assert len(crowd.calls) == 2, "what comes after is left for the next pass"
    await fleet.clock.advance(1)
    assert len(heard.of(ServiceFailed)) == 1
    assert await ticks_of_the_crowd(app) == [1] * 5


async def test_nothing_is_written_after_the_fence_was_lost(
    fleet: Fleet, app: Drumbeat, crowd: Fault, heard: Heard
) -> None:
    crowd.modes += ["", "before"]
    crowd.error = StaleEpoch(ours=1, seen=2)
    await fleet.clock.advance("1h")
    assert len(crowd.calls) == 2
    assert [event.epoch for event in heard.of(LeadershipLost)] == [1]
    await fleet.clock.advance(30)
    assert await ticks_of_the_crowd(app) == [1] * 5


async def test_a_ticker_that_is_told_to_end_leaves_no_write_behind(
    fleet: Fleet, app: Drumbeat, crowd: Fault
) -> None:
    crowd.hang()
    await fleet.clock.advance("1h")
    assert crowd.hanging.is_set()
    await app.stop()
    crowd.heal()
    await fleet.clock.sleep(0)
    assert await ticks_of_the_crowd(app) == [0] * 5
