"""Two steps on PostgreSQL that meet while both are under way: one of them comes first, and the
other sees what it did.

Each is held up by a transaction of our own, at the very place where the other could slip past it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from typing import Any, TypeVar

import psycopg
import pytest

from drumbeat.backends.postgres.store import PostgresStore
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.model.errors import StaleEpoch
from drumbeat.model.fleet.lease import Epoch
from drumbeat.model.jobs.job import (
    Change,
    JobSpec,
    Limit,
    Settled,
    Settlement,
    Status,
    Superseded,
)
from drumbeat.model.schedules.plan import Committed
from drumbeat.testing.conformance.builders import (
    ANNE,
    add,
    after,
    beat,
    commit,
    insert,
    job_of,
    lead,
    lease,
    plan,
    rows,
    running,
    schedule,
    take,
    wanted,
)
from servers import Postgres
from tests.support.postgres_namespace import ask, until

HELD_UP = (
    "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%{}%'"
)

T = TypeVar("T")


@pytest.fixture
async def store(postgres: Postgres, namespace: str) -> AsyncIterator[PostgresStore]:
    store = PostgresStore(postgres.address, SystemClock(), namespace)
    await store.open()
    yield store
    await store.close()


class Meeting:
    """A transaction of our own, and the steps that it holds up."""

    def __init__(self, postgres: Postgres, namespace: str) -> None:
        self._address = postgres.address
        self._schema = f'"{namespace}"'
        self._connection = psycopg.connect(postgres.address)
        self._steps: list[asyncio.Future[Any]] = []

    def do(self, statement: str) -> None:
        """Go so far, and no further."""
        self._connection.execute(statement.format(schema=self._schema).encode())

    async def begin(self, step: Awaitable[T]) -> asyncio.Future[T]:
        """A step that is under way: held up by another one, or over."""
        before = self._held_up()
        task = asyncio.ensure_future(step)
        self._steps.append(task)
        await until(lambda: task.done() or self._held_up() > before)
        return task

    def commit(self) -> None:
        """Let the others go on."""
        self._connection.commit()

    async def close(self) -> None:
        """Let go of everything, and leave nothing under way."""
        self._connection.close()
        await asyncio.gather(*self._steps, return_exceptions=True)

    def _held_up(self) -> int:
        ((count,),) = ask(self._address, HELD_UP.format(self._schema))
        assert isinstance(count, int)
        return count


@pytest.fixture
async def meeting(
    postgres: Postgres, namespace: str, store: PostgresStore
) -> AsyncIterator[Meeting]:
    meeting = Meeting(postgres, namespace)
    yield meeting
    await meeting.close()


async def test_a_new_leader_waits_for_the_writes_of_the_last_one(
    store: PostgresStore, meeting: Meeting
) -> None:
    await add(store, schedule())
    epoch = await lead(store, 1)
    meeting.do("SELECT FROM {schema}.schedules FOR UPDATE")
    writing = await meeting.begin(commit(store, plan(schedule()), epoch))
    claiming = await meeting.begin(store.fence.claim(lease(2)))
    assert not writing.done()
    assert not claiming.done(), "its epoch began while a write of the last one was under way"
    meeting.commit()
    assert isinstance(await writing, Committed)
    assert isinstance(await claiming, Epoch)


async def test_a_write_waits_for_a_new_leader_and_is_refused(
    store: PostgresStore, meeting: Meeting
) -> None:
    await add(store, schedule())
    epoch = await lead(store, 1)
    meeting.do("SELECT {schema}.claim_fence('scheduler', 'here', 2, 'bert', 10, NULL)")
    writing = await meeting.begin(commit(store, plan(schedule()), epoch))
    assert not writing.done()
    meeting.commit()
    with pytest.raises(StaleEpoch):
        await writing
    assert not await rows(store)


async def test_a_reaper_waits_for_a_heartbeat_and_takes_nothing(
    store: PostgresStore, meeting: Meeting
) -> None:
    await store.nodes.beat(beat())
    attempt = await running(store)
    meeting.do("UPDATE {schema}.nodes SET expires_at = '-infinity'")
    meeting.commit()
    lost = Settlement(attempt.hold, Change.RETRY, error="its node is dead")
    meeting.do("UPDATE {schema}.nodes SET expires_at = 'infinity'")  # as a heartbeat does
    reaping = await meeting.begin(store.jobs.reap([lost], ANNE))
    assert not reaping.done()
    meeting.commit()
    assert await reaping == [Superseded(attempt.hold)]
    assert (await job_of(store, attempt.job_id)).status is Status.RUNNING


async def test_a_heartbeat_waits_for_a_reaper_and_hears_what_is_lost(
    store: PostgresStore, meeting: Meeting
) -> None:
    await store.nodes.beat(beat(lifetime=0.001))
    attempt = await running(store)
    meeting.do("SELECT FROM {schema}.jobs FOR UPDATE")
    lost = Settlement(attempt.hold, Change.FAIL, error="its node is dead")
    reaping = await meeting.begin(store.jobs.reap([lost], ANNE, after(60)))
    beating = await meeting.begin(store.nodes.beat(beat(holds=[attempt.hold])))
    assert not reaping.done()
    assert not beating.done()
    meeting.commit()
    (verdict,) = await reaping
    assert isinstance(verdict, Settled)
    assert (await beating).lost == (attempt.hold,)


@pytest.mark.parametrize(
    "specs",
    [
        pytest.param([JobSpec("send")] * 3, id="one lane"),
        pytest.param([JobSpec("send"), JobSpec("print"), JobSpec("send")], id="two lanes"),
        pytest.param([JobSpec("send", limits=(Limit("key", 9),))] * 3, id="with a limit"),
    ],
)
async def test_a_claim_passes_over_what_another_has_locked(
    store: PostgresStore, meeting: Meeting, specs: list[JobSpec]
) -> None:
    first, *others = await insert(store, *specs)
    meeting.do(f"SELECT FROM {{schema}}.jobs WHERE id = {first.id} FOR UPDATE")
    taking = await meeting.begin(take(store, wanted(tasks=("send", "print"))))
    assert taking.done(), "it waits for somebody else's transaction"
    taken = [attempt.job_id for attempt in await taking]
    meeting.commit()
    taken += [attempt.job_id for attempt in await take(store, wanted(tasks=("send", "print")))]
    assert sorted(taken) == [first.id, *(job.id for job in others)]
    assert taken[-1] == first.id
