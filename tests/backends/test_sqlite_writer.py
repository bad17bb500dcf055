"""The writer: batches, refusals, breaks, cancellation, and trouble with the file."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager
from pathlib import Path
from threading import Event

import pytest

from drumbeat.backends.sqlite.store import SqliteStore
from drumbeat.backends.sqlite.store import store as store_module
from drumbeat.backends.sqlite.store.session import StoreSession
from drumbeat.backends.sqlite.store.store import PATIENCE
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.model.errors import NaiveDatetime, StaleEpoch, Unavailable
from drumbeat.model.fleet.lease import Epoch
from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import JobSpec
from drumbeat.ports.store import Topic
from drumbeat.testing.conformance.builders import insert, spec, take

from .conftest import AGES
from .hand_clock import START, HandClock
from .sqlite_wholeness import check_whole


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "drumbeat.db"


@pytest.fixture
async def store(path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[SqliteStore]:
    monkeypatch.setattr(store_module, "PATIENCE", 0.05)
    store = SqliteStore(path, HandClock())
    await store.open()
    yield store
    await store.close()
    check_whole(path)


class Held:
    """Keeps the writer's thread busy with a step until it is let go."""

    def __init__(self, store: SqliteStore) -> None:
        self._go = Event()
        self.begun = Event()
        self.step = asyncio.ensure_future(store.database.write(self._wait))

    def _wait(self, _session: StoreSession) -> None:
        self.begun.set()
        self._go.wait()

    def let_go(self) -> None:
        self._go.set()


async def test_calls_that_wait_are_one_transaction(store: SqliteStore) -> None:
    sessions: list[int] = []
    await asyncio.gather(
        *(store.database.write(lambda session: sessions.append(id(session))) for _ in range(50))
    )
    assert len(sessions) == 50
    assert len(set(sessions)) == 1


async def test_an_error_after_the_commit_is_logged_and_fails_no_call(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(_session: StoreSession) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(StoreSession, "committed", broken)
    await asyncio.gather(*(store.jobs.insert([spec()]) for _ in range(3)))
    monkeypatch.undo()
    assert len(await store.jobs.get([JobId(number) for number in (1, 2, 3)])) == 3
    assert (await store.jobs.get([JobId(4)])) == [None]
    assert "After a commit to" in caplog.text


async def test_a_step_that_breaks_is_undone_alone(store: SqliteStore) -> None:
    def broken(session: StoreSession) -> None:
        session.execute("INSERT INTO limit_usage VALUES ('door', 7)")
        raise ZeroDivisionError

    first, problem, last = await asyncio.gather(
        store.jobs.insert([spec()]),
        store.database.write(broken),
        store.jobs.insert([spec()]),
        return_exceptions=True,
    )
    assert isinstance(problem, ZeroDivisionError)
    assert not isinstance(first, BaseException)
    assert not isinstance(last, BaseException)
    assert len(await take(store)) == 2


async def test_a_text_that_cannot_be_written_spoils_no_other_call(store: SqliteStore) -> None:
    good, bad = await asyncio.gather(
        store.jobs.insert([spec()]),
        store.jobs.insert([JobSpec("send", queue="\ud800")]),
        return_exceptions=True,
    )
    assert not isinstance(good, BaseException)
    assert isinstance(bad, UnicodeEncodeError)
    assert len(await take(store)) == 1


async def test_a_refusal_spoils_no_other_call(store: SqliteStore) -> None:
    refused, done = await asyncio.gather(
        store.schedules.commit([], Epoch("scheduler", 1)),
        store.jobs.insert([spec()]),
        return_exceptions=True,
    )
    assert isinstance(refused, StaleEpoch)
    assert not isinstance(done, BaseException)


async def test_a_step_whose_caller_was_cancelled_happens_as_a_whole(store: SqliteStore) -> None:
    held = Held(store)
    inserting = asyncio.ensure_future(store.jobs.insert([spec(), spec()]))
    while not held.begun.is_set():
        await asyncio.wait([inserting], timeout=0.001)
    inserting.cancel()
    held.let_go()
    with pytest.raises(asyncio.CancelledError):
        await inserting
    assert len(await take(store)) == 2


async def test_what_was_asked_for_before_closing_is_done(path: Path) -> None:
    store = SqliteStore(path, HandClock())
    inserting = asyncio.ensure_future(store.jobs.insert([spec()]))
    await asyncio.wait([inserting], timeout=0)
    await store.close()
    assert len(await inserting) == 1


async def test_a_closed_store_opens_again_when_it_is_asked(store: SqliteStore) -> None:
    await insert(store, spec())
    await store.close()
    assert len(await take(store)) == 1


async def test_who_listened_before_a_store_was_closed_hears_it_when_it_is_open_again(
    store: SqliteStore, path: Path
) -> None:
    heard = asyncio.Event()
    store.subscribe(Topic.JOBS, heard.set)
    await store.close()
    await store.open()
    other = SqliteStore(path, HandClock())
    await insert(other, spec())
    await other.close()
    async with asyncio.timeout(40):
        await heard.wait()


async def test_a_full_disk_undoes_everything_and_is_over_when_there_is_room(
    store: SqliteStore,
) -> None:
    await insert(store, spec())
    await store.database.write(lambda session: _limit_pages(session, room=2))
    large = JobSpec("send", b"x" * 100_000)
    with pytest.raises(Unavailable, match="the disk is full"):
        await store.jobs.insert([spec(), large])
    assert await store.jobs.counts() == {"default": {"queued": 1}}
    await store.database.write(lambda session: _limit_pages(session, room=10_000))
    await insert(store, spec(), large)
    assert len(await take(store)) == 3


async def test_a_lock_that_does_not_come_is_unavailable_and_over_when_it_is_let_go(
    path: Path, in_production: Callable[[], AbstractContextManager[None]]
) -> None:
    with in_production():
        store = SqliteStore(path, HandClock())
    await store.open()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    since = SystemClock().elapsed()
    async with asyncio.timeout(AGES / 2):
        with pytest.raises(Unavailable, match="locked"):
            await store.jobs.insert([spec()])
    assert SystemClock().elapsed() - since > 0.9 * PATIENCE
    assert await store.jobs.counts() == {}, "readers wait for nobody"
    other.execute("ROLLBACK")
    other.close()
    await insert(store, spec())
    await store.close()
    check_whole(path)


async def test_a_connection_that_is_lost_is_made_anew(store: SqliteStore) -> None:
    def lose(session: StoreSession) -> None:
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorcode = sqlite3.SQLITE_IOERR
        raise error

    with pytest.raises(Unavailable, match="failed to read or write"):
        await store.database.write(lose)
    await insert(store, spec())


async def test_a_time_without_a_zone_is_refused_before_anything_is_written(
    store: SqliteStore,
) -> None:
    naive = JobSpec("send", run_at=START.replace(tzinfo=None))
    with pytest.raises(NaiveDatetime):
        await store.jobs.insert([spec(), naive])
    with pytest.raises(NaiveDatetime):
        await store.jobs.insert([spec()], START.replace(tzinfo=None))
    assert await store.jobs.counts() == {}


def _limit_pages(session: StoreSession, room: int) -> None:
    (pages,) = session.execute("PRAGMA page_count").fetchone()
    session.execute(f"PRAGMA max_page_count = {pages + room}")
