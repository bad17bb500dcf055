"""Many at once on PostgreSQL, over connections of their own: nothing twice, nothing lost, nobody
waits in a circle."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from random import Random  # noqa: TID251 - seeded, so that a run can be repeated

import psycopg
import pytest

from drumbeat.backends.postgres.store import PostgresStore
from drumbeat.backends.postgres.store.jobs.new_jobs import JobBatch
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.model.ids import JobId, NodeId
from drumbeat.model.jobs.job import (
    Attempt,
    Change,
    Duplicate,
    Inserted,
    JobSpec,
    Limit,
    OnConflict,
    Rate,
    Settled,
    Settlement,
    Status,
    Superseded,
    Wanted,
)
from drumbeat.model.schedules.plan import Backfilled, Committed, Edit, Written
from drumbeat.ports.store import Topic
from drumbeat.testing.conformance.builders import (
    NOON,
    after,
    edited,
    fire,
    lead,
    plan,
    race,
    schedule,
    spec,
    wanted,
)
from servers import Postgres
from tests.support.postgres_namespace import namespace_in

from .postgres_wholeness import check_whole

HANDLES = 4
PATIENCE = 90.0


@pytest.fixture
def namespace(postgres: Postgres) -> Iterator[str]:
    with namespace_in(postgres.address) as name:
        yield name
        check_whole(postgres.address, name)


@pytest.fixture
async def stores(postgres: Postgres, namespace: str) -> AsyncIterator[list[PostgresStore]]:
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(opened(postgres, namespace)) for _ in range(HANDLES)]


@asynccontextmanager
async def opened(server: Postgres, namespace: str) -> AsyncGenerator[PostgresStore]:
    store = PostgresStore(server.address, SystemClock(), namespace)
    await store.open()
    try:
        yield store
    finally:
        await store.close()


def node(number: int) -> NodeId:
    return NodeId(f"node:{number:016x}")


class Worker:
    """Takes and settles, in all ways, until everything that it should end has ended."""

    def __init__(self, store: PostgresStore, number: int, ended: Counter[JobId], jobs: int) -> None:
        self._store = store
        self._random = Random(number)
        self._number = number
        self._ended = ended
        self._jobs = jobs

    async def run(self) -> None:
        held: list[Attempt] = []
        tasks = self._random.choice([("a", "b"), ("b", "a"), ("a", "b", "c")])
        while sum(self._ended.values()) < self._jobs:
            count = self._random.randint(0, len(held))
            some, held = held[:count], held[count:]
            settled = [self._settlement(attempt) for attempt in some]
            wish = Wanted(("x", "y"), frozenset(tasks), self._random.randint(0, 20))
            taken = await self._store.jobs.take(wish, node(self._number), settled)
            for settlement, verdict in zip(settled, taken.verdicts, strict=True):
                assert isinstance(verdict, Settled), (settlement, verdict)
                if verdict.status.final:
                    self._ended[verdict.hold.job_id] += 1
            for job_id in taken.cancelled:
                self._ended[job_id] += 1
            held += taken.attempts
            if not taken.attempts and not settled and not held:
                await self._store.jobs.promote(100)
        for attempt in held:
            assert isinstance((await self._store.jobs.settle([self._end(attempt)]))[0], Settled)

    def _settlement(self, attempt: Attempt) -> Settlement:
        change = self._random.choice(
            [Change.COMPLETE] * 6 + [Change.RETRY, Change.GIVE_BACK, Change.FAIL, Change.CANCEL]
        )
        return Settlement(attempt.hold, change, error="so")

    def _end(self, attempt: Attempt) -> Settlement:
        return Settlement(attempt.hold, Change.COMPLETE)


def some_specs(random: Random, count: int) -> list[JobSpec]:
    limits = [
        *[()] * 4,
        (Limit("door", 2),),
        (Limit("door", 3), Limit("window", 1)),
        (Limit("window", 2), Limit("door", 4)),
        (Limit("gate", 3, OnConflict.CANCEL),),
    ]
    rates = [None] * 9 + [Rate("bell", 1000, timedelta(seconds=1))]
    return [
        JobSpec(
            random.choice("ab"),
            queue=random.choice("xy"),
            priority=random.randint(0, 2),
            limits=random.choice(limits),
            rate=random.choice(rates),
        )
        for _ in range(count)
    ]


async def test_every_job_ends_once_however_many_take_and_settle_at_once(
    stores: list[PostgresStore],
) -> None:
    ended: Counter[JobId] = Counter()
    jobs = 400
    workers = [Worker(stores[n % HANDLES], n, ended, jobs) for n in range(6)]

    async def submit(number: int) -> None:
        for _ in range(5):
            await stores[number].jobs.insert(some_specs(Random(number), jobs // 20))

    async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
        for number in range(4):
            group.create_task(submit(number))
        for worker in workers:
            group.create_task(worker.run())
    assert len(ended) == jobs
    assert set(ended.values()) == {1}
    counts = await stores[0].jobs.counts()
    assert sum(sum(statuses.values()) for statuses in counts.values()) == jobs
    assert all(status.final for statuses in counts.values() for status in statuses)


async def test_of_many_submitters_of_the_same_keys_one_creates_each_job(
    stores: list[PostgresStore],
) -> None:
    keys = [f"key {number}" for number in range(30)]

    async def submit(number: int) -> list[Inserted | Duplicate]:
        order = Random(number).sample(keys, len(keys))
        specs = [JobSpec("a", dedupe_key=key) for key in order]
        return [*await stores[number % HANDLES].jobs.insert(specs)]

    verdicts = [verdict for each in await race(submit) for verdict in each]
    created = {
        each.job.spec.dedupe_key: each.job for each in verdicts if isinstance(each, Inserted)
    }
    assert set(created) == set(keys)
    assert sum(isinstance(verdict, Inserted) for verdict in verdicts) == len(keys)
    for verdict in verdicts:
        assert verdict.job.id == created[verdict.job.spec.dedupe_key].id


async def test_a_tick_fires_once_among_leaders_editors_and_people_who_backfill(
    stores: list[PostgresStore],
) -> None:
    names = [f"schedule {number}" for number in range(200)]
    few = frozenset(names[:20])
    put = await stores[0].schedules.put([Edit(None, schedule(name)) for name in names])
    assert all(isinstance(verdict, Written) for verdict in put)
    epoch = await lead(stores[0])

    async def act(number: int) -> list[JobId]:
        schedules, order = (
            stores[number % HANDLES].schedules,
            Random(number).sample(names, len(names)),
        )
        if number == 0:
            edits = [Edit(schedule(name), edited(schedule(name))) for name in order if name in few]
            await schedules.put(edits)
            return []
        if number < 3:
            found: list[JobId] = []
            for name in order[:40]:
                (verdict,) = await schedules.backfill(name, [fire(name, NOON)])
                if isinstance(verdict, Backfilled):
                    found.append(verdict.job_id)
            return found
        verdicts = await schedules.commit([plan(schedule(name)) for name in order], epoch, NOON)
        return [job for each in verdicts if isinstance(each, Committed) for job in each.jobs]

    async with asyncio.timeout(PATIENCE):
        fired = [job for jobs in await race(act) for job in jobs]
    assert len(fired) == len(set(fired)) >= len(names) - len(few)
    counts = await stores[0].jobs.counts()
    assert counts == {"default": {Status.QUEUED: len(fired)}}


async def test_a_sleeper_and_the_reaper_who_settle_the_same_jobs_do_not_wait_in_a_circle(
    stores: list[PostgresStore],
) -> None:
    for limits in ((), (Limit("key", 999),), (), (), ()):
        specs = [JobSpec("send"), JobSpec("send", limits=limits)]
        await stores[0].jobs.insert(specs * 200)
        taken = await stores[0].jobs.take(wanted(limit=400), node(0))

        async def settle(number: int, held: tuple[Attempt, ...] = taken.attempts) -> int:
            changes = [Change.COMPLETE, Change.FAIL] if number % 2 else [Change.FAIL]
            settlements = [
                Settlement(attempt.hold, changes[place % len(changes)])
                for place, attempt in enumerate(held[:: -1 if number % 2 else 1])
            ]
            handle = stores[number % HANDLES].jobs
            if number % 3:
                verdicts = (await handle.take(wanted(), node(number), settlements)).verdicts
            else:
                verdicts = tuple(await handle.settle(settlements))
            return sum(isinstance(verdict, Settled) for verdict in verdicts)

        async with asyncio.timeout(PATIENCE):
            assert sum(await race(settle)) == len(taken.attempts) == 400


async def test_a_job_in_an_open_transaction_holds_nobody_up_and_is_found_after_it(
    stores: list[PostgresStore], postgres: Postgres
) -> None:
    store = stores[0]
    door = JobSpec("send", limits=(Limit("door", 1),))
    await store.jobs.insert([door, spec()])
    insertion = store.joining.insertion([door, spec()])
    with psycopg.connect(postgres.address) as caller:
        caller.execute(insertion.text.encode(), (insertion.value,)).fetchall()
        async with asyncio.timeout(PATIENCE):
            taken = await stores[1].jobs.take(wanted(), node(1))
            assert len(taken.attempts) == 2
            settled = [Settlement(attempt.hold, Change.COMPLETE) for attempt in taken.attempts]
            # The line of the limited job is empty now, as far as anybody can see.
            assert (await stores[1].jobs.take(wanted(), node(1), settled)).attempts == ()
            await store.jobs.insert([door, spec()])
            taken = await stores[1].jobs.take(wanted(), node(1))
            settled = [Settlement(attempt.hold, Change.COMPLETE) for attempt in taken.attempts]
            assert len(settled) == 2
            await stores[1].jobs.settle(settled)
        caller.commit()
    assert len((await stores[1].jobs.take(wanted(), node(1))).attempts) == 2


async def test_a_key_that_is_taken_within_an_open_transaction_gives_that_job_after_it(
    stores: list[PostgresStore], postgres: Postgres
) -> None:
    keyed = JobSpec("send", dedupe_key="k", delay=timedelta(hours=1), tags=("a",))
    insertion = stores[0].joining.insertion([keyed, keyed])
    with psycopg.connect(postgres.address) as caller:
        rows = caller.execute(insertion.text.encode(), (insertion.value,)).fetchall()
        first, second = insertion.verdicts(rows)
        assert isinstance(first, Inserted)
        assert second == Duplicate(first.job)
        waiting = asyncio.ensure_future(stores[1].jobs.insert([keyed]))
        caller.commit()
    async with asyncio.timeout(PATIENCE):
        assert list(await waiting) == [Duplicate(first.job)]


async def test_a_job_that_waits_for_its_key_wakes_workers_when_it_is_free(
    stores: list[PostgresStore],
) -> None:
    door = JobSpec("send", limits=(Limit("door", 1),))
    await stores[0].jobs.insert([door, door])
    (attempt,) = (await stores[0].jobs.take(wanted(), node(0))).attempts
    await heard_after(
        stores[1],
        Topic.JOBS,
        lambda: stores[0].jobs.settle([Settlement(attempt.hold, Change.COMPLETE)]),
    )


async def test_notifications_come_of_what_happens(stores: list[PostgresStore]) -> None:
    jobs = stores[0].jobs
    await heard_after(stores[1], Topic.JOBS, lambda: jobs.insert([spec()]))
    (attempt,) = (await jobs.take(wanted(), node(0))).attempts
    await heard_after(stores[1], Topic.CANCELLATIONS, lambda: jobs.cancel([attempt.job_id]))
    done = Settlement(attempt.hold, Change.COMPLETE)
    await heard_after(stores[1], Topic.FINISHED, lambda: jobs.settle([done]))
    later = JobSpec("send", run_at=after(10**6))
    await heard_after(stores[1], Topic.TIMES, lambda: jobs.insert([later]))
    await heard_after(
        stores[2], Topic.TIMES, lambda: stores[0].schedules.put([Edit(None, schedule())])
    )


async def heard_after(
    store: PostgresStore, topic: Topic, act: Callable[[], Awaitable[object]]
) -> None:
    """Listen first: who begins to listen is woken once anyway. Then act, and be woken."""
    heard = asyncio.Event()
    stop = store.subscribe(topic, heard.set)
    async with asyncio.timeout(PATIENCE):
        await heard.wait()
        heard.clear()
        await act()
        await heard.wait()
    stop()


async def test_no_job_with_a_limit_is_held_ahead(stores: list[PostgresStore]) -> None:
    jobs = stores[0].jobs
    door = JobSpec("send", limits=(Limit("door", 9),))
    await jobs.insert([spec(), spec(), spec(), door, spec()])
    taken = await jobs.take(Wanted(("default",), frozenset({"send"}), 1, 3), node(0))
    assert [attempt.spec.limits for attempt in taken.attempts] == [()] * 3
    taken = await jobs.take(Wanted(("default",), frozenset({"send"}), 1, 3), node(0))
    assert [attempt.spec.limits for attempt in taken.attempts] == [door.limits, ()]


async def test_a_cancellation_races_with_a_settlement_and_one_of_them_comes_first(
    stores: list[PostgresStore],
) -> None:
    for _ in range(20):
        await stores[0].jobs.insert([spec()])
        (attempt,) = (await stores[0].jobs.take(wanted(), node(0))).attempts

        async def act(number: int, attempt: Attempt = attempt) -> object:
            if number:
                return (await stores[1].jobs.cancel([attempt.job_id], "enough"))[0]
            done = Settlement(attempt.hold, Change.RETRY)
            return (await stores[0].jobs.settle([done]))[0]

        settled, _ = await race(act, racers=2)
        assert not isinstance(settled, Superseded)
        (job,) = await stores[0].jobs.get([attempt.job_id])
        assert job is not None
        assert job.status is Status.CANCELLED


def test_what_postgres_cannot_keep_is_refused_before_anything_is_asked() -> None:
    with pytest.raises(ValueError, match="queue 'a\\\\x00b'"):
        JobBatch([JobSpec("send", queue="a\0b")])
