"""MongoDB: a store is killed at each of its writes in turn; another one goes on, and all is whole.

Each case is played again and again, stopped one write later each time, until it gets through. The
store is stopped before the write or after it, or is told that no majority has confirmed it. Then
the same with another store that only goes on with its own work, and meets what was left by itself.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from drumbeat.backends.mongo.store import MongoStore
from drumbeat.model.fleet.lease import Epoch
from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import (
    Change,
    Duplicate,
    Inserted,
    JobFilter,
    JobSpec,
    Limit,
    Rate,
    Settlement,
    Status,
)
from drumbeat.model.page import PageRequest
from drumbeat.model.schedules.plan import (
    Backfilled,
    Committed,
    Edit,
    Outcome,
    Plan,
    Raced,
    Skip,
    SkipReason,
)
from drumbeat.model.schedules.schedule import StoredSchedule
from drumbeat.ports.store import Store
from drumbeat.testing.conformance.builders import (
    ANNE,
    BERT,
    NOON,
    add,
    after,
    beat,
    edited,
    finish,
    fire,
    found,
    insert,
    insert_one,
    job_of,
    lead,
    lease,
    plan,
    rows,
    schedule,
    spec,
    take,
    wanted,
)
from servers import GivenMongo, Mongo

from .mongo_crashes import NAMESPACE, Crashes, opened
from .mongo_steps import Moment, Steps
from .mongo_wholeness import empty

HOUR = timedelta(hours=1)
DOOR = JobSpec("send", limits=(Limit("door", 1),))


@pytest.fixture
def address(mongo: Mongo | GivenMongo) -> str:
    return mongo.address


@pytest.fixture(params=list(Moment), ids=lambda moment: moment.name.lower())
def moment(request: pytest.FixtureRequest) -> Moment:
    found: Moment = request.param
    return found


@pytest.fixture(params=[True, False], ids=["swept", "met"])
def swept(request: pytest.FixtureRequest) -> bool:
    """Whether somebody looks for what was left before anybody meets it."""
    found: bool = request.param
    return found


@pytest.fixture
def crashes(
    request: pytest.FixtureRequest, mongo: Mongo | GivenMongo, moment: Moment, swept: bool
) -> Crashes:
    if moment is Moment.UNCONFIRMED and isinstance(mongo, GivenMongo):
        mongo = request.getfixturevalue("mongo_replica_set")  # one of ours, with fail points
    return Crashes(mongo, moment, swept=swept)


async def everything(store: Store) -> list[JobId]:
    return [job.id for job in (await store.jobs.list(JobFilter(), PageRequest())).items]


async def nothing(store: MongoStore) -> None:
    del store


async def test_a_batch_of_jobs_is_there_as_a_whole_or_not_at_all(crashes: Crashes) -> None:
    batch = [spec(), JobSpec("send", dedupe_key="k"), JobSpec("send", run_at=after(60))]

    async def act(store: MongoStore) -> None:
        await store.jobs.insert(batch, NOON)

    async def go_on(store: MongoStore, through: bool) -> None:
        await store.jobs.promote(10, NOON)  # as every leader does, it looks for what was left
        count = len(await everything(store))
        assert count in ((3,) if through else (0, 3))
        (verdict,) = await store.jobs.insert([batch[1]], NOON)
        assert isinstance(verdict, Duplicate if count == 3 else Inserted)
        assert len(await take(store)) == (2 if count == 3 else 1)

    assert await crashes.at_each_write(nothing, act, go_on) >= 6


async def test_a_single_job_is_there_or_not(crashes: Crashes) -> None:
    async def act(store: MongoStore) -> None:
        await insert_one(store, JobSpec("send", dedupe_key="k"))

    async def go_on(store: MongoStore, through: bool) -> None:
        before = len(await everything(store))
        await store.jobs.insert([JobSpec("send", dedupe_key="k")], NOON)
        assert len(await everything(store)) == 1
        assert before or not through

    assert await crashes.at_each_write(nothing, act, go_on) >= 2


async def test_ticks_fire_exactly_once_whoever_dies_while_committing(crashes: Crashes) -> None:
    """The new leader finds them fired, with all that belongs to it, or fires them itself."""

    async def prepare(store: MongoStore) -> None:
        await insert(store, spec(), spec())
        await take(store, wanted(1))
        await add(store, schedule("a"), schedule("b"), schedule("c"))
        await lead(store, token=1)

    def planned(a: StoredSchedule, ids: list[JobId]) -> list[Plan]:
        fires = (fire("a", NOON), fire("a", after(60)))
        skip = Skip(after(-60), after(-60), 1, SkipReason.COALESCED)
        return [
            replace(plan(a), fires=fires, skips=(skip,), cursor=after(60), next_tick=after(120)),
            replace(plan(schedule("b")), cancels=tuple(ids), assumes_unfinished=False),
            replace(plan(schedule("c")), fires=(), skips=(Skip(NOON, NOON, 1, SkipReason.PAUSED),)),
        ]

    async def act(store: MongoStore) -> None:
        ids = sorted(await everything(store))
        await store.schedules.commit(planned(schedule("a"), ids), Epoch("scheduler", 1), after(61))

    async def go_on(store: MongoStore, through: bool) -> None:
        ids = sorted(await everything(store))[:2]
        epoch = await store.fence.claim(lease(2, holder=BERT))
        assert isinstance(epoch, Epoch)
        again = await store.schedules.commit(planned(schedule("a"), ids), epoch, after(61))
        kinds = {type(each) for each in again}
        assert kinds == {Raced} if through else kinds in ({Raced}, {Committed})
        epochs = set[int | None]()
        for name, ticks in (("a", [after(60), NOON]), ("b", [NOON])):
            fired = [row for row in await rows(store, name) if row.outcome is Outcome.FIRED]
            assert [row.tick_at for row in fired] == ticks
            epochs |= {row.epoch for row in fired}
            jobs = (await store.jobs.list(JobFilter(schedule=name), PageRequest())).items
            assert [job.id for job in jobs] == [row.job_id for row in fired]
            stored = await found(store, name)
            assert (stored.runs, stored.last_job) == (len(ticks), jobs[0].id)
        assert epochs == ({1} if kinds == {Raced} else {2})
        assert len(await rows(store, "a")) == 3
        assert len(await rows(store, "c")) == 1
        running, waiting = await store.jobs.get(ids)
        assert running is not None
        assert waiting is not None
        assert (running.cancel_requested, waiting.status) == (True, Status.CANCELLED)

    assert await crashes.at_each_write(prepare, act, go_on) >= 12


async def test_a_backfilled_tick_fires_once(crashes: Crashes) -> None:
    fires = [fire("nightly", after(-60)), fire("nightly", after(-120))]

    async def prepare(store: MongoStore) -> None:
        await add(store, schedule())

    async def act(store: MongoStore) -> None:
        await store.schedules.backfill("nightly", fires, NOON)

    async def go_on(store: MongoStore, through: bool) -> None:
        verdicts = await store.schedules.backfill("nightly", fires, NOON)
        new = {isinstance(each, Backfilled) for each in verdicts}
        assert new == {False} if through else len(new) == 1
        assert [row.tick_at for row in await rows(store)] == [after(-60), after(-120)]
        assert len(await everything(store)) == 2

    assert await crashes.at_each_write(prepare, act, go_on) >= 6


@pytest.mark.parametrize("kind", ["create", "change", "delete"])
async def test_an_edit_and_its_skips_are_there_together(crashes: Crashes, kind: str) -> None:
    skip = Skip(NOON, after(120), 3, SkipReason.OVERRIDDEN)
    before = None if kind == "create" else schedule()
    becomes = {"create": schedule(), "change": edited(schedule()), "delete": None}[kind]

    async def prepare(store: MongoStore) -> None:
        if before is not None:
            await add(store, before)

    async def act(store: MongoStore) -> None:
        await store.schedules.put([Edit(before, becomes, (skip,))], after(130))

    async def go_on(store: MongoStore, through: bool) -> None:
        (verdict,) = await store.schedules.put([Edit(before, becomes, (skip,))], after(130))
        assert isinstance(verdict, Raced) or not through
        assert (await store.schedules.get(["nightly"])).schedules == (becomes,)
        assert len(await rows(store)) == 1

    assert await crashes.at_each_write(prepare, act, go_on) >= 5


async def test_a_limit_is_never_exceeded_and_never_lost(crashes: Crashes) -> None:
    limited = replace(DOOR, rate=Rate("bell", 3, timedelta(seconds=1)))

    async def prepare(store: MongoStore) -> None:
        await insert(store, limited, limited)

    async def act(store: MongoStore) -> None:
        (attempt,) = await take(store, wanted(1))
        await finish(store, attempt.hold)

    async def go_on(store: MongoStore, through: bool) -> None:
        finished = 0
        for attempt in await store.jobs.held(ANNE):
            assert await take(store, at=after(10)) == ()
            await finish(store, attempt.hold, after(10))
        for second in (20, 30, 40):
            for attempt in await take(store, at=after(second)):
                assert await take(store, at=after(second)) == ()
                await finish(store, attempt.hold, after(second))
                finished += 1
        counts = await store.jobs.counts()
        assert counts == {"default": {Status.COMPLETED: 2}}
        assert finished >= 1
        del through

    # A holder of a key that nobody waits for stays until somebody does.
    assert await crashes.at_each_write(prepare, act, go_on, whole=False) >= 6


async def test_pruned_jobs_are_counted_once(crashes: Crashes) -> None:
    async def prepare(store: MongoStore) -> None:
        await insert(store, *[spec()] * 3)
        for attempt in await take(store):
            await finish(store, attempt.hold)

    async def act(store: MongoStore) -> None:
        await store.retention.prune_jobs(HOUR, 10, after(3600))

    async def go_on(store: MongoStore, through: bool) -> None:
        del through
        for _ in range(2):
            (queue,) = (await store.queues.list(NOON)).queues
            assert queue.totals == {Status.COMPLETED: 3}
            await store.retention.prune_jobs(HOUR, 10, after(3600))
        assert await everything(store) == []

    assert await crashes.at_each_write(prepare, act, go_on) >= 5


async def test_what_a_dead_node_held_is_given_back_once(crashes: Crashes) -> None:
    async def prepare(store: MongoStore) -> None:
        await store.nodes.beat(beat(lifetime=5), NOON)
        await insert(store, DOOR, spec())
        assert len(await take(store)) == 2

    async def act(store: MongoStore) -> None:
        lost = await store.jobs.lost(10, after(6))
        again = [Settlement(each.hold, Change.RETRY, error="lost") for each in lost]
        await store.jobs.reap(again, ANNE, after(6))

    async def go_on(store: MongoStore, through: bool) -> None:
        del through
        await act(store)
        attempts = await take(store, by=BERT, at=after(20))
        assert [attempt.number for attempt in attempts] == [2, 2]
        for attempt in attempts:
            assert len(await store.jobs.attempts(attempt.job_id)) == 1

    assert await crashes.at_each_write(prepare, act, go_on) >= 3


async def test_the_next_leader_gets_the_next_epoch(crashes: Crashes) -> None:
    async def act(store: MongoStore) -> None:
        await lead(store, token=1)

    async def go_on(store: MongoStore, through: bool) -> None:
        row = await store.fence.read("scheduler")
        before = row.epoch if row else 0
        assert before in ((1,) if through else (0, 1))
        assert await store.fence.claim(lease(2)) == Epoch("scheduler", before + 1)
        history = (await store.fence.history("scheduler", PageRequest())).items
        assert [term.epoch for term in history] == [*range(before + 1, 0, -1)]

    assert await crashes.at_each_write(nothing, act, go_on) == 2


async def test_a_job_of_the_batch_is_seen_by_nobody_before_the_decision(address: str) -> None:
    async with opened(address) as store, opened(address) as other:
        empty(address, NAMESPACE)
        seen: list[int] = []

        async def look() -> None:
            jobs = await everything(other)
            counts = await other.jobs.counts()
            seen.append(len(jobs) + len(counts) + len(await take(other)))

        steps = Steps(store)
        for number in (2, 3, 4):
            steps.meanwhile(number, look)
            await insert(store, spec(), spec())
            await take(other, at=NOON)
            empty(address, NAMESPACE)
        assert seen == [0, 0, 0]
        job = await insert_one(other, spec())
        assert (await job_of(other, job.id)).status is Status.QUEUED
