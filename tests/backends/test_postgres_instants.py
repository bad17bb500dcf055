"""Instants on PostgreSQL: none of them lies before the end of what was waited for.

Each case holds a lock in a connection of its own, waits until the store waits for it, reads the
server's clock, and lets go. What the store writes down then must not lie before that.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import psycopg
import pytest

from drumbeat.backends.postgres.store import PostgresStore
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import Change, Inserted, JobSpec, Limit, Rate, Settlement
from drumbeat.model.schedules.plan import Backfilled, Committed, Edit, Skip, SkipReason
from drumbeat.model.schedules.schedule import StoredSchedule
from drumbeat.testing.conformance.builders import (
    ANNE,
    BERT,
    NOON,
    after,
    beat,
    edited,
    fire,
    lead,
    plan,
    rows,
    schedule,
    wanted,
)
from servers import Postgres
from tests.support.postgres_namespace import ask, until

T = TypeVar("T")
PAST = datetime(2025, 1, 1, tzinfo=UTC)
BLOCKED = "SELECT 1 FROM pg_stat_activity WHERE {0} = ANY (pg_blocking_pids(pid))"


@pytest.fixture
async def store(postgres: Postgres, namespace: str) -> AsyncIterator[PostgresStore]:
    store = PostgresStore(postgres.address, SystemClock(), namespace)
    await store.open()
    yield store
    await store.close()


@dataclass(frozen=True)
class Barrier:
    """Holds up what the store does, by a lock of another connection."""

    address: str
    namespace: str

    async def pass_by(
        self, lock: str, call: Coroutine[Any, Any, T], *then: str
    ) -> tuple[datetime, T]:
        """When the lock was let go that the call has waited for, and what the call returned.

        What is to be done `then` is done by the holder of the lock while the call waits.
        """
        with psycopg.connect(self.address) as side:
            side.execute(lock.replace("{0}", self.namespace).encode())
            blocked = BLOCKED.format(side.info.backend_pid)
            task = asyncio.create_task(call)
            await until(lambda: bool(ask(self.address, blocked)))
            for statement in then:
                side.execute(statement.replace("{0}", self.namespace).encode())
            found = side.execute("SELECT clock_timestamp()").fetchone()
            assert found is not None
            side.commit()
        return found[0].astimezone(UTC), await task


@pytest.fixture
def barrier(postgres: Postgres, namespace: str) -> Barrier:
    return Barrier(postgres.address, namespace)


def overdue_schedule() -> StoredSchedule:
    """A schedule whose tick is in the past by the server's clock."""
    return replace(schedule(next_tick=PAST), cursor=PAST - timedelta(minutes=1))


async def insert(store: PostgresStore, *specs: JobSpec) -> list[JobId]:
    return [verdict.job.id for verdict in await store.jobs.insert(specs)]


async def test_a_job_starts_after_the_end_of_the_one_whose_limit_it_waited_for(
    store: PostgresStore, barrier: Barrier
) -> None:
    """The settlement has the lock of limits while the claim waits for it."""
    door = JobSpec("send", limits=(Limit("door", 1),))
    first, second = await insert(store, door, door)
    assert len((await store.jobs.take(wanted(), ANNE)).attempts) == 1
    await insert(store, JobSpec("send", limits=(Limit("window", 1),)))  # so the claim looks
    others = ", ".join(["NULL"] * 10)
    _, taken = await barrier.pass_by(
        "SELECT {0}.lock_limits()",
        store.jobs.take(wanted(), BERT),
        f"SELECT {{0}}.settle_attempts(ROW('{{{first}}}', {others}), NULL)",
    )
    attempt = next(each for each in taken.attempts if each.job_id == second)
    (ended,) = await store.jobs.get([first])
    assert ended is not None
    assert ended.finished_at is not None
    assert ended.finished_at <= attempt.started_at


@pytest.mark.parametrize(
    "spec",
    [
        JobSpec("send", limits=(Limit("door", 1),)),
        JobSpec("send", rate=Rate("bell", 1, timedelta(minutes=1))),
    ],
    ids=["limit", "rate"],
)
async def test_a_job_starts_after_the_wait_for_the_lock_of_limits_and_rates(
    store: PostgresStore, barrier: Barrier, spec: JobSpec
) -> None:
    (job_id,) = await insert(store, spec)
    let_go, taken = await barrier.pass_by(
        "SELECT {0}.lock_limits()", store.jobs.take(wanted(), ANNE)
    )
    (attempt,) = taken.attempts
    assert attempt.job_id == job_id
    assert attempt.started_at >= let_go
    if spec.rate is not None:
        ((start,),) = ask(barrier.address, f"SELECT times[1] FROM {barrier.namespace}.rate_starts")
        assert isinstance(start, datetime)
        assert start == attempt.started_at


async def test_a_job_that_is_claimed_after_a_settlement_has_waited_starts_after_the_wait(
    store: PostgresStore, barrier: Barrier
) -> None:
    await insert(store, JobSpec("send"))
    (attempt,) = (await store.jobs.take(wanted(), ANNE)).attempts
    (following,) = await insert(store, JobSpec("send"))
    ended = [Settlement(attempt.hold, Change.FAIL)]
    let_go, taken = await barrier.pass_by(
        f"SELECT FROM {{0}}.jobs WHERE id = {attempt.job_id} FOR UPDATE",
        store.jobs.take(wanted(), ANNE, ended),
    )
    (claimed,) = taken.attempts
    assert claimed.job_id == following
    assert claimed.started_at >= let_go


async def test_a_tick_is_recorded_after_the_wait_for_its_schedule(
    store: PostgresStore, barrier: Barrier
) -> None:
    stored = overdue_schedule()
    await store.schedules.put([Edit(None, stored)])
    epoch = await lead(store)
    let_go, (verdict,) = await barrier.pass_by(
        "SELECT FROM {0}.schedules FOR UPDATE", store.schedules.commit([plan(stored)], epoch)
    )
    assert isinstance(verdict, Committed)
    (tick,) = await rows(store)
    assert tick.recorded_at >= let_go
    (job,) = await store.jobs.get(verdict.jobs)
    assert job is not None
    assert job.created_at >= let_go


async def test_a_job_is_cancelled_after_the_wait_for_it(
    store: PostgresStore, barrier: Barrier
) -> None:
    await insert(store, JobSpec("send"))
    (attempt,) = (await store.jobs.take(wanted(), ANNE)).attempts
    await store.jobs.settle([Settlement(attempt.hold, Change.GIVE_BACK)])
    let_go, _ = await barrier.pass_by(
        "SELECT FROM {0}.jobs FOR UPDATE", store.jobs.cancel([attempt.job_id])
    )
    (job,) = await store.jobs.get([attempt.job_id])
    assert job is not None
    assert job.finished_at is not None
    assert job.finished_at >= let_go


async def test_a_job_is_created_after_the_wait_for_its_key(
    store: PostgresStore, barrier: Barrier
) -> None:
    spec = JobSpec("send", dedupe_key="door")
    assert spec.dedupe_guard is not None
    key = f"key {spec.dedupe_guard.hex()}"
    lock = f"SELECT pg_advisory_xact_lock(hashtextextended('{{0}}:{key}', 0))"
    let_go, (verdict,) = await barrier.pass_by(lock, store.jobs.insert([spec]))
    assert isinstance(verdict, Inserted)
    assert verdict.job.created_at >= let_go


async def test_a_heartbeat_counts_from_the_end_of_the_wait_for_the_node(
    store: PostgresStore, barrier: Barrier
) -> None:
    await store.nodes.beat(beat(lifetime=60.0))
    let_go, _ = await barrier.pass_by(
        "SELECT FROM {0}.nodes FOR UPDATE", store.nodes.beat(beat(lifetime=60.0))
    )
    (node,) = await store.nodes.list()
    assert node.beat_at >= let_go
    assert node.expires_at >= let_go + timedelta(seconds=60)


NEW_LANE = "INSERT INTO {0}.lanes (queue, task) VALUES ('default', 'new')"
"""Whoever needs the same lane waits for this transaction."""


async def test_a_lone_job_of_a_new_task_is_created_after_the_wait_for_its_lane(
    store: PostgresStore, barrier: Barrier
) -> None:
    let_go, (verdict,) = await barrier.pass_by(NEW_LANE, store.jobs.insert([JobSpec("new")]))
    assert verdict.job.created_at >= let_go


async def test_alike_jobs_of_a_new_task_are_created_after_the_wait_for_their_lane(
    store: PostgresStore, barrier: Barrier
) -> None:
    let_go, verdicts = await barrier.pass_by(NEW_LANE, store.jobs.insert([JobSpec("new")] * 2))
    assert all(verdict.job.created_at >= let_go for verdict in verdicts)


async def test_jobs_of_a_new_task_are_created_after_the_wait_for_their_lane(
    store: PostgresStore, barrier: Barrier
) -> None:
    specs = [JobSpec("new"), JobSpec("new", tags=("red",))]
    let_go, verdicts = await barrier.pass_by(NEW_LANE, store.jobs.insert(specs))
    assert all(verdict.job.created_at >= let_go for verdict in verdicts)


async def test_a_tick_of_a_new_task_is_recorded_after_the_wait_for_its_lane(
    store: PostgresStore, barrier: Barrier
) -> None:
    stored = overdue_schedule()
    stored = replace(stored, schedule=replace(stored.schedule, job=JobSpec("new")))
    await store.schedules.put([Edit(None, stored)])
    epoch = await lead(store)
    planned = plan(stored)
    fires = tuple(replace(each, job=replace(each.job, task="new")) for each in planned.fires)
    let_go, _ = await barrier.pass_by(
        NEW_LANE, store.schedules.commit([replace(planned, fires=fires)], epoch)
    )
    (tick,) = await rows(store)
    assert tick.recorded_at >= let_go


async def test_a_tick_is_backfilled_after_the_wait_for_its_schedule(
    store: PostgresStore, barrier: Barrier
) -> None:
    await store.schedules.put([Edit(None, schedule())])
    past = fire("nightly", after(-60))
    let_go, (verdict,) = await barrier.pass_by(
        "SELECT FROM {0}.schedules FOR UPDATE", store.schedules.backfill("nightly", [past])
    )
    assert isinstance(verdict, Backfilled)
    (tick,) = await rows(store)
    assert tick.recorded_at >= let_go
    (job,) = await store.jobs.get([verdict.job_id])
    assert job is not None
    assert job.created_at >= let_go


async def test_a_tick_that_an_edit_skips_is_recorded_after_the_wait_for_its_schedule(
    store: PostgresStore, barrier: Barrier
) -> None:
    before = schedule()
    await store.schedules.put([Edit(None, before)])
    skip = Skip(NOON, NOON, 1, SkipReason.OVERRIDDEN)
    let_go, _ = await barrier.pass_by(
        "SELECT FROM {0}.schedules FOR UPDATE",
        store.schedules.put([Edit(before, edited(before), (skip,))]),
    )
    (tick,) = await rows(store)
    assert tick.recorded_at >= let_go


async def test_a_job_is_reopened_after_the_wait_for_it(
    store: PostgresStore, barrier: Barrier
) -> None:
    (job_id,) = await insert(store, JobSpec("send"))
    await store.jobs.cancel([job_id])
    let_go, _ = await barrier.pass_by(
        "SELECT FROM {0}.archive FOR UPDATE", store.jobs.reopen([job_id])
    )
    (job,) = await store.jobs.get([job_id])
    assert job is not None
    assert job.run_at >= let_go
