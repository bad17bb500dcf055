"""Isolation: an app of a module, with an empty store in memory and a fake clock for one test."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Generator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from drumbeat import Context, Drumbeat, JobSpec, Retry, Status
from drumbeat.model.errors import ConfigurationError
from drumbeat.model.events import JobSubmitted
from drumbeat.testing import FakeClock, SyncIsolatedApp, isolated

FILE = Path("drumbeat.db")


@pytest.fixture(autouse=True)
def nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    monkeypatch.chdir(tmp_path)
    yield
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def app(nothing_is_written: None) -> Drumbeat:
    app = Drumbeat(f"sqlite:///{FILE}", environment={}, concurrency=7, worker_http_addr=":0")

    @app.task(retry=Retry.linear(max_retries=1, delay=60))
    async def send(order: int) -> str:
        return f"receipt {order}"

    @app.scheduled("0 2 * * *")
    async def cleanup(ctx: Context) -> None: ...

    return app


async def test_each_isolation_has_an_empty_store(app: Drumbeat) -> None:
    send = app.task_named("send")
    for order in (1, 2):
        with isolated(app) as test:
            await send.submit(order)
            (job,) = test.assert_submitted("send", order)
            assert test.submitted() == [job]
            test.assert_not_submitted(send, 3)


async def test_jobs_and_schedules_run_on_its_clock(app: Drumbeat) -> None:
    with isolated(app) as test:
        async with test.running():
            job = await app.task_named("send").submit(42)
            await test.advance("2d")
            assert (await app.jobs.result(job.id), app.addresses) == ("receipt 42", ())
        assert test.clock.elapsed() >= timedelta(days=2).total_seconds()
        test.assert_fired("cleanup", datetime(2030, 1, 2, 2, tzinfo=UTC))
        assert len(test.submitted(schedule="cleanup", statuses=frozenset({Status.COMPLETED}))) == 2


async def test_jobs_are_run_by_hand(app: Drumbeat) -> None:
    with isolated(app) as test:
        await app.task_named("send").submit(42)
        assert (await test.drain()).completed == 1
        ticked = await test.tick(at=datetime(2030, 1, 1, 2, tzinfo=UTC))
        assert [fired.schedule for fired in ticked.fired] == ["cleanup"]
        with test.inline():
            assert (await app.task_named("send").submit(43)).status is Status.COMPLETED


async def test_all_is_as_before_at_its_end(app: Drumbeat) -> None:
    before, submissions = dict(vars(app)), app._submissions
    ways = submissions.submitter, submissions.bridge, submissions.joined
    tasks = app.tasks

    async def only_here() -> None: ...

    with suppress(ZeroDivisionError), isolated(app):
        app.scheduled("0 3 * * *")(only_here)
        app.on(JobSubmitted)(print)
        assert app.settings.store == "memory://"
        raise ZeroDivisionError
    assert vars(app) == before
    assert vars(app).keys() == before.keys()
    assert ways == (submissions.submitter, submissions.bridge, submissions.joined)
    assert app.tasks == tasks
    assert "only_here" not in app._declared
    assert app.settings.store == f"sqlite:///{FILE}"


async def test_listeners_of_the_app_hear_what_happens_and_others_are_forgotten(
    app: Drumbeat,
) -> None:
    heard: list[object] = []
    app.on(JobSubmitted)(heard.append)
    for _ in range(2):
        with isolated(app):
            app.on(JobSubmitted)(heard.append)
            await app.task_named("send").submit(1)
    assert len(heard) == 4


async def test_settings_stay_unless_they_lead_out_of_the_process() -> None:
    app = Drumbeat(
        environment={
            "DRUMBEAT_STORE": "postgresql://db/shop",
            "REDIS_URL": "redis://cache",
            "ETCD_ENDPOINTS": "etcd",
            "DRUMBEAT_CONCURRENCY": "7",
            "WORKER_HTTP_ADDR": ":9100",
            "LEADER_ELECTION_RENEW_INTERVAL": "1s",
        }
    )
    with isolated(app):
        settings = app.settings
        assert (settings.store, settings.coordinator) == ("memory://", None)
        assert (settings.redis_url, settings.etcd_endpoints) == (None, None)
        assert settings.worker_http_addr is None
        assert (settings.concurrency, settings.seconds("renew_interval")) == (7, 1)
        assert settings.seconds("lease_ttl") == 10  # with an interval of its own


async def test_an_elector_of_the_app_is_not_asked(app: Drumbeat) -> None:
    class Real:
        async def is_leader(self) -> bool:
            raise AssertionError("it was asked")

    app.obey(Real())
    with isolated(app) as test:
        async with test.running():
            await test.advance("1m")
            assert app.leadership.is_leader


async def test_a_running_app_cannot_be_isolated() -> None:
    app = Drumbeat("memory://", environment={})
    async with app.running():
        with pytest.raises(ConfigurationError, match="the app is running"), isolated(app):
            pass


async def test_the_clock_can_be_given(app: Drumbeat) -> None:
    clock = FakeClock()
    with isolated(app, clock) as test:
        assert test.clock is clock
        await clock.advance("1h")
        job = await app.task_named("send").submit(1)
        assert job.created_at == clock.now()


async def test_a_job_over_a_callers_connection_is_created_at_once(app: Drumbeat) -> None:
    with isolated(app) as test:
        send = app.task_named("send").options(connection=object())
        await send.submit(1)
        await send.submit_many([(2,), (3,)])
        await asyncio.to_thread(send.submit_sync, 4)
        assert [job.spec.arguments for job in test.submitted("send")] == [
            b'{"order":%d}' % order for order in (1, 2, 3, 4)
        ]


async def test_the_hooks_of_the_app_are_called(app: Drumbeat) -> None:
    called: list[str] = []

    @app.submit_middleware
    def tag(spec: JobSpec) -> JobSpec:
        called.append("submit")
        return spec

    @app.middleware
    async def around(ctx: Context, call_next: Callable[[], Awaitable[Any]]) -> Any:
        called.append("attempt")
        return await call_next()

    with isolated(app) as test:
        await app.task_named("send").submit(1)
        await test.drain()
    assert called == ["submit", "attempt"]


class TestWithoutAnEventLoop:
    def test_code_without_a_loop_submits_and_its_jobs_run(self, app: Drumbeat) -> None:
        with isolated(app) as isolation:
            test = SyncIsolatedApp(isolation)
            job = app.task_named("send").submit_sync(42)
            test.assert_submitted("send", 42)
            assert test.drain().completed == 1
            assert test.call(lambda: app.jobs.result(job.id)) == "receipt 42"
            with test.inline():
                assert app.task_named("send").submit_sync(43).status is Status.COMPLETED

    def test_an_app_runs_while_time_passes(self, app: Drumbeat) -> None:
        with isolated(app) as isolation:
            test = SyncIsolatedApp(isolation)
            with test.running():
                app.task_named("send").options(delay="1h").submit_sync(42)
                test.advance("1d")
                test.assert_fired("cleanup", datetime(2030, 1, 1, 2, tzinfo=UTC))
                (job,) = test.submitted("send")
            assert (job.status, job.started_at) == (
                Status.COMPLETED,
                datetime(2030, 1, 1, 1, tzinfo=UTC),
            )

    def test_a_handler_without_a_loop_submits_from_its_thread(self, app: Drumbeat) -> None:
        with isolated(app) as isolation:
            test = SyncIsolatedApp(isolation)

            @app.task
            def forward(order: int) -> None:
                app.task_named("send").submit_sync(order)

            forward.submit_sync(42)
            assert test.drain().completed == 2
            test.assert_submitted("send", 42)

    def test_no_thread_is_left(self, app: Drumbeat) -> None:
        before = set(threading.enumerate())
        with isolated(app) as isolation:
            app.task_named("send").submit_sync(42)
            assert SyncIsolatedApp(isolation).clock.elapsed() == 0
            assert set(threading.enumerate()) - before
        assert not {each.name for each in set(threading.enumerate()) - before}

    async def test_it_is_refused_where_a_loop_runs(self, app: Drumbeat) -> None:
        with isolated(app) as isolation, pytest.raises(Exception, match="runs an event loop"):
            SyncIsolatedApp(isolation).drain()

    def test_an_app_that_runs_on_another_thread_is_moved_on(self, app: Drumbeat) -> None:
        """As under the test client of a web framework, which has a thread for the app."""
        up, done = threading.Event(), threading.Event()

        async def serve() -> None:
            async with app.running():
                up.set()
                await asyncio.to_thread(done.wait)

        with isolated(app) as isolation:
            test = SyncIsolatedApp(isolation)
            web = threading.Thread(target=lambda: asyncio.run(serve()))
            web.start()
            up.wait()
            app.task_named("send").submit_sync(42)
            test.advance("3h")
            done.set()
            web.join()
            test.assert_fired("cleanup", datetime(2030, 1, 1, 2, tzinfo=UTC))
            assert [job.status for job in test.submitted("send")] == [Status.COMPLETED]


async def test_a_mounted_api_serves_the_isolated_app(app: Drumbeat) -> None:
    api = app.asgi().api
    fleet = api._fleet
    with isolated(app) as test:
        await app.task_named("send").submit(42)
        listed = await api._fleet.jobs.list()  # what a request asks
        assert len(test.submitted()) == len(listed.items) == 1
        assert api._fleet.services.store is app.store
    assert api._fleet is fleet
