"""Time that only a test moves: in order, exactly, and with everything seen through in between."""

import asyncio
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from drumbeat import Context, Drumbeat, Retry, Snooze, Status, every
from drumbeat.config import Settings
from drumbeat.model.schedules.plan import Outcome, SkipReason
from drumbeat.testing import FakeClock, FakeRuntime, running, submitted

START = datetime(2030, 1, 1, tzinfo=UTC)
CALM: Settings = {"lease_ttl": "1m", "heartbeat_every": "1m", "node_lifetime": "5m"}
"""Fewer alarms over long times."""


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def app(clock: FakeClock) -> Drumbeat:
    return Drumbeat("memory://", runtime=FakeRuntime(clock))


def day(number: int, hour: int = 0, minute: int = 0) -> datetime:
    return datetime(2030, 1, number, hour, minute, tzinfo=UTC)


@pytest.mark.parametrize("by", ["2d", 172_800, timedelta(days=2)])
async def test_advancing_ends_exactly_so_much_later(
    clock: FakeClock, by: str | float | timedelta
) -> None:
    await clock.advance(by)
    assert clock.now() == START + timedelta(days=2)
    assert clock.elapsed() == 172_800


async def test_alarms_ring_in_order_each_at_its_own_instant(clock: FakeClock) -> None:
    rung: list[tuple[str, float]] = []

    def note(name: str) -> Callable[[], None]:
        return lambda: rung.append((name, clock.elapsed()))

    clock.call_later(3, note("third"))
    clock.call_later(1, note("first"))
    clock.call_later(1, note("second"))
    clock.call_later(99, note("never"))
    await clock.advance(10)
    assert rung == [("first", 1), ("second", 1), ("third", 3)]


async def test_a_cancelled_alarm_does_not_ring_even_by_one_of_the_same_instant(
    clock: FakeClock,
) -> None:
    rung: list[str] = []
    clock.call_later(1, lambda: second.cancel())
    second = clock.call_later(1, lambda: rung.append("second"))
    await clock.advance(10)
    assert rung == []


async def test_an_alarm_set_while_time_moves_rings_on_the_way(clock: FakeClock) -> None:
    seen: list[float] = []

    async def beat() -> None:
        while True:
            await clock.sleep(0.1)
            seen.append(clock.elapsed())

    beating = asyncio.create_task(beat())
    await clock.advance(1)
    beating.cancel()
    assert seen == [pytest.approx(tenth / 10) for tenth in range(1, 11)]


@pytest.mark.parametrize("seconds", [1e-9, 1 / 3, 0.1, 7_199.999_999, 86_399.000_001])
async def test_an_alarm_is_never_early_and_at_most_a_microsecond_late(
    clock: FakeClock, seconds: float
) -> None:
    await clock.advance(123.456_789)
    due = clock.elapsed() + seconds
    rung: list[float] = []
    clock.call_later(due - clock.elapsed(), lambda: rung.append(clock.elapsed()))
    await clock.advance("2d")
    assert due - 1e-9 <= rung[0] <= due + 1.1e-6


async def test_a_jump_moves_the_wall_clock_and_no_alarm(clock: FakeClock) -> None:
    rung: list[None] = []
    clock.call_later(60, lambda: rung.append(None))
    clock.jump(timedelta(days=1))
    clock.jump(-3600)
    await clock.settle()
    assert (clock.now(), clock.elapsed(), rung) == (day(1, 23), 0, [])


async def test_settling_sees_a_long_chain_of_tasks_through(clock: FakeClock) -> None:
    done = asyncio.Event()

    async def chain(length: int) -> None:
        if length:
            await asyncio.create_task(chain(length - 1))
        else:
            done.set()

    running = asyncio.create_task(chain(200))
    await clock.settle()
    assert done.is_set()
    await running


async def test_a_task_that_never_waits_is_reported_and_not_waited_for(clock: FakeClock) -> None:
    async def restless() -> None:
        while True:
            await clock.sleep(0)

    running = asyncio.create_task(restless())
    with pytest.raises(AssertionError, match="does not come to rest"):
        await clock.advance(1)
    running.cancel()


async def test_two_tasks_cannot_move_the_clock_at_once(clock: FakeClock) -> None:
    moving = asyncio.create_task(clock.advance(10))
    await clock.sleep(0)
    with pytest.raises(AssertionError, match="being moved already"):
        await clock.advance(10)
    await moving


async def test_until_moves_time_no_further_than_needed(clock: FakeClock) -> None:
    async def work() -> str:
        await clock.sleep(90)
        return "done"

    assert await clock.until(work()) == "done"
    assert clock.elapsed() == 90


async def test_until_gives_up_and_says_so(clock: FakeClock) -> None:
    with pytest.raises(AssertionError, match="not done within 1 hour of fake time"):
        await clock.until(asyncio.Event().wait(), within="1h")


async def test_a_daily_schedule_fires_once_for_each_day(clock: FakeClock) -> None:
    app = Drumbeat("memory://", runtime=FakeRuntime(clock), **CALM)
    ran: list[tuple[datetime | None, datetime]] = []

    @app.scheduled("0 2 * * *")
    async def cleanup(ctx: Context) -> None:
        ran.append((ctx.tick_at, clock.now()))

    async with running(app):
        await clock.advance("2d")
    assert ran == [(day(1, 2), day(1, 2)), (day(2, 2), day(2, 2))]


async def test_a_failed_job_is_retried_after_its_delay(app: Drumbeat, clock: FakeClock) -> None:
    tried: list[float] = []

    @app.task(retry=Retry.backpressure(max_retries=3, base_delay=10))
    async def flaky() -> str:
        tried.append(clock.elapsed())
        if len(tried) < 3:
            raise ConnectionError("not yet")
        return "at last"

    async with running(app):
        job = await flaky.submit()
        await clock.advance("1m")
        job = await app.jobs.get(job.id)
    first, second, third = tried
    assert first == 0
    assert 5 <= second - first <= 10
    assert 10 <= third - second <= 20
    assert (job.status, job.attempt, flaky.result(job)) == (Status.COMPLETED, 3, "at last")


async def test_an_attempt_that_takes_too_long_ends_at_its_time_out(
    app: Drumbeat, clock: FakeClock
) -> None:
    ended: list[float] = []

    @app.task(timeout=30, retry=Retry.never())
    async def hang() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(clock.elapsed())

    async with running(app):
        job = await hang.submit()
        await clock.advance("1m")
        job = await app.jobs.get(job.id)
    assert ended == [30]
    assert job.status is Status.FAILED
    assert "timed out after 30 s" in str(job.error)


async def test_a_snoozed_job_runs_again_and_spends_no_attempt(
    app: Drumbeat, clock: FakeClock
) -> None:
    runs: list[tuple[float, int]] = []

    @app.task
    async def patient(ctx: Context) -> None:
        runs.append((clock.elapsed(), ctx.number))
        if len(runs) == 1:
            raise Snooze(3600)

    async with running(app):
        await patient.submit()
        await clock.advance("2h")
    assert runs == [(0, 1), (3600, 1)]


async def test_a_delayed_job_waits_for_its_time(app: Drumbeat, clock: FakeClock) -> None:
    @app.task
    async def later() -> None: ...

    async with running(app):
        job = await later.options(delay=60).submit()
        await clock.advance(59.999_999)
        assert (await app.jobs.get(job.id)).status is Status.PENDING
        await clock.advance(0.000_001)
        job = await app.jobs.get(job.id)
    assert (job.status, job.started_at) == (Status.COMPLETED, START + timedelta(seconds=60))


async def test_synchronous_handlers_are_waited_for_though_they_run_in_threads() -> None:
    clock = FakeClock(patience=60)  # a busy machine may keep a thread waiting for a while
    app = Drumbeat("memory://", runtime=FakeRuntime(clock))
    threads: set[int] = set()

    @app.scheduled(every(hours=1))
    def cleanup() -> None:
        threading.Event().wait(0.002)  # blocks its thread for longer than the loop has work
        threads.add(threading.get_ident())

    async with running(app):
        await clock.advance("6h")
        jobs = await submitted(app, statuses=frozenset({Status.COMPLETED}))
    assert len(jobs) == 6
    assert threading.get_ident() not in threads


async def test_a_handler_that_holds_its_thread_does_not_hold_the_clock() -> None:
    clock = FakeClock(patience=0.01)
    app = Drumbeat("memory://", runtime=FakeRuntime(clock))

    @app.task(timeout=30, retry=Retry.never())
    def stuck(ctx: Context) -> None:
        ctx.cancelled.block()

    async with running(app):
        job = await stuck.submit()
        await clock.advance("1m")
        job = await app.jobs.get(job.id)
    assert job.status is Status.FAILED
    assert job.finished_at == START + timedelta(seconds=30)


async def test_a_tick_that_finds_its_job_unfinished_is_skipped(
    app: Drumbeat, clock: FakeClock
) -> None:
    @app.scheduled(every(minutes=1))
    async def slow() -> None:
        await clock.sleep(90)

    async with running(app):
        await clock.advance("3m")
        rows = (await app.schedules.ticks("slow")).items
    assert [(row.outcome, row.reason) for row in rows] == [
        (Outcome.FIRED, None),
        (Outcome.SKIPPED, SkipReason.OVERLAP),
        (Outcome.FIRED, None),
    ]


async def test_waiting_for_a_job_needs_time_to_be_moved(app: Drumbeat, clock: FakeClock) -> None:
    @app.task
    async def slow() -> str:
        await clock.sleep(90)
        return "done"

    async with running(app):
        job = await slow.submit()
        assert await clock.until(app.jobs.result(job.id)) == "done"
    assert clock.elapsed() == 90


async def test_hours_of_renewals_and_heartbeats_pass_in_a_moment(
    app: Drumbeat, clock: FakeClock
) -> None:

    @app.scheduled(every(minutes=10))
    async def beat() -> None: ...

    async with running(app):
        await clock.advance("6h")
        assert app.leadership.epoch == 1
    assert len(await submitted(app)) == 36
