"""Limits over the whole fleet: concurrency, keys, exclusive names, rates."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from drumbeat import Drumbeat, Retry, Status
from drumbeat.model.errors import InvalidOption
from drumbeat.model.events import JobConflicted, JobExcluded, JobSkipped
from drumbeat.model.jobs.job import JobFilter
from drumbeat.testing.clock import FakeClock
from tests.engine.support.fleet import Fleet, Heard


class Gauge:
    """How many run at once, by name, and the most that ever did."""

    def __init__(self, clock: FakeClock) -> None:
        self._clock = clock
        self._now: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        self.started: list[tuple[str, float]] = []

    async def run(self, name: str, seconds: float = 1.0) -> None:
        self._now[name] += 1
        self.most[name] = max(self.most[name], self._now[name])
        self.started.append((name, self._clock.elapsed()))
        await self._clock.sleep(seconds)
        self._now[name] -= 1


@pytest.fixture
def gauge(clock: FakeClock) -> Gauge:
    return Gauge(clock)


async def test_no_more_jobs_of_a_task_run_at_once_than_its_concurrency_over_the_whole_fleet(
    fleet: Fleet, gauge: Gauge
) -> None:
    apps = [fleet.app(), fleet.app()]
    for app in apps:

        @app.task(concurrency=3)
        async def work() -> None:
            await gauge.run("work")

        @app.task
        async def free() -> None:
            await gauge.run("free")

    async with fleet.running(*apps):
        for _ in range(9):
            await apps[0].jobs.submit("work")
            await apps[0].jobs.submit("free")
        await fleet.clock.until(apps[0].wait_until_idle(), "10s")
        assert gauge.most == {"work": 3, "free": 9}


async def test_no_more_jobs_with_the_same_key_run_at_once_than_the_keys_concurrency(
    fleet: Fleet, app: Drumbeat, gauge: Gauge
) -> None:
    @app.task(key="account-{account}", key_concurrency=2)
    async def bill(account: str, number: int) -> None:
        await gauge.run(account)

    async with fleet.running(app):
        await bill.submit_many([("a", number) for number in range(6)])
        await bill.submit("b", 1)
        await fleet.clock.until(app.wait_until_idle(), "10s")
        assert gauge.most == {"a": 2, "b": 1}
        assert ("b", 0.0) in gauge.started


async def test_a_key_is_made_of_defaults_too(fleet: Fleet, app: Drumbeat, gauge: Gauge) -> None:
    @app.task(key="{region}")
    async def work(region: str = "eu") -> None:
        await gauge.run(region)

    async with fleet.running(app):
        await work.submit()
        await work.submit("eu")
        await work.submit(region="eu")
        await fleet.clock.until(app.wait_until_idle(), "10s")
        assert gauge.most == {"eu": 1}


async def test_a_key_without_arguments_binds_all_the_same(
    fleet: Fleet, app: Drumbeat, gauge: Gauge
) -> None:
    @app.task(key="one-at-a-time")
    async def work() -> None:
        await gauge.run("work")

    async with fleet.running(app):
        await work.submit_many([(), (), ()])
        await fleet.clock.until(app.wait_until_idle(), "10s")
        assert gauge.most == {"work": 1}


def test_a_key_that_names_no_argument_is_refused(app: Drumbeat) -> None:
    with pytest.raises(InvalidOption, match=r"'\{acount\}' of task 'bill'.*acount"):

        @app.task(key="{acount}")
        async def bill(account: str) -> None: ...


async def test_an_exclusive_job_that_finds_its_name_taken_is_cancelled_and_said_so(
    fleet: Fleet, app: Drumbeat, heard: Heard, caplog: pytest.LogCaptureFixture
) -> None:
    release = asyncio.Event()

    @app.task(exclusive="deploy")
    async def deploy() -> None:
        await release.wait()

    @app.task(exclusive="deploy")
    async def migrate() -> None: ...

    async with fleet.running(app):
        first = await deploy.submit()
        await fleet.clock.settle()
        second = await migrate.submit()
        conflicted = await fleet.done(app, second, "1s")
        assert (conflicted.status, conflicted.attempt) == (Status.CANCELLED, 0)
        assert "limit" in (conflicted.error or "")
        assert [event.job_id for event in heard.of(JobConflicted)] == [second.id]
        (excluded,) = heard.of(JobExcluded)
        assert (excluded.job.spec.task, excluded.name) == ("migrate", "deploy")
        (warned,) = [record for record in caplog.records if "exclusive name" in record.message]
        facts = warned.__dict__["facts"]
        assert (warned.levelname, facts["task"], facts["job_id"], facts["exclusive"]) == (
            "WARNING",
            "migrate",
            second.id,
            "deploy",
        )
        release.set()
        assert (await fleet.done(app, first, "1s")).status is Status.COMPLETED
        assert (await fleet.done(app, await migrate.submit(), "1s")).status is Status.COMPLETED


async def test_a_job_that_is_skipped_says_so_for_those_who_look(
    fleet: Fleet, app: Drumbeat, heard: Heard, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG", "drumbeat")
    release = asyncio.Event()

    @app.task(exclusive="deploy", on_conflict="skip")
    async def deploy() -> None:
        await release.wait()

    async with fleet.running(app):
        first = await deploy.submit()
        await fleet.clock.settle()
        skipped = await fleet.done(app, await deploy.submit(), "1s")
        assert (skipped.status, skipped.was_skipped) == (Status.CANCELLED, True)
        assert heard.of(JobExcluded) == []
        (event,) = heard.of(JobSkipped)
        assert (event.job.id, event.name) == (skipped.id, "deploy")
        about = [each for each in caplog.records if f"job_id={skipped.id}" in each.getMessage()]
        assert {each.levelname for each in about} == {"DEBUG"}
        assert "skipped" in about[-1].getMessage()
        found = await app.jobs.list(JobFilter(skipped=True))
        assert [job.id for job in found.items] == [skipped.id]
        release.set()
        assert (await fleet.done(app, first, "1s")).status is Status.COMPLETED
        assert (await fleet.done(app, await deploy.submit(), "1s")).status is Status.COMPLETED


async def test_an_exclusive_job_may_wait_for_its_name(fleet: Fleet, gauge: Gauge) -> None:
    apps = [fleet.app(), fleet.app()]
    for app in apps:

        @app.task(exclusive="deploy", on_conflict="wait")
        async def deploy() -> None:
            await gauge.run("deploy")

    async with fleet.running(*apps):
        jobs = [await apps[0].jobs.submit("deploy") for _ in range(4)]
        await fleet.clock.until(apps[0].wait_until_idle(), "10s")
        assert gauge.most == {"deploy": 1}
        statuses = {(await apps[0].jobs.get(job.id)).status for job in jobs}
        assert statuses == {Status.COMPLETED}


async def test_waiting_for_a_concurrency_limit_is_no_conflict_of_an_exclusive_name(
    fleet: Fleet, app: Drumbeat, gauge: Gauge
) -> None:
    @app.task(exclusive="name", concurrency=1)
    async def work() -> None:
        await gauge.run("work")

    @app.task(concurrency=1)
    async def patient() -> None:
        await gauge.run("patient")

    async with fleet.running(app):
        jobs = await patient.submit_many([(), ()])
        await fleet.clock.until(app.wait_until_idle(), "10s")
        assert {(await app.jobs.get(job.id)).status for job in jobs} == {Status.COMPLETED}


async def test_an_interrupted_job_lets_go_of_its_limits(fleet: Fleet, app: Drumbeat) -> None:
    @app.task(exclusive="name", on_conflict="wait", timeout=5, retry=Retry.never())
    async def hang() -> None:
        await asyncio.Event().wait()

    async with fleet.running(app):
        first, second = await hang.submit(), await hang.submit()
        assert (await fleet.done(app, first, "6s")).status is Status.FAILED
        assert (await fleet.done(app, second, "6s")).status is Status.FAILED


async def test_jobs_start_no_faster_than_their_rate_and_none_is_forgotten(
    fleet: Fleet, app: Drumbeat, gauge: Gauge
) -> None:
    @app.task(rate_limit="2/10s")
    async def call() -> None:
        await gauge.run("call", 0)

    async with fleet.running(app):
        await call.submit_many([() for _ in range(6)])
        await fleet.clock.until(app.wait_until_idle(), "1m")
        # As many as the number at once, and no more until the period is over.
        assert [at for _, at in gauge.started] == pytest.approx([0, 0, 10, 10, 20, 20], abs=0.01)


@pytest.mark.parametrize(
    "rate", ["", "10", "/m", "x/m", "0/m", "5/", "-1/m", "5/0s", "5/fortnight"]
)
def test_a_rate_that_cannot_be_read_is_refused_by_name(app: Drumbeat, rate: str) -> None:
    with pytest.raises(InvalidOption, match="rate"):

        @app.task(rate_limit=rate)
        async def work() -> None: ...

    assert app.tasks == frozenset()
