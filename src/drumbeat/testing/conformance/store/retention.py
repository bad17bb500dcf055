"""Cases: pruning old data."""

from __future__ import annotations

from datetime import timedelta

from drumbeat.model.jobs.job import Change, Duplicate, JobSpec, Limit, Settlement, Status
from drumbeat.ports.store import Store
from drumbeat.testing.conformance.builders import (
    ANNE,
    BERT,
    NOON,
    add,
    after,
    beat,
    commit,
    finish,
    fire,
    found,
    insert,
    insert_one,
    job_of,
    lead,
    plan,
    rows,
    running,
    schedule,
    settle,
    spec,
    take,
    take_one,
)
from drumbeat.testing.conformance.traits import StoreTraits

HOUR = timedelta(hours=1)


class RetentionConformance:
    """Only finished data that is old enough is deleted, in bounded steps."""

    async def test_jobs_are_forgotten_when_they_ended_so_long_ago(self, store: Store) -> None:
        attempt = await running(store)
        await finish(store, attempt.hold, after(60))
        assert await store.retention.prune_jobs(HOUR, 10, after(60 + 3599)) == 0
        assert await store.retention.prune_jobs(HOUR, 10, after(60 + 3600)) == 1
        assert list(await store.jobs.get([attempt.job_id])) == [None]
        assert list(await store.jobs.attempts(attempt.job_id)) == []
        counts = await store.jobs.counts()
        assert sum(sum(queue.values()) for queue in counts.values()) == 0

    async def test_a_job_with_a_shorter_retention_is_forgotten_earlier(self, store: Store) -> None:
        short = JobSpec("send", retention=timedelta(minutes=1))
        jobs = await insert(store, short, spec(), short)
        for attempt in await take(store):
            await finish(store, attempt.hold)
        assert await store.retention.prune_jobs(HOUR, 10, after(59)) == 0
        assert await store.retention.prune_jobs(HOUR, 1, after(60)) == 1
        assert await store.retention.prune_jobs(HOUR, 10, after(60)) == 1
        kept = [job for job in await store.jobs.get([job.id for job in jobs]) if job is not None]
        assert [job.id for job in kept] == [jobs[1].id]
        assert await store.retention.prune_jobs(HOUR, 10, after(3600)) == 1
        assert await store.jobs.counts() in ({}, {"default": {}})

    async def test_a_job_with_a_longer_retention_outlives_the_others(self, store: Store) -> None:
        long = JobSpec("send", retention=2 * HOUR)
        first, cancelled, plain = await insert(store, long, long, spec())
        await store.jobs.cancel([cancelled.id], at=NOON)
        for attempt in await take(store):
            await finish(store, attempt.hold)
        assert await store.retention.prune_jobs(HOUR, 10, after(7199)) == 1
        assert list(await store.jobs.get([plain.id])) == [None]
        assert (await job_of(store, first.id)).spec.retention == 2 * HOUR
        assert await store.retention.prune_jobs(HOUR, 10, after(7200)) == 2

    async def test_a_retention_neither_lengthens_nor_shortens_the_time_of_a_dedupe_key(
        self, store: Store
    ) -> None:
        minute = timedelta(minutes=1)
        short = JobSpec("send", dedupe_key="s", dedupe_for=HOUR, retention=minute)
        long = JobSpec("send", dedupe_key="l", dedupe_for=minute, retention=HOUR)
        await insert(store, short, long)
        for attempt in await take(store):
            await finish(store, attempt.hold)
        assert await store.retention.prune_jobs(minute, 10, after(60)) == 0
        guarded, free = await store.jobs.insert([short, long], after(61))
        assert isinstance(guarded, Duplicate)
        assert not isinstance(free, Duplicate)
        assert await store.retention.prune_jobs(minute, 10, after(3600)) == 2

    async def test_a_job_that_ended_again_is_kept_from_its_last_end(self, store: Store) -> None:
        attempt = await running(store, JobSpec("send", retention=HOUR))
        await settle(store, Settlement(attempt.hold, Change.FAIL))
        await store.jobs.reopen([attempt.job_id], after(60))
        again = await take_one(store, at=after(60))
        assert await store.retention.prune_jobs(2 * HOUR, 10, after(3600)) == 0
        await finish(store, again.hold, after(3601))
        assert await store.retention.prune_jobs(2 * HOUR, 10, after(7200)) == 0
        assert await store.retention.prune_jobs(2 * HOUR, 10, after(7201)) == 1

    async def test_a_limit_whose_last_waiting_job_was_cancelled_and_forgotten_can_be_used_again(
        self, store: Store, traits: StoreTraits
    ) -> None:
        door = JobSpec("send", limits=(Limit("door", 1),))
        job, free = await insert(store, door, spec())
        await store.jobs.cancel([job.id], at=NOON)
        async with traits.another() as other:  # which remembers nothing of the job
            assert await store.retention.prune_jobs(HOUR, 10, after(3600)) == 1
            assert [attempt.job_id for attempt in await take(other, at=after(3601))] == [free.id]
            again = await insert_one(other, door, at=after(3602))
        assert [attempt.job_id for attempt in await take(store, at=after(3603))] == [again.id]

    async def test_forgetting_a_job_whose_turn_it_was_gives_the_turn_to_the_next(
        self, store: Store
    ) -> None:
        door = Limit("door", 1)
        first = await running(store, JobSpec("send", limits=(door,)))
        second, third = await insert(
            store,
            JobSpec("send", limits=(door, Limit("window", 5))),
            JobSpec("send", limits=(door, Limit("gate", 5))),
        )
        assert await take(store) == ()
        await finish(store, first.hold)
        await store.jobs.cancel([second.id], at=NOON)
        assert await store.retention.prune_jobs(HOUR, 10, after(3600)) == 2
        taken = await take(store, at=after(3601))
        assert [attempt.job_id for attempt in taken] == [third.id]

    async def test_unfinished_jobs_are_never_forgotten(self, store: Store) -> None:
        await running(store)
        await insert(store, spec(), JobSpec("send", run_at=after(60)))
        assert await store.retention.prune_jobs(timedelta(0), 10, after(10**8)) == 0

    async def test_a_reopened_job_is_not_forgotten_for_its_earlier_end(self, store: Store) -> None:
        attempt = await running(store)
        await settle(store, Settlement(attempt.hold, Change.FAIL))
        await store.jobs.reopen([attempt.job_id], after(5))
        assert await store.retention.prune_jobs(HOUR, 10, after(7200)) == 0
        assert (await job_of(store, attempt.job_id)).status is Status.QUEUED
        await finish(store, (await take_one(store, at=after(7200))).hold, after(7200))
        assert await store.retention.prune_jobs(HOUR, 10, after(7300)) == 0
        assert await store.retention.prune_jobs(HOUR, 10, after(7200 + 3600)) == 1

    async def test_no_more_jobs_than_the_limit_are_forgotten_oldest_first(
        self, store: Store
    ) -> None:
        jobs = await insert(store, *[spec()] * 5)
        for number, attempt in enumerate(await take(store)):
            await finish(store, attempt.hold, after(100 - number))
        assert await store.retention.prune_jobs(HOUR, 3, after(7200)) == 3
        left = [job.id for job in await store.jobs.get([job.id for job in jobs]) if job]
        assert left == [jobs[0].id, jobs[1].id]
        assert await store.retention.prune_jobs(HOUR, 3, after(7200)) == 2

    async def test_a_job_is_kept_while_its_dedupe_key_stands(self, store: Store) -> None:
        keyed = JobSpec("send", dedupe_key="k", dedupe_for=2 * HOUR)
        job = await insert_one(store, keyed)
        await finish(store, (await take_one(store)).hold)
        assert await store.retention.prune_jobs(HOUR, 10, after(3600)) == 0
        assert isinstance((await store.jobs.insert([keyed], after(7199)))[0], Duplicate)
        assert await store.retention.prune_jobs(HOUR, 10, after(7200)) == 1
        assert list(await store.jobs.get([job.id])) == [None]
        await insert_one(store, keyed, at=after(7201))

    async def test_a_dedupe_key_does_not_shorten_a_jobs_time(self, store: Store) -> None:
        await insert_one(store, JobSpec("send", dedupe_key="k", dedupe_for=timedelta(seconds=1)))
        await finish(store, (await take_one(store)).hold)
        assert await store.retention.prune_jobs(HOUR, 10, after(3599)) == 0
        assert await store.retention.prune_jobs(HOUR, 10, after(3600)) == 1

    async def test_old_ticks_are_forgotten_but_never_the_last(self, store: Store) -> None:
        await add(store, schedule())
        epoch = await lead(store)
        for _ in range(3):
            await commit(store, plan(await found(store)), epoch)
        assert await store.retention.prune_ticks(HOUR, 10, after(1 + 3599)) == 0
        assert await store.retention.prune_ticks(HOUR, 10, after(120 + 3600)) == 2
        assert [row.tick_at for row in await rows(store)] == [after(120)]
        assert await store.retention.prune_ticks(HOUR, 10, after(10**8)) == 0

    async def test_the_last_tick_is_forgotten_once_a_later_one_is_there(self, store: Store) -> None:
        await add(store, schedule())
        epoch = await lead(store)
        await commit(store, plan(schedule()), epoch)
        assert await store.retention.prune_ticks(HOUR, 10, after(7200)) == 0
        await store.schedules.commit([plan(await found(store))], epoch, after(7200))
        assert await store.retention.prune_ticks(HOUR, 10, after(7201)) == 1
        assert [row.tick_at for row in await rows(store)] == [after(60)]

    async def test_a_tick_ages_from_when_it_was_recorded(self, store: Store) -> None:
        await add(store, schedule())
        await commit(store, plan(schedule()), await lead(store))
        past = [fire("nightly", after(-(10**6)))]
        await store.schedules.backfill("nightly", past, after(3000))
        assert await store.retention.prune_ticks(HOUR, 10, after(3700)) == 0
        assert await store.retention.prune_ticks(HOUR, 10, after(6600)) == 1
        assert [row.tick_at for row in await rows(store)] == [NOON]

    async def test_no_more_ticks_than_the_limit_are_forgotten(self, store: Store) -> None:
        await add(store, schedule("a"), schedule("b"))
        epoch = await lead(store)
        for name in ("a", "b"):
            for _ in range(3):
                await commit(store, plan(await found(store, name)), epoch)
        assert await store.retention.prune_ticks(HOUR, 3, after(7200)) == 3
        assert await store.retention.prune_ticks(HOUR, 3, after(7200)) == 1
        assert (len(await rows(store, "a")), len(await rows(store, "b"))) == (1, 1)

    async def test_nodes_are_forgotten_when_their_beats_ended_so_long_ago(
        self, store: Store
    ) -> None:
        await store.nodes.beat(beat(ANNE, lifetime=10), NOON)
        await store.nodes.beat(beat(BERT, lifetime=10), after(60))
        assert await store.retention.prune_nodes(HOUR, 10, after(10 + 3599)) == 0
        assert await store.retention.prune_nodes(HOUR, 10, after(10 + 3600)) == 1
        assert [each.node.id for each in await store.nodes.list(after(3600))] == [BERT]
