"""Hints of a database: by listening, and behind a pooler, where nobody can."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from drumbeat.backends.postgres.connection import listener
from drumbeat.backends.postgres.connection.connector import Connector, Limits
from drumbeat.backends.postgres.connection.database import Database
from drumbeat.backends.postgres.connection.hints import ANSWER, LATEST, PACE, Hints
from drumbeat.backends.postgres.connection.pool import Pool
from drumbeat.backends.postgres.store import PostgresStore
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.model.errors import Unavailable
from drumbeat.model.jobs.job import JobSpec, Status
from drumbeat.ports.store import Topic
from drumbeat.testing.clock import FakeClock
from servers import Pgbouncer, Postgres
from tests.support.postgres_namespace import kill_connections, until

SOON = 40.0


class TestHints:
    async def test_a_notification_wakes_its_channel_only(self, database: Database) -> None:
        jobs, times = asyncio.Event(), asyncio.Event()
        database.subscribe("jobs", jobs.set)
        database.subscribe("times", times.set)
        async with asyncio.timeout(SOON):
            await jobs.wait()  # once when listening begins
            await times.wait()
            jobs.clear()
            times.clear()
            await _notify(database, "jobs")
            await jobs.wait()
        assert not times.is_set()

    async def test_a_channel_that_comes_later_is_heard_too(self, database: Database) -> None:
        first, second = asyncio.Event(), asyncio.Event()
        database.subscribe("jobs", first.set)
        async with asyncio.timeout(SOON):
            await first.wait()
            database.subscribe("times", second.set)
            await second.wait()
            second.clear()
            await _notify(database, "times")
            await second.wait()

    async def test_who_has_ended_is_not_woken(self, database: Database) -> None:
        woken = 0
        other = asyncio.Event()

        def wake() -> None:
            nonlocal woken
            woken += 1

        stop = database.subscribe("jobs", wake)
        database.subscribe("jobs", other.set)
        async with asyncio.timeout(SOON):
            await other.wait()
            before = woken
            stop()
            stop()
            other.clear()
            await _notify(database, "jobs")
            await other.wait()
        assert woken == before

    async def test_namespaces_do_not_wake_each_other(
        self, database: Database, postgres: Postgres
    ) -> None:
        woken = asyncio.Event()
        database.subscribe("jobs", woken.set)
        async with asyncio.timeout(SOON):
            await woken.wait()
            woken.clear()
            await database.fetch("SELECT pg_notify('other:jobs', '')")
            await _notify(database, "times")
            await database.fetch("SELECT 1")
        assert not woken.is_set()

    async def test_everyone_is_woken_after_the_connection_was_lost(
        self, database: Database, postgres: Postgres
    ) -> None:
        woken = asyncio.Event()
        database.subscribe("jobs", woken.set)
        async with asyncio.timeout(SOON):
            await woken.wait()
            woken.clear()
            kill_connections(postgres.address)
            await woken.wait()
            woken.clear()
            await _notify(database, "jobs")
            await woken.wait()

    async def test_a_silent_connection_is_asked_whether_it_is_there(
        self, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        monkeypatch.setattr(listener, "CHECK", 0.1)
        monkeypatch.setattr(listener, "ANSWER", 0.2)
        caplog.set_level("DEBUG", logger="drumbeat.backends.postgres.connection")
        with Postgres.start() as server:
            database = Database(server.address, SystemClock())
            woken = asyncio.Event()
            database.subscribe("jobs", woken.set)
            async with asyncio.timeout(SOON):
                await woken.wait()
                woken.clear()
                server.pause()
                await until(lambda: "it did not answer in time" in caplog.text)
                server.resume()
                await woken.wait()
            await database.close()


class TestTelling:
    @pytest.fixture
    async def store(self, postgres: Postgres, namespace: str) -> AsyncIterator[PostgresStore]:
        store = PostgresStore(postgres.address, SystemClock(), namespace)
        await store.open()
        yield store
        await store.close()

    @pytest.fixture
    async def woken(self, database: Database) -> asyncio.Event:
        """Set whenever somebody tells of jobs, to a process that has heard of nothing so far."""
        woken = asyncio.Event()
        database.subscribe("jobs", woken.set)
        async with asyncio.timeout(SOON):
            await woken.wait()  # once when listening begins
        woken.clear()
        return woken

    @pytest.fixture
    def clock(self) -> FakeClock:
        return FakeClock()

    @pytest.fixture
    async def hints(
        self, database: Database, clock: FakeClock, woken: asyncio.Event
    ) -> AsyncIterator[Hints]:
        pool = Pool(Connector(database.address, Limits()), Limits(), SystemClock())
        yield Hints(database.names.channels + "jobs", pool, clock)
        await pool.close()

    async def test_a_lone_job_is_told_of_by_its_own_commit(
        self, postgres: Postgres, namespace: str, clock: FakeClock, woken: asyncio.Event
    ) -> None:
        store = PostgresStore(postgres.address, clock, namespace)  # whose alarms never ring
        async with asyncio.timeout(SOON):
            await store.jobs.insert([JobSpec("lone")])
            await woken.wait()
            await store.close()

    async def test_who_looks_when_it_is_woken_sees_the_last_job_of_a_burst(
        self, postgres: Postgres, namespace: str, clock: FakeClock, woken: asyncio.Event
    ) -> None:
        """And is not woken for each of them."""
        wakes, seen = 0, 0
        store = PostgresStore(postgres.address, clock, namespace)  # to it, no time passes

        async def look() -> None:
            nonlocal wakes, seen
            while seen < 60:
                await woken.wait()
                woken.clear()
                wakes += 1
                queues = await store.jobs.counts()
                seen = sum(counts.get(Status.QUEUED, 0) for counts in queues.values())

        async with asyncio.timeout(SOON), asyncio.TaskGroup() as group:
            group.create_task(look())
            for size in (1, 2, 3) * 10:
                await store.jobs.insert([JobSpec("one of many")] * size)
            await clock.advance(LATEST)
        assert wakes <= 2, "once by the first, and once for all the others"
        await store.close()

    async def test_what_a_notification_came_too_early_for_is_told_later(
        self, hints: Hints, clock: FakeClock, woken: asyncio.Event
    ) -> None:
        telling, quiet = hints.begin(), hints.begin()
        assert telling is not None
        assert quiet is None
        hints.end(quiet)  # after the other began, so that one may have been heeded before
        hints.end(telling)
        async with asyncio.timeout(SOON):
            await clock.advance(LATEST)
            await woken.wait()

    async def test_the_next_notification_tells_of_what_was_written_before_it(
        self, hints: Hints, clock: FakeClock, woken: asyncio.Event
    ) -> None:
        hints.end(hints.begin())
        hints.end(hints.begin())
        await clock.advance(PACE)
        telling = hints.begin()
        assert telling is not None
        hints.end(telling)
        await clock.advance(10 * LATEST)
        async with asyncio.timeout(SOON):
            await hints.close()
        assert not woken.is_set()

    async def test_a_notification_under_way_is_waited_for(
        self, hints: Hints, clock: FakeClock, woken: asyncio.Event
    ) -> None:
        hints.end(hints.begin())
        hints.end(hints.begin())
        await clock.advance(PACE)
        telling = hints.begin()
        await clock.advance(ANSWER - 2 * LATEST)
        hints.end(telling)
        await clock.advance(10 * ANSWER)
        async with asyncio.timeout(SOON):
            await hints.close()
        assert not woken.is_set()

    async def test_a_notification_that_failed_has_told_nobody(
        self, hints: Hints, clock: FakeClock, woken: asyncio.Event
    ) -> None:
        hints.end(hints.begin())
        hints.end(hints.begin())
        await clock.advance(PACE)
        assert hints.begin() is not None  # and its write fails
        async with asyncio.timeout(SOON):
            await clock.advance(ANSWER + LATEST)
            await woken.wait()

    async def test_what_is_untold_at_the_end_is_told(
        self, store: PostgresStore, woken: asyncio.Event, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("drumbeat.backends.postgres.connection.hints.CLOSING", SOON)
        hints = store.database.hints(Topic.JOBS.value)
        hints.end(hints.begin())
        hints.end(None)
        async with asyncio.timeout(SOON):
            await store.close()
            await woken.wait()

    async def test_a_hint_that_cannot_be_sent_is_no_error(
        self, clock: FakeClock, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("drumbeat.backends.postgres.connection.hints.CLOSING", SOON)
        caplog.set_level("DEBUG", "drumbeat.backends.postgres.connection")
        with Postgres.start() as server:
            database = Database(server.address, SystemClock())
            pool = Pool(Connector(database.address, Limits()), Limits(), SystemClock())
        hints = Hints("drumbeat:jobs", pool, clock)
        hints.end(None)
        async with asyncio.timeout(SOON):
            await hints.close()
        assert "a hint was lost" in caplog.text


async def hearing(database: Database) -> list[None]:
    """Subscribe, and return when it was woken for the first time; the list grows with each time."""
    woken: list[None] = []
    first = asyncio.Event()

    def wake() -> None:
        woken.append(None)
        first.set()

    await database.open()
    database.subscribe("jobs", wake)
    await first.wait()
    return woken


async def _notify(database: Database, channel: str) -> None:
    await database.fetch("SELECT pg_notify($1, '')", database.names.channels + channel)


class TestBehindAPooler:
    @pytest.fixture
    async def pooled(self, pgbouncer: Pgbouncer, namespace: str) -> AsyncIterator[Database]:
        database = Database(pgbouncer.address, SystemClock(), namespace)
        await database.open()
        yield database
        await database.close()

    async def test_it_is_noticed_and_said_once(
        self, pgbouncer: Pgbouncer, namespace: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level("INFO", "drumbeat.backends.postgres.connection")
        database = Database(pgbouncer.address, SystemClock(), namespace)
        async with asyncio.TaskGroup() as group:
            for _ in range(10):
                group.create_task(database.fetch("SELECT 1"))
        assert database.pooled
        assert caplog.text.count("is behind a pooler") == 1
        await database.close()

    async def test_it_may_be_said_in_the_address(self, postgres: Postgres, namespace: str) -> None:
        database = Database(f"{postgres.address}?pooler=transaction", SystemClock(), namespace)
        assert await database.fetch_value("SHOW statement_timeout") == "0"
        assert database.pooled
        await database.close()

    async def test_sessions_are_left_as_they_were(self, pooled: Database) -> None:
        for _ in range(5):
            await pooled.fetch("SELECT $1::int", 1)
        assert await pooled.fetch_value("SHOW statement_timeout") == "0"
        assert await pooled.fetch_value("SELECT count(*) FROM pg_prepared_statements") == 0

    async def test_many_callers_share_few_sessions(self, pooled: Database) -> None:
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(pooled.fetch_value("SELECT $1::int * 2", number))
                for number in range(200)
            ]
        assert [task.result() for task in tasks] == [2 * number for number in range(200)]

    async def test_hints_come_by_themselves(self, pgbouncer: Pgbouncer, namespace: str) -> None:
        clock = FakeClock()
        database = Database(pgbouncer.address, clock, namespace)
        async with asyncio.timeout(SOON):
            woken = await hearing(database)
            before = len(woken)
            await clock.advance(10)
        assert len(woken) - before == 10 / 0.25
        await database.close()

    async def test_they_come_less_and_less_often_while_the_server_is_away(
        self, postgres: Postgres, namespace: str
    ) -> None:
        clock = FakeClock()
        with Pgbouncer.start(postgres) as bouncer:
            database = Database(bouncer.address, clock, namespace)
            async with asyncio.timeout(SOON):
                woken = await hearing(database)
                bouncer.kill()
                with pytest.raises(Unavailable):
                    await database.fetch("SELECT 1")
                before = len(woken)
                await clock.advance(30)
                assert 6 <= len(woken) - before <= 10, "each wakes those who then ask the server"
                bouncer.start_again()
                assert await database.fetch_value("SELECT 1") == 1
                await clock.advance(listener.LONGEST_PAUSE)
                before = len(woken)
                await clock.advance(10)
                assert len(woken) - before == 10 / 0.25
            await database.close()

    async def test_they_come_less_often_while_a_pooler_has_no_server(self, namespace: str) -> None:
        """It still takes connections then, and ends them when something is asked."""
        clock = FakeClock()
        with Postgres.start() as server, Pgbouncer.start(server) as bouncer:
            patient = Database(server.address, clock, namespace)
            await patient.open()  # a busy machine may take its time to make the schema
            await patient.close()
            database = Database(bouncer.address, clock, namespace, Limits(statement=4.0))
            async with asyncio.timeout(2 * SOON):
                woken = await hearing(database)
                server.kill()
                said = "did not answer in time"
                while "in time" in said:  # at first it looks for the server, and makes us wait
                    with pytest.raises(Unavailable) as refused:
                        await database.fetch("SELECT 1")
                    said = str(refused.value)
                before = len(woken)
                await clock.advance(30)
            assert 6 <= len(woken) - before <= 10
            await database.close()

    async def test_a_pooler_that_keeps_sessions_keeps_everything(
        self, postgres: Postgres, namespace: str
    ) -> None:
        with Pgbouncer.start(postgres, mode="session") as bouncer:
            database = Database(f"{bouncer.address}?pooler=session", SystemClock(), namespace)
            woken = asyncio.Event()
            assert await database.fetch_value("SHOW statement_timeout") == "30s"
            assert not database.pooled
            database.subscribe("jobs", woken.set)
            async with asyncio.timeout(SOON):
                await woken.wait()
                woken.clear()
                await _notify(database, "jobs")
                await woken.wait()
            await database.close()
