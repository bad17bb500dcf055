"""Schedules as time goes by: changed, redeployed, overlapping, and fired by hand."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from itertools import pairwise

import pytest

from drumbeat import Context, Drumbeat, Status, every, once
from drumbeat.model.errors import UnknownSchedule
from drumbeat.model.events import (
    ScheduleChanged,
    ScheduleChangeWaits,
    ScheduleDeclared,
    ScheduleDrifted,
    TicksDropped,
)
from drumbeat.model.schedules.plan import SkipReason
from drumbeat.model.triggers import daily
from drumbeat.testing.clock import START, FakeClock
from tests.engine.support.fleet import Fleet, Heard, fired, ledger, skipped

MINUTE = timedelta(minutes=1)


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


async def test_a_redeploy_after_an_outage_keeps_what_was_due_before_it(fleet: Fleet) -> None:
    def deploy(minutes: int) -> tuple[Drumbeat, Heard]:
        app = fleet.app()

        @app.scheduled(every(minutes=minutes), misfire="all", overlap="allow", window="1d")
        async def work() -> None: ...

        return app, Heard(app)

    first, _ = deploy(1)
    async with fleet.running(first):
        await fleet.clock.advance(90)
    await fleet.clock.advance(86 * 60)
    second, heard = deploy(10)
    async with fleet.running(second):
        assert [event.schedule for event in heard.of(ScheduleChangeWaits)] == ["work"]
        await fleet.clock.advance(60)
        stored = await second.schedules.get("work")
        assert stored.schedule.trigger.describe() == "Every 10 minutes"
        assert [event.created for event in heard.of(ScheduleDeclared)] == [False]
        assert heard.of(TicksDropped) == []
        ticks = await ledger(second, "work")
        assert fired(ticks) == [START + number * MINUTE for number in range(1, 88)]
        assert skipped(ticks) == []
        await fleet.clock.advance(11 * 60)
        assert len(fired(await ledger(second, "work"))) == 88


async def test_what_a_person_changes_drops_due_ticks_and_says_so(
    fleet: Fleet, app: Drumbeat, heard: Heard
) -> None:
    @app.scheduled(every(minutes=1), misfire="all", overlap="allow")
    async def work() -> None: ...

    async with fleet.running(app):
        await fleet.clock.advance(30)
    await fleet.clock.advance(5 * 60)
    await app.schedules.put("work", every(hours=1), "work")
    (dropped,) = heard.of(TicksDropped)
    assert (dropped.schedule, dropped.count) == ("work", 5)
    assert (dropped.tick_at, dropped.through) == (START + MINUTE, START + 5 * MINUTE)
    await app.schedules.put("other", every(minutes=1), "work")
    await fleet.clock.advance(5 * 60)
    await app.schedules.pause("other")
    await app.schedules.remove("work")
    assert heard.of(TicksDropped) == [dropped], "nothing was due, or it was paused"


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
