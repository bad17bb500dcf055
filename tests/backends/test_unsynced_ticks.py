"""A commit of ticks does not wait for the disk; the claim of a job waits for itself and for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from drumbeat.backends.postgres.store import PostgresStore
from drumbeat.backends.sqlite.connection.log.log_file import LogFile
from drumbeat.backends.sqlite.store import SqliteStore
from drumbeat.backends.sqlite.store.session import StoreSession
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import Duplicate, Status
from drumbeat.model.schedules.plan import Committed, Plan
from drumbeat.testing.conformance.builders import (
    add,
    after,
    all_jobs,
    commit,
    found,
    job_of,
    lead,
    plan,
    rows,
    schedule,
    take_one,
)
from servers import Postgres
from tests.support.postgres_namespace import tell

from .hand_clock import HandClock

NORMAL, FULL = 1, 2
"""What SQLite answers to `PRAGMA synchronous`."""
PATIENCE = 30.0
KEYED = replace(plan(schedule()).fires[0].job, dedupe_key="key")


def keyed_plan() -> Plan:
    made = plan(schedule())
    return replace(made, fires=(replace(made.fires[0], job=KEYED),))


class TestPostgres:
    """By killing all processes of a server that writes its log only if it has to."""

    async def test_ticks_that_a_crash_undoes_have_not_run_and_are_fired_again(self) -> None:
        with Postgres.start(settings={"wal_writer_delay": "10s"}) as server:
            async with opened(server) as store:
                await add(store, schedule())
                epoch = await lead(store)
                tell(server.address, "CHECKPOINT")
                assert isinstance(await commit(store, plan(schedule()), epoch), Committed)
                crash(server)
            async with opened(server) as store:
                assert await found(store) == schedule()
                assert (list(await rows(store)), await all_jobs(store)) == ([], 0)
                assert isinstance(await commit(store, plan(schedule()), epoch), Committed)
                assert len(await rows(store)) == 1

    async def test_a_crash_undoes_no_tick_whose_job_was_claimed(self) -> None:
        with Postgres.start(settings={"wal_writer_delay": "10s"}) as server:
            planned = plan(schedule())
            async with opened(server) as store:
                await add(store, schedule())
                verdict = await commit(store, planned, await lead(store))
                assert isinstance(verdict, Committed)
                attempt = await take_one(store, at=after(1))
                crash(server)
            async with opened(server) as store:
                job = await job_of(store, attempt.hold.job_id)
                assert (job.status, job.attempt) == (Status.RUNNING, 1)
                assert (await found(store)).cursor == planned.cursor
                assert [row.job_id for row in await rows(store)] == [job.id]

    async def test_a_crash_undoes_no_job_that_a_submission_was_answered_with(self) -> None:
        with Postgres.start(settings={"wal_writer_delay": "10s"}) as server:
            async with opened(server) as store:
                await add(store, schedule())
                verdict = await commit(store, keyed_plan(), await lead(store))
                assert isinstance(verdict, Committed)
                assert await existing(store) == verdict.jobs[0]
                crash(server)
            async with opened(server) as store:
                assert await existing(store) == verdict.jobs[0]


async def existing(store: PostgresStore) -> JobId:
    """The job that a submission with the same key is answered with."""
    (verdict,) = await store.jobs.insert([replace(KEYED, schedule=None, tick_at=None)])
    assert isinstance(verdict, Duplicate)
    return verdict.job.id


@asynccontextmanager
async def opened(server: Postgres) -> AsyncGenerator[PostgresStore]:
    store = PostgresStore(server.address, SystemClock())
    try:
        yield store
    finally:
        await store.close()


def crash(server: Postgres) -> None:
    server.kill()
    server.start_again()


@pytest.fixture
def writes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The durability of each transaction of a step from now on."""
    seen: list[int] = []
    flush = StoreSession.flush

    def noted(session: StoreSession) -> None:
        seen.append(durability(session))
        flush(session)

    monkeypatch.setattr(StoreSession, "flush", noted)
    return seen


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(tmp_path / "drumbeat.db", HandClock())
    await store.open()
    yield store
    await store.close()


def durability(session: StoreSession) -> int:
    (found,) = session.execute("PRAGMA synchronous").fetchone()
    assert isinstance(found, int)
    return found


class TestSqlite:
    """By the setting that SQLite has during a commit, since a power cut cannot be played."""

    async def test_only_a_step_that_says_so_does_not_wait_for_the_disk(
        self, store: SqliteStore
    ) -> None:
        database = store.database
        assert await database.write(durability) == FULL
        assert await database.write_unsynced(durability) == NORMAL
        assert await database.write(durability) == FULL

    async def test_a_step_that_waits_makes_its_whole_batch_wait(self, store: SqliteStore) -> None:
        database = store.database
        first, second = await asyncio.gather(
            database.write_unsynced(durability), database.write(durability)
        )
        assert (first, second) == (FULL, FULL)

    async def test_a_tick_is_brought_to_the_disk_although_nobody_claims_it(
        self, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        loop, synced = asyncio.get_running_loop(), asyncio.Event()
        sync = LogFile.sync

        def noted(log: LogFile) -> None:
            sync(log)
            loop.call_soon_threadsafe(synced.set)

        monkeypatch.setattr(LogFile, "sync", noted)
        await add(store, schedule())
        assert isinstance(await commit(store, plan(schedule()), await lead(store)), Committed)
        async with asyncio.timeout(PATIENCE):
            await synced.wait()

    async def test_closing_brings_ticks_to_the_disk(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        synced: list[LogFile] = []

        def noted(log: LogFile) -> None:
            synced.append(log)

        monkeypatch.setattr(LogFile, "sync", noted)
        store = SqliteStore(tmp_path / "another.db", HandClock())
        await add(store, schedule())
        assert isinstance(await commit(store, plan(schedule()), await lead(store)), Committed)
        await store.close()
        assert len(synced) == 1

    async def test_ticks_wait_for_the_disk_only_with_dedupe_keys(
        self, store: SqliteStore, writes: list[int]
    ) -> None:
        await add(store, schedule("plain"), schedule())
        epoch = await lead(store)
        writes.clear()
        assert isinstance(await commit(store, plan(schedule("plain")), epoch), Committed)
        assert set(writes) == {NORMAL}
        writes.clear()
        assert isinstance(await commit(store, keyed_plan(), epoch), Committed)
        assert set(writes) == {FULL}

    async def test_a_claim_waits_for_the_disk(self, store: SqliteStore, writes: list[int]) -> None:
        await add(store, schedule())
        assert isinstance(await commit(store, plan(schedule()), await lead(store)), Committed)
        writes.clear()
        await take_one(store, at=after(1))
        assert set(writes) == {FULL}
