"""Whole apps with a Redis queue in front of their store, while Redis fails in every way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from drumbeat import Drumbeat, Status
from drumbeat.model.errors import ConfigurationError
from drumbeat.model.events import QueueAnswered, QueueFailed
from drumbeat.model.jobs.job import Job
from servers import Postgres, Redis

from .redis_cases import CLOCK, pass_time

SOON = 60.0
"""Seconds that a busy machine may take."""


@pytest.fixture(params=["SQLite", "PostgreSQL", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "SQLite":
        return f"sqlite:///{tmp_path}/jobs.db"
    if request.param == "PostgreSQL":
        postgres: Postgres = request.getfixturevalue("postgres")
        return postgres.address
    return "memory://"


@pytest.fixture
def server(redis: Redis) -> Iterator[Redis]:
    """One of our own, since we will break it; skipped where the shared one is."""
    with Redis.start() as server:
        yield server


def app_of(store: str, queue: str, key: str, **settings: object) -> Drumbeat:
    app = Drumbeat(
        store,
        queue=queue,
        environment={},
        namespace=key.replace("/", "-"),
        **settings,  # type: ignore[arg-type]  # as the tests write them
    )

    @app.task
    async def work(number: int) -> int:
        return number

    return app


@asynccontextmanager
async def running(app: Drumbeat) -> AsyncGenerator[Drumbeat]:
    async with app.running():
        yield app


async def submit(app: Drumbeat, count: int = 1) -> list[Job]:
    return [await app.task_named("work").submit(number) for number in range(count)]


async def all_complete(app: Drumbeat, jobs: list[Job]) -> None:
    async with asyncio.timeout(SOON):
        for job in jobs:
            done = await app.jobs.wait(job.id)
            assert (done.status, done.attempt) == (Status.COMPLETED, 1)


async def test_jobs_run_with_a_queue_in_front_of_any_store(
    store: str, redis: Redis, key: str
) -> None:
    app = app_of(store, redis.address, key)
    async with running(app):
        await all_complete(app, await submit(app, 20))
        many = await app.jobs.submit_many("work", [(number,) for number in range(500)])
        await all_complete(app, list(many))


async def test_jobs_run_through_every_fault_of_redis(store: str, server: Redis, key: str) -> None:
    app = app_of(store, server.address, key)
    failed: list[QueueFailed] = []
    answered: list[QueueAnswered] = []
    app.on(QueueFailed)(failed.append)
    app.on(QueueAnswered)(answered.append)
    async with running(app):
        await all_complete(app, await submit(app, 5))

        server.ask("FLUSHALL")
        await all_complete(app, await submit(app, 5))
        assert failed == []

        server.kill()
        await all_complete(app, await submit(app, 5))
        async with asyncio.timeout(SOON):
            while not failed:
                await submit(app)
                await pass_time(timedelta(milliseconds=50))
        assert len({event.since for event in failed}) == 1

        server.restart_empty()
        async with asyncio.timeout(SOON):
            while not answered:
                await pass_time(timedelta(milliseconds=50))
        await all_complete(app, await submit(app, 5))

        server.pause()
        before = CLOCK.elapsed()
        jobs = await submit(app, 20)
        assert CLOCK.elapsed() - before < SOON / 2  # not a time-out for each
        await all_complete(app, jobs)
        server.resume()
        await all_complete(app, await submit(app, 5))


async def test_an_app_starts_without_its_queue_and_uses_it_later(
    store: str, server: Redis, key: str
) -> None:
    server.kill()
    app = app_of(store, server.address, key)
    answered: list[QueueAnswered] = []
    app.on(QueueAnswered)(answered.append)
    async with running(app):
        await all_complete(app, await submit(app, 3))
        assert (await app.fleet.health()).queue_health is False
        assert (await app.fleet.health()).status == "healthy"
        server.start_again()
        async with asyncio.timeout(SOON):
            while not answered:
                await pass_time(timedelta(milliseconds=50))
        await all_complete(app, await submit(app, 3))


async def test_an_app_does_not_start_with_a_queue_that_rejects_it(
    server: Redis, key: str, tmp_path: Path
) -> None:
    server.ask("CONFIG", "SET", "requirepass", "right")
    app = app_of(f"sqlite:///{tmp_path}/jobs.db", f"redis://:wrong@127.0.0.1:{server.port}", key)
    with pytest.raises(ConfigurationError, match="rejects the user name or the password"):
        await app.start()


async def test_two_nodes_share_the_jobs_and_run_each_once(
    server: Redis, postgres: Postgres, key: str
) -> None:
    runs: list[int] = []
    apps = [app_of(postgres.address, server.address, key, concurrency=3) for _ in range(2)]
    for app in apps:

        @app.task(name="note")
        async def note(number: int) -> None:
            runs.append(number)

    async with running(apps[0]), running(apps[1]):
        jobs = await apps[0].jobs.submit_many("note", [(number,) for number in range(300)])
        await all_complete(apps[1], list(jobs))
    assert sorted(runs) == list(range(300))


async def test_a_node_that_stops_leaves_no_receiver(
    server: Redis, key: str, tmp_path: Path
) -> None:
    app = app_of(f"sqlite:///{tmp_path}/jobs.db", server.address, key)
    stream = f"{{{key.replace('/', '-')}}}:jobs:default:normal"
    async with running(app):
        await all_complete(app, await submit(app, 3))
        async with asyncio.timeout(SOON):
            while str(app.id) not in server.ask("XINFO", "CONSUMERS", stream, "workers"):
                await pass_time(timedelta(milliseconds=20))
    assert str(app.id) not in server.ask("XINFO", "CONSUMERS", stream, "workers")
