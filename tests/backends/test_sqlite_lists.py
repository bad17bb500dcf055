"""Lists of waiting jobs are the same, and short work, whether few or very many jobs wait."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from datetime import timedelta
from itertools import combinations
from pathlib import Path

import pytest

from drumbeat.backends.sqlite.store import SqliteStore
from drumbeat.backends.sqlite.store.jobs import job_list
from drumbeat.backends.sqlite.store.jobs.job_list import JobQuery
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.model.jobs.job import JobFilter, JobSpec, Status
from drumbeat.model.page import PageRequest

WAITING = (Status.PENDING, Status.QUEUED, Status.COMPLETED)
FILTERS = [
    JobFilter(frozenset(statuses), task, queue)
    for count in (1, 2, 3)
    for statuses in combinations(WAITING, count)
    for task in (None, "two")
    for queue in (None, "mail", "nobody")
]


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    """Jobs of two tasks in two queues, every third of which waits for its time."""
    made = SqliteStore(tmp_path / "lists.db", SystemClock())
    await made.open()
    specs = [
        JobSpec(
            ("one", "two")[number % 2],
            b"{}",
            queue=("default", "mail")[number // 2 % 2],
            delay=timedelta(hours=number % 3 == 0),
        )
        for number in range(60)
    ]
    await made.jobs.insert(specs)
    yield made
    await made.close()


@pytest.mark.parametrize("wanted", FILTERS)
async def test_a_crowd_is_listed_as_a_few_are(
    store: SqliteStore, wanted: JobFilter, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def ids() -> list[int]:
        first = await store.jobs.list(wanted, PageRequest(7))
        rest = await store.jobs.list(wanted, PageRequest(100, first.next)) if first.next else None
        return [job.id for page in (first, rest) if page is not None for job in page.items]

    few = await ids()
    every = (
        await store.jobs.list(JobFilter(task=wanted.task, queue=wanted.queue), PageRequest(100))
    ).items
    assert few == [job.id for job in every if job.status in wanted.statuses]
    monkeypatch.setattr(job_list, "CROWD", -1)
    assert await ids() == few


async def test_a_page_of_a_crowd_is_as_much_work_as_one_of_a_few(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In steps of SQLite's virtual machine, a hundred at a time."""
    monkeypatch.setattr(job_list, "CROWD", 50)

    def steps() -> int:
        seen: list[None] = []
        with closing(sqlite3.connect(tmp_path / "lists.db")) as connection:
            connection.set_progress_handler(lambda: seen.append(None), 100)
            query = JobQuery(JobFilter(frozenset({Status.QUEUED})), PageRequest(5))
            query.narrow(connection)
            assert len(connection.execute(query.text, query.values).fetchall()) == 6
        return len(seen)

    few = steps()
    await store.jobs.insert([JobSpec("one") for _ in range(5_000)])
    assert steps() < 2 * few + 10
