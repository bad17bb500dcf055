"""What is written for a batch as a whole is what would be written for each of its jobs."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from threading import Event

import pytest

from drumbeat.backends.sqlite.connection.calls import DeferredResult
from drumbeat.backends.sqlite.store import SqliteStore
from drumbeat.backends.sqlite.store.session import StoreSession
from drumbeat.model.jobs.job import (
    Attempt,
    Change,
    Duplicate,
    Inserted,
    JobSpec,
    Limit,
    Settled,
    Settlement,
    Status,
    Superseded,
)
from drumbeat.testing.conformance.builders import ANNE, NOON, insert, settle, spec, take, wanted

from .hand_clock import HandClock
from .sqlite_wholeness import check_whole


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    path = tmp_path / "drumbeat.db"
    store = SqliteStore(path, HandClock())
    await store.open()
    yield store
    await store.close()
    check_whole(path)


def completions(attempts: Sequence[Attempt]) -> list[Settlement]:
    return [Settlement(attempt.hold, Change.COMPLETE) for attempt in attempts]


async def statuses(store: SqliteStore, attempts: Sequence[Attempt]) -> list[Status | None]:
    jobs = await store.jobs.get([attempt.job_id for attempt in attempts])
    return [None if job is None else job.status for job in jobs]


async def test_a_batch_may_end_in_any_order(store: SqliteStore) -> None:
    await insert(store, *[spec()] * 10)
    attempts = await take(store)
    backwards = completions(attempts)[::-1]
    verdicts = await store.jobs.settle(backwards)
    assert verdicts == [Settled(each.hold, Status.COMPLETED) for each in backwards]
    assert await store.jobs.counts() == {"default": {Status.COMPLETED: 10}}


async def test_a_hold_that_was_replaced_completes_nothing_within_a_batch(
    store: SqliteStore,
) -> None:
    await insert(store, *[spec()] * 5)
    attempts = await take(store)
    await settle(store, Settlement(attempts[2].hold, Change.GIVE_BACK))
    (again,) = await take(store)
    verdicts = await store.jobs.settle(completions(attempts))
    assert [type(verdict) for verdict in verdicts].count(Superseded) == 1
    assert verdicts[2] == Superseded(attempts[2].hold)
    assert await statuses(store, [again]) == [Status.RUNNING]


async def test_a_batch_that_names_one_job_twice_leaves_the_one_between_alone(
    store: SqliteStore,
) -> None:
    await insert(store, *[spec()] * 3)
    first, between, last = await take(store)
    verdicts = await store.jobs.settle(completions([first, first, last]))
    assert [type(verdict) for verdict in verdicts] == [Settled, Superseded, Settled]
    assert await statuses(store, [between]) == [Status.RUNNING]


async def test_jobs_that_waited_for_a_batch_with_limits_get_their_turn(
    store: SqliteStore,
) -> None:
    await insert(store, *[JobSpec("send", limits=(Limit("door", 2),))] * 4)
    attempts = await take(store)
    taken = await store.jobs.take(wanted(), ANNE, completions(attempts))
    assert len(attempts) == len(taken.attempts) == 2


async def test_dedupe_keys_of_a_batch_are_guarded_for_as_long_as_they_should(
    store: SqliteStore,
) -> None:
    specs = [JobSpec("send", dedupe_key=f"key-{number}") for number in range(3)]
    await insert(store, *specs)
    await store.jobs.settle(completions(await take(store)), NOON)
    day = timedelta(days=1)
    early = await store.jobs.insert(specs, NOON + day - timedelta(seconds=1))
    late = await store.jobs.insert(specs, NOON + day)
    assert [type(verdict) for verdict in [*early, *late]] == [Duplicate] * 3 + [Inserted] * 3


async def test_jobs_of_all_kinds_arrive_together_and_are_what_they_were(
    store: SqliteStore,
) -> None:
    usual = [JobSpec("send", str(number).encode()) for number in range(12)]
    specs = [
        *usual[:4],
        JobSpec("send", b"later", delay=timedelta(hours=1)),  # a number between theirs
        *usual[4:],
        *[JobSpec("print", b"{}", priority=number) for number in range(3)],
        JobSpec("send", b"tagged", tags=("red",)),
    ]
    answers = await asyncio.gather(*(store.jobs.insert([each]) for each in specs))
    jobs = [answer[0].job for answer in answers]
    assert [job.spec for job in jobs] == specs
    assert await store.jobs.get([job.id for job in jobs]) == jobs
    attempts = await take(store, wanted(tasks=("send", "print")))
    best_first = [specs[15], specs[14], *usual[:4], *usual[4:], specs[13], specs[16]]
    assert [attempt.spec for attempt in attempts] == best_first


async def test_each_of_many_callers_gets_the_jobs_that_it_asked_for(store: SqliteStore) -> None:
    wishes = [[JobSpec("send", f"{n}/{k}".encode()) for k in range(n % 4)] for n in range(40)]
    answers = await asyncio.gather(*map(store.jobs.insert, wishes))
    assert [[verdict.job.spec for verdict in answer] for answer in answers] == wishes


async def test_of_many_who_insert_together_only_the_one_at_fault_is_told(
    store: SqliteStore,
) -> None:
    specs = [JobSpec("send")] * 30
    specs[7] = JobSpec("send", queue="\ud800")  # which no file can hold
    answers = await asyncio.gather(
        *(store.jobs.insert([each]) for each in specs), return_exceptions=True
    )
    assert [n for n, each in enumerate(answers) if isinstance(each, BaseException)] == [7]
    assert len(await take(store)) == 29


async def test_an_answer_is_not_even_worded_if_the_commit_fails(store: SqliteStore) -> None:
    worded = Event()

    def word() -> str:
        worded.set()
        return "done"

    def step(session: StoreSession) -> DeferredResult[str]:
        session.execute("ROLLBACK")  # there is nothing left to commit
        return DeferredResult(word)

    writing: Awaitable[str] = store.database.write(step)
    with pytest.raises(sqlite3.OperationalError, match="cannot commit"):
        await writing
    assert not worded.is_set()


async def test_an_answer_is_not_given_before_others_can_read_it(
    store: SqliteStore, tmp_path: Path
) -> None:
    with closing(sqlite3.connect(tmp_path / "drumbeat.db")) as other:
        for _ in range(20):
            answers = await asyncio.gather(*(store.jobs.insert([spec()]) for _ in range(50)))
            last = max(verdict.job.id for (verdict,) in answers)
            assert other.execute("SELECT max(id) FROM queued").fetchone() == (last,)
