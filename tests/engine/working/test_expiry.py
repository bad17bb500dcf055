"""Jobs that expire before they could start."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from drumbeat import Drumbeat, Retry, Status
from drumbeat.model.errors import InvalidOption, InvalidPolicy
from drumbeat.model.events import JobExpired
from drumbeat.model.jobs.expiry import EXPIRED
from drumbeat.model.jobs.job import JobFilter
from tests.engine.support.fleet import Fleet, Heard


async def test_a_job_whose_workers_are_busy_expires_and_is_reported(
    fleet: Fleet, app: Drumbeat, heard: Heard, caplog: pytest.LogCaptureFixture
) -> None:
    release = asyncio.Event()
    ran: list[str] = []

    @app.task(concurrency=1, expires="10s")
    async def push(name: str) -> None:
        ran.append(name)
        await release.wait()

    async with fleet.running(app):
        first = await push.submit("first")
        await fleet.clock.settle()
        second = await push.submit("second")
        assert second.expires_at == second.created_at + timedelta(seconds=10)
        await fleet.clock.advance("9s")
        assert (await app.jobs.get(second.id)).status is Status.QUEUED
        await fleet.clock.advance("2s")
        expired = await app.jobs.get(second.id)
        assert (expired.status, expired.error) == (Status.CANCELLED, EXPIRED)
        assert expired.finished_at == second.expires_at
        assert [event.job.id for event in heard.of(JobExpired)] == [second.id]
        (warned,) = [record for record in caplog.records if "expired" in record.message]
        facts = warned.__dict__["facts"]
        assert (facts["task"], facts["job_id"]) == ("push", second.id)
        release.set()
        assert (await fleet.done(app, first, "1s")).status is Status.COMPLETED
        assert ran == ["first"]
        found = await app.jobs.list(JobFilter(expired=True))
        assert [job.id for job in found.items] == [second.id]


async def test_a_job_expires_although_no_worker_runs(fleet: Fleet, app: Drumbeat) -> None:
    @app.task(queue="elsewhere", expires="10s")
    async def push() -> None: ...

    async with fleet.running(app):
        job = await push.submit()
        await fleet.clock.advance("11s")
        assert (await app.jobs.get(job.id)).has_expired


async def test_a_retry_that_would_come_too_late_fails_the_job_with_its_error(
    fleet: Fleet, app: Drumbeat
) -> None:
    @app.task(expires="10s", retry=Retry.linear(5, 20.0))
    async def push() -> None:
        raise ValueError("no answer")

    async with fleet.running(app):
        job = await fleet.done(app, await push.submit(), "1s")
        assert (job.status, job.attempt) == (Status.FAILED, 1)
        assert "no answer" in (job.error or "")


async def test_a_worker_that_finds_an_expired_job_goes_on_with_the_next(
    fleet: Fleet, app: Drumbeat
) -> None:
    @app.task
    async def push() -> None: ...

    late = [await push.options(expires="10s").submit() for _ in range(3)]
    live = await push.submit()
    await fleet.clock.advance("10s")
    async with fleet.running(app):
        assert (await fleet.done(app, live, "1s")).status is Status.COMPLETED
        assert all([(await app.jobs.get(job.id)).has_expired for job in late])


@pytest.mark.parametrize("expires", [0, "0s", "11y", timedelta(days=3651), "soon"])
async def test_a_length_that_cannot_be_is_refused(
    app: Drumbeat, expires: float | str | timedelta
) -> None:
    @app.task
    async def push() -> None: ...

    with pytest.raises(InvalidOption, match="expires"):
        push.options(expires=expires)


@pytest.mark.parametrize("retention", [0, "11y", timedelta(days=3651), "soon"])
async def test_a_retention_that_cannot_be_is_refused(
    app: Drumbeat, retention: float | str | timedelta
) -> None:
    @app.task
    async def push() -> None: ...

    with pytest.raises(InvalidOption, match="retention"):
        push.options(retention=retention)


async def test_the_jobs_of_a_task_with_a_retention_are_pruned_by_it(
    fleet: Fleet, app: Drumbeat
) -> None:
    @app.task(retention="1h")
    async def push() -> None: ...

    @app.task
    async def keep() -> None: ...

    async with fleet.running(app):
        short = await fleet.done(app, await push.submit(), "1s")
        long = await fleet.done(app, await keep.submit(), "1s")
        await fleet.clock.advance("2h")
        found = (await app.jobs.list()).items
        assert [job.id for job in found] == [long.id]
        assert short.spec.retention == timedelta(hours=1)


async def test_a_schedule_takes_a_length_and_no_instant(fleet: Fleet, app: Drumbeat) -> None:
    @app.task
    async def push() -> None: ...

    @app.scheduled("0 * * * *", expires="10m")
    async def pull() -> None: ...

    with pytest.raises(InvalidPolicy, match="expires of schedule 'late' must be a length"):

        @app.scheduled("0 * * * *", name="late", expires=fleet.clock.now())
        async def late() -> None: ...
