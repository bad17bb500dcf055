"""The lines that people grep for, with the facts beside them."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import pytest

from drumbeat import Cancel, Context, Drumbeat, Retry, every
from drumbeat.electors import LeaderAwareScheduler, LeaderElection, logged
from drumbeat.model.errors import JobFailed
from drumbeat.model.events import AttemptEnded
from drumbeat.testing.clock import START, FakeClock
from drumbeat.testing.runtime import FakeRuntime
from tests.log_records import sentence_of, sentences


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def app(clock: FakeClock) -> Drumbeat:
    return Drumbeat("memory://", runtime=FakeRuntime(clock), instance_id="web-1")


def lines(caplog: pytest.LogCaptureFixture, sentence: str) -> list[Mapping[str, Any]]:
    """The facts of each line with this sentence, and its level."""
    return [
        {**record.__dict__["facts"], "level": record.levelname}
        for record in caplog.records
        if sentence_of(record) == sentence and record.name.startswith("drumbeat")
    ]


async def test_the_story_of_a_scheduled_task_can_be_read_in_the_log(
    app: Drumbeat, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="drumbeat")

    @app.scheduled(every(minutes=1))
    async def cleanup(ctx: Context) -> None:
        ctx.log.info("cleaning", rows=7)

    await app.start()
    await clock.advance(61)
    await clock.until(app.stop(0))
    web = {"instance_id": "web-1", "level": "INFO"}
    tick_at = START.replace(minute=1).isoformat()
    run = {
        "task": "cleanup",
        "job_id": 1,
        "attempt": 1,
        "schedule": "cleanup",
        "tick_at": tick_at,
    }

    assert lines(caplog, "Registering scheduled task") == [
        {**web, "task": "cleanup", "schedule": "cleanup"}
    ]
    assert lines(caplog, "Scheduler started successfully") == [{**web, "roles": "scheduler,worker"}]
    (became,) = lines(caplog, "Became the leader")
    assert {**became, **web, "epoch": 1} == became
    assert lines(caplog, "Leader executing scheduled task") == [{**web, **run, "epoch": 1}]
    (fired,) = lines(caplog, "Tick fired")
    assert (fired["tick_at"], fired["epoch"], fired["level"]) == (tick_at, 1, "DEBUG")
    (completed,) = lines(caplog, "Task completed successfully")
    assert {**completed, **web, **run} == completed
    assert completed["seconds"] == pytest.approx(0, abs=0.1)
    (lost,) = lines(caplog, "Lost leadership")
    assert (lost["instance_id"], lost["epoch"]) == ("web-1", 1)
    own = {**run, "rows": 7}
    assert lines(caplog, "cleaning") == [{**own, "level": "INFO"}]

    order = sentences(caplog.records)
    story = [
        "Registering scheduled task",
        "Scheduler started successfully",
        "Became the leader",
        "Tick fired",
        "Leader executing scheduled task",
        "cleaning",
        "Task completed successfully",
        "Draining",
        "Lost leadership",
        "Stopped",
    ]
    assert [sentence for sentence in order if sentence in story] == story


async def test_a_task_that_fails_is_told_with_its_error(
    app: Drumbeat, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="drumbeat")

    @app.task(retry=Retry.linear(max_retries=1, delay=1))
    async def work() -> None:
        raise RuntimeError("no such account")

    await app.start()
    job = await work.submit()
    await clock.until(app.jobs.wait(job.id))
    await clock.until(app.stop(0))
    told = [
        (record.levelname, record.__dict__["facts"])
        for record in caplog.records
        if sentence_of(record).startswith("Task failed")
    ]
    assert [level for level, _ in told] == ["WARNING", "ERROR"]
    assert [(facts["attempt"], facts["job_id"]) for _, facts in told] == [(1, job.id), (2, job.id)]
    assert told[0][1]["error"] == "RuntimeError: no such account"


async def test_jobs_without_a_schedule_do_not_fill_the_log(
    app: Drumbeat, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="drumbeat")

    @app.task
    async def work() -> None: ...

    await app.start()
    job = await work.submit()
    await clock.until(app.jobs.wait(job.id))
    assert lines(caplog, "Task completed successfully") == []
    await clock.until(app.stop(0))


async def test_the_log_of_a_context_keeps_what_was_bound(
    app: Drumbeat, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="drumbeat")

    @app.task
    async def work(ctx: Context) -> None:
        log = ctx.log.bind(customer="Ada")
        log.debug("looking")
        log.warning("slow", seconds=3)
        try:
            _ = 1 / 0
        except ZeroDivisionError:
            log.exception("failed")

    await app.start()
    await clock.until(app.jobs.wait((await work.submit()).id))
    await clock.until(app.stop(0))
    (slow,) = lines(caplog, "slow")
    assert (slow["customer"], slow["seconds"], slow["task"]) == ("Ada", 3, "work")
    (failed,) = [record for record in caplog.records if sentence_of(record) == "failed"]
    assert failed.exc_info is not None
    assert failed.name == "drumbeat.task.work"


async def test_a_node_that_schedules_nothing_does_not_say_that_a_scheduler_started(
    app: Drumbeat, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="drumbeat")
    await app.start(["worker"])
    await clock.until(app.stop(0))
    assert lines(caplog, "Scheduler started successfully") == []
    assert [line["roles"] for line in lines(caplog, "Node started successfully")] == ["worker"]


async def test_the_start_tells_what_the_node_has_and_serves(
    clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="drumbeat")
    app = Drumbeat("memory://", runtime=FakeRuntime(clock), queues=("mail", "default"))

    @app.task
    async def work() -> None: ...

    @app.scheduled(every(minutes=1))
    async def cleanup() -> None: ...

    await app.start()
    await clock.until(app.stop(0))
    (joined,) = lines(caplog, "Joining the fleet")
    assert (joined["store"], joined["coordinator"]) == ("memory://", "the store")
    assert joined["queue"] == "the store"
    assert (joined["queues"], joined["tasks"], joined["schedules"]) == ("mail,default", 2, 1)
    assert not [record for record in caplog.records if record.levelname == "WARNING"]


@pytest.mark.parametrize("role", ["scheduler", "worker"])
async def test_an_app_without_tasks_says_so(
    app: Drumbeat, clock: FakeClock, caplog: pytest.LogCaptureFixture, role: str
) -> None:
    await app.start([role])
    await clock.until(app.stop(0))
    (warning,) = [record for record in caplog.records if record.levelname == "WARNING"]
    assert "This app has no tasks: import the modules that declare them" in warning.getMessage()


async def test_the_event_of_a_failure_has_its_exception(app: Drumbeat, clock: FakeClock) -> None:
    ended: list[AttemptEnded] = []
    app.on(AttemptEnded)(ended.append)
    error = LookupError("no account")

    @app.task(retry=Retry.linear(max_retries=0))
    async def work() -> None:
        raise error

    @app.task(retry=Retry.linear(max_retries=0), timeout=1)
    async def late() -> None:
        await asyncio.Event().wait()

    @app.task
    async def gives_up() -> None:
        raise Cancel("nothing to do")

    await app.start()
    for task in (work, late, gives_up):
        with suppress(JobFailed):
            await clock.until(app.jobs.wait((await task.submit()).id))
    await clock.until(app.stop(0))
    failed, timed_out, cancelled = (event.exception for event in ended)
    assert failed is error
    assert isinstance(timed_out, TimeoutError)
    names = [frame.name for frame in traceback.extract_tb(timed_out.__traceback__)]
    assert names == ["late", "wait"]
    assert cancelled is None


async def test_the_end_of_an_attempt_without_failure_is_told_with_its_reason(
    app: Drumbeat, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="drumbeat")

    @app.task
    async def work() -> None:
        raise Cancel("nothing to do")

    await app.start()
    await clock.until(app.jobs.wait((await work.submit()).id))
    await clock.until(app.stop(0))
    (line,) = lines(caplog, "Task cancelled")
    assert (line["level"], line["reason"]) == ("INFO", "nothing to do")


async def test_one_line_tells_of_each_change_of_leadership(
    app: Drumbeat, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="drumbeat")
    election = LeaderElection("web-1", runtime=FakeRuntime(clock))
    async with LeaderAwareScheduler(logged(election, "web-1"), app):
        await clock.advance(5)
    leadership = [
        sentence
        for sentence in sentences(caplog.records)
        if sentence in ("Became the leader", "Lost leadership")
    ]
    assert leadership == ["Became the leader", "Lost leadership"]


async def test_an_election_that_is_logged_around_is_told_once(
    clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="drumbeat")
    election = LeaderElection("web-1", runtime=FakeRuntime(clock))
    elector = logged(election, "web-1")
    async with election:
        assert await elector.is_leader()
    assert not await elector.is_leader()
    assert sentences(caplog.records) == ["Became the leader", "Lost leadership"]
