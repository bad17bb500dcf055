"""What pruning leaves in the tables of the SQLite store."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from drumbeat.backends.sqlite.store import SqliteStore
from drumbeat.model.jobs.job import JobSpec, Limit
from drumbeat.testing.conformance.builders import NOON, after, insert, insert_one, take

from .hand_clock import HandClock
from .sqlite_wholeness import check_whole

DOOR = JobSpec("send", limits=(Limit("door", 1),))
ALL = timedelta(0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "drumbeat.db"


@pytest.fixture
async def store(path: Path) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(path, HandClock())
    await store.open()
    yield store
    await store.close()
    check_whole(path)


def rows_of(path: Path, *tables: str) -> list[int]:
    with closing(sqlite3.connect(path)) as connection:
        counts = [connection.execute(f"SELECT count(*) FROM {table}") for table in tables]
        return [count.fetchone()[0] for count in counts]


async def test_nothing_is_left_of_a_limited_job_that_was_cancelled_while_it_waited(
    store: SqliteStore, path: Path
) -> None:
    """Also if nobody ever claims jobs of its task."""
    job = await insert_one(store, DOOR)
    await store.jobs.cancel([job.id], at=NOON)
    assert rows_of(path, "limit_groups", "lanes", "fronts") == [2, 1, 1]
    assert await store.retention.prune_jobs(ALL, 10, after(1)) == 1
    assert rows_of(path, "limit_groups", "lanes", "fronts") == [0, 0, 0]


async def test_a_line_that_an_earlier_version_left_is_forgotten_too(
    store: SqliteStore, path: Path
) -> None:
    await insert_one(store, JobSpec("send"))
    await store.database.write(lambda session: session.group_of(DOOR))
    assert rows_of(path, "limit_groups", "lanes") == [2, 1]
    assert await store.retention.prune_jobs(ALL, 10, after(1)) == 0
    assert rows_of(path, "limit_groups", "lanes") == [1, 1]


async def test_pruning_takes_no_line_that_a_job_of_the_same_transaction_names(
    store: SqliteStore,
) -> None:
    job = await insert_one(store, DOOR)
    await store.jobs.cancel([job.id], at=NOON)
    pruning = store.retention.prune_jobs(ALL, 10, after(1))
    (again,) = await insert(store, DOOR)
    await pruning
    assert [attempt.job_id for attempt in await take(store, at=after(2))] == [again.id]
