"""What is promised about jobs, with Redis in front of the store as well as without it.

Whole apps on real servers: order, pauses, limits, rates, delays, keys, retries, cancellation and
expiry. The store decides all of them, so a queue must not change any.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from drumbeat import Drumbeat, Retry, Status
from drumbeat.model.jobs.job import Job
from drumbeat.testing.conformance.builders import let_others_run
from servers import Postgres, Redis

SOON = 60.0
"""Seconds that a busy machine may take."""
EVERYTHING = ("scheduler", "worker")


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "SQLite":
        return f"sqlite:///{tmp_path}/jobs.db"
    postgres: Postgres = request.getfixturevalue("postgres")
    return postgres.address


@pytest.fixture(params=["alone", "behind Redis"])
def queue(request: pytest.FixtureRequest) -> str | None:
    if request.param == "alone":
        return None
    redis: Redis = request.getfixturevalue("redis")
    return redis.address


class Shop:
    """An app, and what its handlers did."""

    def __init__(self, store: str, queue: str | None, namespace: str) -> None:
        self._settings: dict[str, Any] = {"queue": queue, "namespace": namespace.replace("/", "-")}
        self._store = store
        self.ran: list[int] = []
        self.at_once = self.most_at_once = 0
        self._began = asyncio.Semaphore(0)
        self.app = self.node()

    def node(self, **settings: Any) -> Drumbeat:
        """A node of the fleet, which runs the handlers."""
        app = Drumbeat(self._store, environment={}, **self._settings, **settings)

        @app.task
        async def note(number: int) -> None:
            self.ran.append(number)

        @app.task(concurrency=2)
        async def narrow(number: int) -> None:
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
            await let_others_run()
            self.at_once -= 1
            self.ran.append(number)

        @app.task(rate_limit="3/2s")
        async def rated(number: int) -> None:
            self.ran.append(number)

        @app.task(retry=Retry.delays("0.1s", "0.1s"))
        async def flaky(number: int) -> None:
            self.ran.append(number)
            if len(self.ran) < 3:
                raise ConnectionError

        @app.task
        async def endless(number: int) -> None:
            self.ran.append(number)
            self._began.release()
            await asyncio.get_running_loop().create_future()

        return app

    async def submit(self, task: str, number: int, **options: Any) -> Job:
        return await self.app.task_named(task).options(**options).submit(number)

    async def begun(self, runs: int) -> None:
        """An endless handler has begun, which makes so many runs."""
        async with asyncio.timeout(SOON):
            await self._began.acquire()
        assert len(self.ran) == runs

    async def ended(self, jobs: Sequence[Job], status: Status = Status.COMPLETED) -> list[Job]:
        async with asyncio.timeout(SOON):
            done = [await self.app.jobs.wait(job.id) for job in jobs]
        assert {job.status for job in done} == {status}
        return done


@pytest.fixture
def shop(store: str, queue: str | None, key: str) -> Shop:
    return Shop(store, queue, key)


async def test_a_backlog_of_every_priority_runs_in_the_order_of_priorities(shop: Shop) -> None:
    async with shop.app.connected():
        priorities = [7 * number % 101 for number in range(101)]  # each once, mixed
        jobs = [await shop.submit("note", each, priority=each) for each in priorities]
        async with shop.node(concurrency=1).running(EVERYTHING):
            await shop.ended(jobs)
    assert shop.ran == sorted(priorities, reverse=True)


async def test_a_job_without_priority_runs_beside_a_stream_of_urgent_ones(shop: Shop) -> None:
    async with shop.app.running():
        patient = await shop.submit("note", -1, priority=0)
        urgent = [await shop.submit("note", number, priority=100) for number in range(50)]
        await shop.ended([patient, *urgent])


async def test_a_paused_queue_runs_nothing_and_a_resumed_one_everything(shop: Shop) -> None:
    async with shop.app.running():
        await shop.app.store.queues.pause("mail", "a test")
        paused = [await shop.submit("note", number, queue="mail") for number in range(5)]
        await shop.ended([await shop.submit("note", 100)])
        assert shop.ran == [100]
        async with shop.node(queues=("mail", "default")).running():
            await shop.ended([await shop.submit("note", 101)])
            assert shop.ran == [100, 101]
            await shop.app.store.queues.resume("mail")
            await shop.ended(paused)
    assert sorted(shop.ran) == [0, 1, 2, 3, 4, 100, 101]


async def test_a_limit_holds_over_two_nodes(shop: Shop) -> None:
    async with shop.app.running(), shop.node().running():
        await shop.ended([await shop.submit("narrow", number) for number in range(40)])
    assert sorted(shop.ran) == list(range(40))
    assert shop.most_at_once <= 2


async def test_a_rate_holds_over_two_nodes(shop: Shop) -> None:
    async with shop.app.running(), shop.node().running():
        done = await shop.ended([await shop.submit("rated", number) for number in range(7)])
    starts = sorted(job.started_at for job in done if job.started_at is not None)
    assert len(starts) == 7
    for earlier, later in zip(starts, starts[3:], strict=False):
        assert later - earlier >= timedelta(seconds=2)


async def test_a_delayed_job_starts_when_it_is_due_and_not_before(shop: Shop) -> None:
    async with shop.app.running():
        (job,) = await shop.ended([await shop.submit("note", 1, delay=0.5)])
    assert job.started_at is not None
    assert job.started_at >= job.run_at >= job.created_at + timedelta(seconds=0.5)


async def test_a_key_makes_one_job_of_many_submissions(shop: Shop) -> None:
    async with shop.app.running():
        jobs = [await shop.submit("note", 1, dedupe_key="only one") for _ in range(5)]
        await shop.ended(jobs)
    assert len({job.id for job in jobs}) == len(shop.ran) == 1


async def test_a_job_is_tried_again_until_it_succeeds(shop: Shop) -> None:
    async with shop.app.running():
        (done,) = await shop.ended([await shop.submit("flaky", 1)])
    assert (done.attempt, shop.ran) == (3, [1, 1, 1])


async def test_a_cancelled_job_does_not_run_and_a_running_one_ends(shop: Shop) -> None:
    async with shop.app.running():
        later = await shop.submit("note", 1, delay=3600)
        running = await shop.submit("endless", 2)
        await shop.begun(1)
        await shop.app.jobs.cancel(later.id)
        await shop.app.jobs.cancel(running.id)
        await shop.ended([later, running], Status.CANCELLED)
    assert shop.ran == [2]


async def test_a_job_that_expired_while_it_waited_is_not_run(shop: Shop) -> None:
    async with shop.app.connected():
        late = await shop.submit("note", 1, expires=0.01)
        async with shop.node().running(EVERYTHING):
            await shop.ended([late], Status.CANCELLED)
    assert shop.ran == []


async def test_a_job_given_back_by_a_node_that_stops_is_run_by_another(shop: Shop) -> None:
    first = shop.node()
    await first.start()
    async with shop.app.connected():
        job = await shop.submit("endless", 1)
        await shop.begun(1)
        await first.stop(0)
        async with shop.node().running():
            await shop.begun(2)
            await shop.app.jobs.cancel(job.id)
            await shop.ended([job], Status.CANCELLED)
