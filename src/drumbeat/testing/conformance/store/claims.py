"""Cases: which worker claims which jobs, and in which order."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from drumbeat.model.jobs.job import (
    Attempt,
    Change,
    Hold,
    JobSpec,
    Limit,
    Rate,
    Settled,
    Settlement,
    Status,
    Superseded,
)
from drumbeat.ports.store import Store
from drumbeat.testing.conformance.builders import (
    ANNE,
    BERT,
    NOON,
    after,
    insert,
    insert_one,
    job_of,
    race,
    settle,
    spec,
    take,
    take_one,
    wanted,
)
from drumbeat.testing.conformance.traits import StoreTraits


class TakeConformance:
    """A claim gives each job to one worker, in the order of priority."""

    async def test_a_claimed_job_is_running_with_a_fence_and_an_attempt(self, store: Store) -> None:
        job = await insert_one(store, spec())
        attempt = await take_one(store, at=after(3))
        assert attempt == Attempt(
            Hold(job.id, 1), 1, spec(), ANNE, started_at=after(3), created_at=NOON
        )
        running = await job_of(store, job.id)
        assert (running.status, running.attempt, running.fence) == (Status.RUNNING, 1, 1)
        assert (running.node, running.started_at) == (ANNE, after(3))

    async def test_a_running_job_is_not_claimed_again(self, store: Store) -> None:
        await insert_one(store, spec())
        await take_one(store)
        assert await take(store, by=BERT) == ()

    async def test_higher_priority_comes_first_then_earlier_time_then_lower_id(
        self, store: Store
    ) -> None:
        jobs = await insert(
            store,
            JobSpec("send", run_at=after(-1)),
            JobSpec("send", run_at=after(-5)),
            JobSpec("send", run_at=after(-5)),
            JobSpec("send", priority=5),
            JobSpec("send", priority=100),
            JobSpec("send", priority=5, run_at=after(-1)),
        )
        order = [attempt.job_id for attempt in await take(store)]
        assert order == [jobs[number].id for number in (4, 5, 3, 1, 2, 0)]

    async def test_the_order_goes_over_all_wanted_queues_and_tasks(self, store: Store) -> None:
        jobs = await insert(
            store,
            JobSpec("b", queue="y"),
            JobSpec("a", queue="x", priority=1),
            JobSpec("a", queue="y", priority=2),
            JobSpec("b", queue="x", run_at=after(-9)),
            JobSpec("a", queue="y", run_at=after(-8)),
        )
        everything = wanted(queues=("y", "x"), tasks=("a", "b"))
        order = [attempt.job_id for attempt in await take(store, everything)]
        assert order == [jobs[number].id for number in (2, 1, 3, 4, 0)]

    async def test_more_can_be_claimed_to_be_held_in_the_same_order(self, store: Store) -> None:
        jobs = await insert(store, *[spec()] * 9)
        taken = await take(store, replace(wanted(limit=2), ahead=3))
        assert [attempt.job_id for attempt in taken] == [job.id for job in jobs[:5]]
        held = await take(store, replace(wanted(limit=0), ahead=3))
        assert [attempt.job_id for attempt in held] == [job.id for job in jobs[5:8]]

    async def test_a_job_with_limits_is_claimed_to_be_started_and_not_to_be_held(
        self, store: Store
    ) -> None:
        door = JobSpec("send", limits=(Limit("door", 5),))
        jobs = await insert(store, spec(), door, spec(), door, spec())
        taken = await take(store, replace(wanted(limit=2), ahead=9))
        assert [attempt.job_id for attempt in taken] == [job.id for job in jobs[:3]]
        assert await take(store, replace(wanted(limit=0), ahead=9)) == ()
        started = await take(store, replace(wanted(limit=1), ahead=9))
        assert [attempt.job_id for attempt in started] == [job.id for job in jobs[3:]]

    async def test_a_job_with_a_rate_is_not_claimed_to_be_held(self, store: Store) -> None:
        """If it were given back unstarted, it would have used up its rate for nothing."""
        bell = JobSpec("send", rate=Rate("bell", 5, timedelta(seconds=10)))
        jobs = await insert(store, spec(), bell, spec())
        taken = await take(store, replace(wanted(limit=0), ahead=9))
        assert [attempt.job_id for attempt in taken] == [jobs[0].id]

    async def test_only_the_wanted_queues_are_taken_from(self, store: Store) -> None:
        await insert(store, JobSpec("send", queue="other", priority=9))
        mine = await insert_one(store, spec())
        assert [attempt.job_id for attempt in await take(store)] == [mine.id]

    async def test_only_known_tasks_are_taken(self, store: Store) -> None:
        await insert(store, *[JobSpec("unknown", priority=9)] * 3)
        mine = await insert_one(store, spec())
        assert [attempt.job_id for attempt in await take(store)] == [mine.id]
        assert len(await take(store, wanted(tasks=("unknown",)))) == 3

    async def test_no_more_than_the_limit_are_taken(self, store: Store) -> None:
        await insert(store, *[spec()] * 5)
        assert len(await take(store, wanted(limit=3))) == 3
        assert len(await take(store, wanted(limit=3))) == 2

    async def test_a_batch_is_settled_before_the_next_is_claimed(self, store: Store) -> None:
        exclusive = JobSpec("send", limits=(Limit("one", 1),))
        await insert(store, exclusive, exclusive)
        first = await take_one(store)
        taken = await store.jobs.take(
            wanted(), ANNE, [Settlement(first.hold, Change.COMPLETE)], NOON
        )
        assert taken.verdicts == (Settled(first.hold, Status.COMPLETED),)
        assert len(taken.attempts) == 1

    async def test_what_cannot_be_settled_does_not_stop_the_claim(self, store: Store) -> None:
        await insert(store, spec(), spec())
        first = await take(store, wanted(limit=1))
        stale = Hold(first[0].job_id, 99)
        taken = await store.jobs.take(wanted(), ANNE, [Settlement(stale, Change.COMPLETE)], NOON)
        assert taken.verdicts == (Superseded(stale),)
        assert len(taken.attempts) == 1

    async def test_a_limit_of_zero_only_settles(self, store: Store) -> None:
        await insert(store, spec(), spec())
        (attempt,) = await take(store, wanted(limit=1))
        taken = await store.jobs.take(
            wanted(limit=0), ANNE, [Settlement(attempt.hold, Change.COMPLETE)], NOON
        )
        assert taken.attempts == ()
        assert taken.verdicts == (Settled(attempt.hold, Status.COMPLETED),)

    async def test_the_fence_rises_with_every_claim(self, store: Store) -> None:
        await insert_one(store, spec())
        for fence in range(1, 5):
            attempt = await take_one(store)
            assert attempt.hold.fence == fence
            await settle(store, Settlement(attempt.hold, Change.GIVE_BACK))

    async def test_jobs_claimed_at_once_by_many_workers_go_to_one_each(
        self, store: Store, traits: StoreTraits
    ) -> None:
        jobs = await insert(store, *[spec()] * 40)
        async with traits.another() as other:

            async def work(number: int) -> list[Attempt]:
                handle = (store, other)[number % 2]
                mine: list[Attempt] = []
                while batch := await take(handle, wanted(limit=3), by=(ANNE, BERT)[number % 2]):
                    mine += batch
                return mine

            taken = await race(work)
        claimed = [attempt.hold for attempts in taken for attempt in attempts]
        assert sorted(hold.job_id for hold in claimed) == [job.id for job in jobs]
        assert all(hold.fence == 1 for hold in claimed)
