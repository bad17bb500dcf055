"""Cases: limits on jobs that run at once."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import (
    SKIPPED,
    Change,
    JobFilter,
    JobSpec,
    Limit,
    OnConflict,
    Settlement,
    Status,
)
from drumbeat.model.page import PageRequest
from drumbeat.ports.store import Store
from drumbeat.testing.conformance.builders import (
    ANNE,
    BERT,
    NOON,
    after,
    finish,
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


class LimitConformance:
    """No claim exceeds a limit, and a job that waits for one does not block others."""

    async def test_no_more_jobs_with_a_key_run_than_it_allows(self, store: Store) -> None:
        await insert(store, *[JobSpec("send", limits=(Limit("door", 2),))] * 5)
        first = await take(store)
        assert len(first) == 2
        assert await take(store, by=BERT) == ()
        await finish(store, first[0].hold)
        assert len(await take(store, by=BERT)) == 1

    async def test_a_key_counts_over_all_tasks_and_queues(self, store: Store) -> None:
        door = (Limit("door", 1),)
        await insert(
            store, JobSpec("a", queue="x", limits=door), JobSpec("b", queue="y", limits=door)
        )
        (first,) = await take(store, wanted(queues=("x", "y"), tasks=("a", "b")))
        assert first.spec.task == "a"
        assert await take(store, wanted(queues=("y",), tasks=("b",))) == ()
        await finish(store, first.hold)
        assert len(await take(store, wanted(queues=("y",), tasks=("b",)))) == 1

    async def test_a_freed_key_can_be_taken_whatever_waits_elsewhere(self, store: Store) -> None:
        door = (Limit("door", 1),)
        await insert(store, JobSpec("a", limits=door))
        (first,) = await take(store, wanted(tasks=("a", "b")))
        await insert(store, JobSpec("a", priority=9, limits=door), JobSpec("b", limits=door))
        assert await take(store, wanted(tasks=("a", "b"))) == ()
        await finish(store, first.hold)
        # Only `b` is known here: that `a` waits first must not keep this worker idle.
        assert [attempt.spec.task for attempt in await take(store, wanted(tasks=("b",)))] == ["b"]

    async def test_a_job_that_waits_for_its_key_blocks_no_other(self, store: Store) -> None:
        door = JobSpec("send", priority=9, limits=(Limit("door", 1),))
        await insert(store, *[door] * 10)
        free = await insert_one(store, spec())
        taken = await take(store, wanted(limit=2))
        assert len(taken) == 2
        assert taken[1].job_id == free.id

    async def test_jobs_that_waited_for_a_key_come_in_their_order(self, store: Store) -> None:
        door = JobSpec("send", limits=(Limit("door", 1),))
        jobs = await insert(store, door, door, replace(door, priority=5), door)
        order: list[int] = []
        while attempts := await take(store):
            (attempt,) = attempts
            order.append(attempt.job_id)
            await finish(store, attempt.hold)
        assert order == [jobs[number].id for number in (2, 0, 1, 3)]

    async def test_every_limit_of_a_job_counts(self, store: Store) -> None:
        door, window = Limit("door", 1), Limit("window", 1)
        await insert(store, JobSpec("send", limits=(door,)), JobSpec("send", limits=(window,)))
        first, second = await take(store)
        await insert(store, JobSpec("send", limits=(door, window)))
        assert await take(store) == ()
        await finish(store, first.hold)
        assert await take(store) == ()
        await finish(store, second.hold)
        assert len(await take(store)) == 1

    async def test_a_job_that_waits_for_a_second_key_leaves_the_first_to_others(
        self, store: Store
    ) -> None:
        door, window = Limit("door", 1), Limit("window", 1)
        await insert(store, JobSpec("send", limits=(door,)), JobSpec("send", limits=(window,)))
        first, _ = await take(store)
        both, single = await insert(
            store, JobSpec("send", limits=(door, window)), JobSpec("send", limits=(door,))
        )
        assert await take(store) == ()
        await finish(store, first.hold)
        assert [attempt.job_id for attempt in await take(store)] == [single.id]
        assert (await job_of(store, both.id)).status is Status.QUEUED

    async def test_a_cancelled_job_leaves_its_turn_to_the_next(self, store: Store) -> None:
        door = JobSpec("send", limits=(Limit("door", 1),))
        await insert_one(store, door)
        first = await take_one(store)
        second, third = await insert(store, door, door)
        assert await take(store) == ()
        await finish(store, first.hold)
        await store.jobs.cancel([second.id], at=NOON)
        assert [attempt.job_id for attempt in await take(store)] == [third.id]

    async def test_each_job_is_judged_by_its_own_number(self, store: Store) -> None:
        await insert(store, *[JobSpec("send", limits=(Limit("door", 3),))] * 2)
        await take(store)
        strict, lax = await insert(
            store,
            JobSpec("send", limits=(Limit("door", 1),)),
            JobSpec("send", limits=(Limit("door", 3),)),
        )
        assert [attempt.job_id for attempt in await take(store)] == [lax.id]
        assert (await job_of(store, strict.id)).status is Status.QUEUED

    async def test_a_job_that_waits_again_frees_its_key(self, store: Store) -> None:
        door = JobSpec("send", limits=(Limit("door", 1),))
        for change in (Change.RETRY, Change.SNOOZE, Change.FAIL, Change.CANCEL):
            await insert_one(store, door)
            attempt = await take_one(store)
            hour = timedelta(hours=1)
            await settle(store, Settlement(attempt.hold, change, delay=hour))
        await insert_one(store, door)
        assert len(await take(store)) == 1

    async def test_a_job_that_gives_way_is_cancelled_when_its_limit_is_reached(
        self, store: Store
    ) -> None:
        door = JobSpec("send", limits=(Limit("door", 1, OnConflict.CANCEL),))
        first, second = await insert(store, door, door)
        taken = await store.jobs.take(wanted(), ANNE, at=after(1))
        assert [attempt.job_id for attempt in taken.attempts] == [first.id]
        assert taken.cancelled == (second.id,)
        job = await job_of(store, second.id)
        assert (job.status, job.finished_at) == (Status.CANCELLED, after(1))
        assert job.error
        assert (job.attempt, job.fence) == (0, 0)

    async def test_jobs_beyond_a_limit_that_are_cancelled_in_a_claim_are_not_started(
        self, store: Store
    ) -> None:
        door = JobSpec("send", limits=(Limit("door", 2, OnConflict.CANCEL),))
        jobs = await insert(store, *[door] * 4)
        started, cancelled = [job.id for job in jobs[:2]], [job.id for job in jobs[2:]]
        taken = await store.jobs.take(wanted(), ANNE, at=NOON)
        assert [attempt.job_id for attempt in taken.attempts] == started
        assert list(taken.cancelled) == cancelled
        assert sorted(hold.job_id for hold in await store.jobs.held(ANNE)) == started
        counts = await store.jobs.counts()
        assert counts == {"default": {Status.RUNNING: 2, Status.CANCELLED: 2}}
        for job_id in cancelled:
            job = await job_of(store, job_id)
            assert (job.status, job.attempt, job.fence) == (Status.CANCELLED, 0, 0)
        for attempt in taken.attempts:
            await finish(store, attempt.hold)
        assert len(await take(store, at=after(1))) == 0
        await insert(store, *[door] * 3)
        again = await store.jobs.take(wanted(), ANNE, at=after(2))
        assert (len(again.attempts), len(again.cancelled)) == (2, 1)

    async def test_a_lower_priority_does_not_overtake_keys_that_a_small_claim_sees_late(
        self, store: Store
    ) -> None:
        """Both tasks have more keys than the claim may start, and the first keys are in use."""
        door = Limit("door", 1)
        await insert(store, JobSpec("a", limits=(door,)))
        assert len(await take(store, wanted(tasks=("a",)))) == 1
        held_up = [
            JobSpec("a", priority=9, limits=(door, Limit(f"held {number}", 1)))
            for number in range(4)
        ]
        high = [
            JobSpec("a", priority=9, limits=(Limit(f"high {number}", 1),)) for number in range(4)
        ]
        low = [JobSpec("b", limits=(Limit(f"low {number}", 1),)) for number in range(4)]
        jobs = await insert(store, *held_up, *high, *low)
        best_first = [job.id for job in jobs[4:]]
        both = wanted(limit=2, tasks=("a", "b"))
        for claim in range(4):
            taken = [attempt.job_id for attempt in await take(store, both)]
            assert taken == best_first[2 * claim : 2 * claim + 2]

    async def test_a_job_that_gives_way_runs_if_its_key_is_free(self, store: Store) -> None:
        door = JobSpec("send", limits=(Limit("door", 1, OnConflict.CANCEL),))
        await insert_one(store, door)
        await finish(store, (await take_one(store)).hold)
        await insert_one(store, door)
        taken = await store.jobs.take(wanted(), ANNE, at=NOON)
        assert (len(taken.attempts), taken.cancelled) == (1, ())

    async def test_a_job_that_waits_for_one_limit_gives_way_to_another_only_at_its_turn(
        self, store: Store
    ) -> None:
        door, key = Limit("door", 1), Limit("key", 1, OnConflict.CANCEL)
        await insert(store, JobSpec("send", limits=(door,)), JobSpec("send", limits=(key,)))
        first, _ = await take(store)
        job = await insert_one(store, JobSpec("send", limits=(key, door)))
        taken = await store.jobs.take(wanted(), ANNE, at=NOON)
        assert (taken.attempts, taken.cancelled) == ((), ())
        await finish(store, first.hold)
        taken = await store.jobs.take(wanted(), ANNE, at=NOON)
        assert (taken.attempts, taken.cancelled) == ((), (job.id,))

    async def test_a_job_that_may_be_skipped_ends_quietly_when_its_limit_is_reached(
        self, store: Store
    ) -> None:
        door = JobSpec("send", limits=(Limit("door", 1, OnConflict.SKIP),))
        first, second = await insert(store, door, door)
        taken = await store.jobs.take(wanted(), ANNE, at=after(1))
        assert [attempt.job_id for attempt in taken.attempts] == [first.id]
        assert taken.cancelled == (second.id,)
        job = await job_of(store, second.id)
        assert (job.status, job.finished_at) == (Status.CANCELLED, after(1))
        assert (job.was_skipped, job.error) == (True, SKIPPED)
        assert (job.attempt, job.fence) == (0, 0)
        await finish(store, taken.attempts[0].hold)
        third = await insert_one(store, door)
        assert (await take_one(store)).job_id == third.id

    async def test_a_job_is_skipped_only_at_its_turn(self, store: Store) -> None:
        door, key = Limit("door", 1), Limit("key", 1, OnConflict.SKIP)
        await insert(store, JobSpec("send", limits=(door,)), JobSpec("send", limits=(key,)))
        first, _ = await take(store)
        job = await insert_one(store, JobSpec("send", limits=(key, door)))
        taken = await store.jobs.take(wanted(), ANNE, at=NOON)
        assert (taken.attempts, taken.cancelled) == ((), ())
        await finish(store, first.hold)
        taken = await store.jobs.take(wanted(), ANNE, at=NOON)
        assert (taken.attempts, taken.cancelled) == ((), (job.id,))
        assert (await job_of(store, job.id)).was_skipped

    async def test_a_job_whose_reached_limits_cancel_and_skip_is_cancelled(
        self, store: Store
    ) -> None:
        skips, cancels = (
            Limit("door", 1, OnConflict.SKIP),
            Limit("key", 1, OnConflict.CANCEL),
        )
        await insert(store, JobSpec("a", limits=(skips,)), JobSpec("b", limits=(cancels,)))
        anything = wanted(tasks=("a", "b", "send"))
        opened, other = await take(store, anything)
        both = await insert_one(store, JobSpec("send", limits=(skips, cancels)))
        assert (await store.jobs.take(anything, ANNE, at=NOON)).cancelled == (both.id,)
        assert not (await job_of(store, both.id)).was_skipped
        await finish(store, other.hold)
        again = await insert_one(store, JobSpec("send", limits=(skips, cancels)))
        assert (await store.jobs.take(anything, ANNE, at=NOON)).cancelled == (again.id,)
        assert (await job_of(store, again.id)).was_skipped
        await finish(store, opened.hold)

    async def test_a_retry_is_not_skipped_but_cancelled(self, store: Store) -> None:
        door = JobSpec("send", limits=(Limit("door", 1, OnConflict.SKIP),))
        failed = await insert_one(store, door)
        attempt = await take_one(store)
        await settle(store, Settlement(attempt.hold, Change.RETRY, error="no answer"))
        other = await insert_one(store, replace(door, priority=9))
        taken = await store.jobs.take(wanted(), ANNE, at=after(1))
        assert [each.job_id for each in taken.attempts] == [other.id]
        assert taken.cancelled == (failed.id,)
        job = await job_of(store, failed.id)
        assert (job.status, job.was_skipped, job.attempt) == (Status.CANCELLED, False, 1)

    async def test_skipped_jobs_are_listed(self, store: Store) -> None:
        door = Limit("door", 1, OnConflict.SKIP)
        plain = JobSpec("send", limits=(door,))
        slow = replace(plain, queue="slow", tags=("red",), schedule="nightly")
        running, first, special, gone = await insert(store, plain, plain, slow, spec())
        await store.jobs.cancel([gone.id], "not needed", after(1))
        await store.jobs.take(wanted(queues=("default", "slow")), ANNE, at=NOON)

        async def found(wish: JobFilter) -> list[JobId]:
            return [job.id for job in (await store.jobs.list(wish, PageRequest())).items]

        wish = JobFilter(skipped=True)
        assert await found(wish) == [special.id, first.id]
        for narrow in (
            replace(wish, queue="slow"),
            replace(wish, task="send", tag="red"),
            replace(wish, schedule="nightly", statuses=frozenset({Status.CANCELLED})),
        ):
            assert await found(narrow) == [special.id]
        for none in (
            replace(wish, expired=True),
            replace(wish, statuses=frozenset({Status.COMPLETED, Status.RUNNING})),
            replace(wish, tag="blue"),
        ):
            assert await found(none) == []
        assert running.id not in await found(JobFilter(statuses=frozenset({Status.CANCELLED})))
        page = await store.jobs.list(wish, PageRequest(size=1))
        rest = await store.jobs.list(wish, PageRequest(size=1, after=page.next))
        assert [job.id for job in (*page.items, *rest.items)] == [special.id, first.id]

    async def test_a_limit_holds_against_many_workers_at_once(
        self, store: Store, traits: StoreTraits
    ) -> None:
        await insert(store, *[JobSpec("send", limits=(Limit("door", 3),))] * 20)
        async with traits.another() as other:
            taken = await race(lambda number: take((store, other)[number % 2], wanted(limit=2)))
        assert sum(len(attempts) for attempts in taken) == 3
