"""The write-ahead log stays short: whoever writes, whoever reads, and on a disk that is full."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest

from chaos import disk
from chaos.disk import SmallDisk
from drumbeat.backends.sqlite.connection.log.checkpointer import FORCED, STEP
from drumbeat.backends.sqlite.connection.log.log_file import LIMIT, SHORT, LogFile
from drumbeat.backends.sqlite.store import SqliteStore
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.model.errors import Unavailable
from drumbeat.model.ids import NodeId
from drumbeat.model.jobs.job import Change, JobSpec, Settlement, Wanted

from .sqlite_child import LARGE
from .sqlite_wholeness import check_whole
from .test_sqlite_processes import child

MEGABYTE = 2**20
ONE_SCRIPT = 3 * MEGABYTE
"""More than one short-lived child writes."""
WANTED = Wanted(("default",), frozenset({"send"}), 100)
ONE = Wanted(("default",), frozenset({"send"}), 1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "drumbeat.db"


@pytest.fixture
async def store(path: Path) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(path, SystemClock())
    await store.open()
    yield store
    await store.close()
    check_whole(path)


async def submit(store: SqliteStore, megabytes: int) -> None:
    """Write so much in commits of a megabyte."""
    for _ in range(megabytes):
        await store.jobs.insert([LARGE] * 10)


async def churn(store: SqliteStore, times: int) -> None:
    """Write much, and leave the database as small as it was."""
    for _ in range(times):
        await store.jobs.insert([JobSpec("send", b"x" * 50_000)] * 4)
        taken = await store.jobs.take(WANTED, NodeId("node:1"))
        done = [Settlement(attempt.hold, Change.COMPLETE) for attempt in taken.attempts]
        await store.jobs.settle(done)
        await store.retention.prune_jobs(timedelta(0), 100)


async def grow_and_copy_log(store: SqliteStore, path: Path) -> None:
    """Write until the log is truncated, so that the database has all the pages it will need."""
    before = 0
    while LogFile(path).size() >= before:
        before = LogFile(path).size()
        await churn(store, 1)


async def fill_with_jobs(store: SqliteStore) -> int:
    """Insert jobs until the disk is full; return how many were acknowledged."""
    for number in count():
        try:
            await store.jobs.insert([JobSpec("send", b"x" * 50_000)])
        except Unavailable:
            return number
    raise AssertionError("a small disk is full at some time")


def _size(path: Path) -> int:
    return path.stat().st_size


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize("way", ["submit", "vanish"])
def test_short_lived_submitters_beside_an_idle_process_leave_a_short_log(
    path: Path, way: str
) -> None:
    for _ in range(12):
        with child(way, path) as script:
            assert script.hear() in ("closed", "leaving")
            script.process.wait()
        assert LogFile(path).size() <= LIMIT + ONE_SCRIPT
    if way == "submit":
        assert LogFile(path).size() <= SHORT, "each truncates the log when it leaves"


@pytest.mark.usefixtures("store")
def test_a_fleet_that_writes_all_the_time_keeps_its_log_short(path: Path) -> None:
    with ExitStack() as stack:
        fleet = [stack.enter_context(child("flood", path)) for _ in range(3)]
        assert [each.hear() for each in fleet] == ["ready"] * 3
        for each in fleet:
            each.tell()
        assert max(each.hear() for each in fleet) <= 2 * FORCED
        assert [each.hear() for each in fleet] == ["closed"] * 3
    assert LogFile(path).size() <= SHORT


async def test_one_process_that_writes_all_the_time_keeps_its_log_short(
    store: SqliteStore, path: Path
) -> None:
    longest = 0
    for _ in range(100):
        await submit(store, 1)
        longest = max(longest, LogFile(path).size())
    assert longest <= 2 * FORCED


async def test_a_log_that_a_reader_held_back_is_reported_and_shrinks_when_it_has_ended(
    store: SqliteStore, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await submit(store, 1)
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM jobs").fetchone()
    with caplog.at_level(logging.WARNING, "drumbeat.backends.sqlite.connection"):
        async with asyncio.timeout(60):
            while not caplog.records:  # if the thread was held up, a little later
                await submit(store, 1)
    assert "keeps a read transaction open" in caplog.text
    held = LogFile(path).size()
    assert held >= FORCED
    reader.close()
    async with asyncio.timeout(60):
        while LogFile(path).size() > LIMIT + 2 * MEGABYTE:
            await submit(store, 1)
    assert LogFile(path).size() < held
    assert len(caplog.records) == 1


async def test_a_long_log_of_a_reader_that_ended_is_truncated_without_another_write(
    store: SqliteStore, path: Path
) -> None:
    await submit(store, 1)
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM jobs").fetchone()
    await submit(store, (LIMIT + 2 * STEP) // MEGABYTE)
    reader.close()
    async with asyncio.timeout(60):
        while LogFile(path).size() > SHORT:
            await asyncio.wait([asyncio.ensure_future(store.jobs.counts())], timeout=1)


class TestSmallDisk:
    """A disk of 12 MB: less than the log may have where there is room."""

    @pytest.fixture
    def small_disk(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[SmallDisk]:
        monkeypatch.setattr(disk, "LARGE_ENOUGH", 12 * MEGABYTE)
        with SmallDisk() as made:
            if not made.mounted:
                pytest.skip("only root can mount a disk")
            yield made

    @pytest.fixture
    def path(self, small_disk: SmallDisk) -> Path:
        return small_disk.path

    async def test_the_log_never_fills_it(self, store: SqliteStore, path: Path) -> None:
        for _ in range(100):
            await churn(store, 1)
            assert LogFile(path).size() <= 3 * MEGABYTE
        assert _size(path) < MEGABYTE

    async def test_when_others_fill_it_the_log_makes_room(
        self, store: SqliteStore, path: Path, small_disk: SmallDisk
    ) -> None:
        await grow_and_copy_log(store, path)
        while LogFile(path).size() <= MEGABYTE:
            await churn(store, 1)
        small_disk.fill([])
        await churn(store, 5)
        assert LogFile(path).size() <= MEGABYTE

    async def test_a_disk_that_its_own_jobs_filled_works_again_with_a_little_room(
        self, store: SqliteStore, small_disk: SmallDisk
    ) -> None:
        """The database can always take in the log, so all the room that is freed can be used."""
        ballast = small_disk.folder / "ballast"
        ballast.write_bytes(bytes(MEGABYTE))
        inserted = await fill_with_jobs(store)
        assert inserted * 50_000 > 8 * MEGABYTE
        ballast.unlink()
        for _ in range(inserted):
            taken = await store.jobs.take(ONE, NodeId("node:1"))
            await store.jobs.settle([Settlement(taken.attempts[0].hold, Change.COMPLETE)])
            await store.retention.prune_jobs(timedelta(0), 1)
        assert await store.jobs.counts() == {}
        await churn(store, 20)
