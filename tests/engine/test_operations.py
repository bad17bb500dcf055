"""Built-in tasks, secrets and rates: what every node has, and what it shows to nobody."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from drumbeat import Drumbeat, JobFilter, Retry, Status
from drumbeat.fleet.local.queue_rates import QueueRate, QueueRates
from drumbeat.model.errors import InvalidHandler, InvalidInput, InvalidOption, UnknownTask
from drumbeat.model.jobs.job import JobSpec
from drumbeat.model.jobs.queue import QueueRecord, Queues
from drumbeat.testing import Cluster, FakeRuntime, drain


@pytest.fixture
def app() -> Drumbeat:
    return Drumbeat("memory://", runtime=FakeRuntime(), environment={})


def test_built_in_tasks_are_not_among_the_apps(app: Drumbeat) -> None:
    assert app.tasks == frozenset()


def test_a_task_cannot_have_a_name_of_ours(app: Drumbeat) -> None:
    with pytest.raises(InvalidHandler, match=r"those that begin with 'drumbeat\.' are Drumbeat's"):

        @app.task(name="drumbeat.mine")
        async def mine() -> None: ...

    with pytest.raises(UnknownTask):
        app.task_named("drumbeat.mine")


async def test_many_jobs_are_retried_and_cancelled_in_code(app: Drumbeat) -> None:
    @app.task(retry=Retry.never())
    async def fail() -> None:
        raise ValueError

    await fail.submit_many([(), ()])
    await drain(app)
    retried = await app.jobs.retry_many(JobFilter(task="fail"))
    assert (retried.status, retried.done, retried.total) == (Status.QUEUED, 0, None)
    assert (await drain(app)).failed == 2
    ended = await app.operations.wait(retried.id)
    assert (ended.done, ended.total, ended.failed) == (2, 2, 0)
    await app.submit(JobSpec("elsewhere"))
    with pytest.raises(InvalidInput, match="restricts nothing"):
        await app.jobs.cancel_many(JobFilter())
    cancelled = await app.jobs.cancel_many(JobFilter(), "old", everything=True)
    await drain(app)
    assert (await app.operations.get(cancelled.id)).done == 1
    assert [each.id for each in (await app.operations.list()).items] == [cancelled.id, retried.id]


async def test_an_operation_survives_the_death_of_the_leader_that_runs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def declare(app: Drumbeat) -> None:
        del app

    async with Cluster(declare, nodes=3) as cluster:
        leader = await cluster.wait_for_leader()
        jobs = cluster.client.store.jobs
        cancel, begun = jobs.cancel, asyncio.Event()

        async def hanging(*given: Any) -> Any:
            if not begun.is_set():
                begun.set()
                await asyncio.Event().wait()
            return await cancel(*given)

        monkeypatch.setattr(jobs, "cancel", hanging)
        for _ in range(3):
            await cluster.client.submit(JobSpec("elsewhere"))
        operation = await cluster.client.jobs.cancel_many(JobFilter(task="elsewhere"))
        await cluster.clock.until(begun.wait())
        running = await cluster.client.operations.get(operation.id)
        assert (running.status, running.done) == (Status.RUNNING, 0)
        await cluster.kill(leader)
        await cluster.advance("2m")
        done = await cluster.client.operations.get(operation.id)
    assert (done.status, done.done) == (Status.COMPLETED, 3)


@pytest.mark.parametrize("secret", [("colour",), "password"])
def test_only_arguments_can_be_secret(app: Drumbeat, secret: tuple[str, ...]) -> None:
    with pytest.raises(InvalidOption, match="secret"):

        @app.task(secret=secret)
        async def login(password: str) -> None: ...


def test_what_is_secret_belongs_to_the_task(app: Drumbeat) -> None:
    @app.task(secret=("password",))
    async def login(password: str) -> None: ...

    assert app.secrets("login") == ("password",)
    assert app.secrets("other") == ()
    with pytest.raises(InvalidOption, match="secret belongs to the task"):
        login.options(secret=())


START = datetime(2030, 1, 1, tzinfo=UTC)


def look(second: int, completed: int) -> Queues:
    record = QueueRecord("default", totals={Status.COMPLETED: completed})
    return Queues(START + timedelta(seconds=second), (record,))


def rate_of(rates: QueueRates, seen: Queues, name: str = "default") -> QueueRate | None:
    record = next((each for each in seen.queues if each.name == name), QueueRecord(name))
    return rates.of(record, seen.as_of)


def test_a_rate_needs_two_looks_that_are_apart() -> None:
    rates = QueueRates()
    assert rate_of(rates, look(0, 5)) is None
    rates.note(look(0, 5))
    assert rate_of(rates, look(1, 6)) is None
    rate = rate_of(rates, look(30, 15))
    assert rate is not None
    assert rate.per_minute[Status.COMPLETED] == 20.0
    other = rate_of(rates, look(30, 15), "other")
    assert other is not None
    assert set(other.per_minute.values()) == {0.0}


def test_a_rate_is_reckoned_over_the_last_minutes() -> None:
    rates = QueueRates()
    for minute in range(60):
        rates.note(look(60 * minute, minute if minute < 50 else 50 + (minute - 50) * 10))
    rate = rate_of(rates, look(3600, 150))
    assert rate is not None
    assert rate.over <= timedelta(minutes=7)
    assert rate.per_minute[Status.COMPLETED] == pytest.approx(10.0, abs=0.1)


def test_a_rate_is_never_below_nothing() -> None:
    rates = QueueRates()
    rates.note(look(0, 9))
    rate = rate_of(rates, look(60, 3))
    assert rate is not None
    assert rate.per_minute[Status.COMPLETED] == 0.0
