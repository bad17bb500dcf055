"""Cases: the list of queues, and pausing them."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from drumbeat.model.jobs.job import Change, JobSpec, Limit, OnConflict, Settlement, Status
from drumbeat.model.jobs.queue import PausedQueue, QueueRecord
from drumbeat.ports.store import Store, Topic
from drumbeat.testing.conformance.builders import (
    ANNE,
    BERT,
    NOON,
    after,
    finish,
    insert,
    insert_one,
    job_of,
    let_others_run,
    running,
    settle,
    spec,
    take,
    take_one,
    wanted,
)
from drumbeat.testing.conformance.store.hints import woken
from drumbeat.testing.conformance.traits import StoreTraits

HOUR = timedelta(hours=1)
MAIL = JobSpec("send", queue="mail")
BOTH = wanted(queues=("default", "mail"))
COMPLETED, FAILED, CANCELLED = Status.COMPLETED, Status.FAILED, Status.CANCELLED


async def queues_of(store: Store) -> dict[str, QueueRecord]:
    return {each.name: each for each in (await store.queues.list(NOON)).queues}


class QueueListConformance:
    """Every queue is listed with its counts and its totals."""

    async def test_a_store_without_jobs_has_no_queues(self, store: Store) -> None:
        found = await store.queues.list(after(5))
        assert (found.as_of, found.queues) == (after(5), ())

    async def test_queues_are_listed_by_name_with_their_counts(self, store: Store) -> None:
        await insert(store, MAIL, spec(), spec(), JobSpec("other"))
        await insert(store, JobSpec("send", run_at=after(60)))
        await take(store, wanted(limit=1))
        found = await store.queues.list(NOON)
        assert [(each.name, each.counts) for each in found.queues] == [
            ("default", {Status.PENDING: 1, Status.QUEUED: 2, Status.RUNNING: 1}),
            ("mail", {Status.QUEUED: 1}),
        ]
        assert [each.totals for each in found.queues] == [{}, {}]

    async def test_the_oldest_queued_job_of_each_queue_is_told(self, store: Store) -> None:
        limited = (Limit("door", 1),)
        await insert(store, JobSpec("send", priority=50), JobSpec("send", limits=limited))
        await insert(store, JobSpec("other", run_at=after(-60), priority=-10), at=NOON)
        await insert(store, JobSpec("send", queue="mail", run_at=after(-30), limits=limited))
        await insert(store, JobSpec("send", queue="later", run_at=after(60)))
        found = await queues_of(store)
        assert {name: each.oldest_at for name, each in found.items()} == {
            "default": after(-60),
            "mail": after(-30),
            "later": None,
        }

    async def test_a_job_that_waits_no_more_is_not_the_oldest(self, store: Store) -> None:
        await insert_one(store, spec())
        await insert_one(store, spec(), at=after(10))
        await take(store, wanted(limit=1))
        assert (await queues_of(store))["default"].oldest_at == after(10)
        await take(store, at=after(10))
        assert (await queues_of(store))["default"].oldest_at is None

    async def test_totals_outlive_the_jobs(self, store: Store) -> None:
        done, failed = [await running(store) for _ in range(2)]
        await finish(store, done.hold)
        await settle(store, Settlement(failed.hold, Change.FAIL))
        gone = await insert_one(store, MAIL)
        await store.jobs.cancel([gone.id], at=NOON)
        totals = {"default": {COMPLETED: 1, FAILED: 1}, "mail": {CANCELLED: 1}}
        before = await queues_of(store)
        assert {name: each.totals for name, each in before.items()} == totals
        assert await store.retention.prune_jobs(HOUR, 2, after(3600)) == 2
        assert await store.retention.prune_jobs(HOUR, 2, after(3600)) == 1
        after_all = await queues_of(store)
        assert {name: each.totals for name, each in after_all.items()} == totals
        assert all(not each.counts for each in after_all.values())
        again = await running(store)
        await finish(store, again.hold)
        found = (await queues_of(store))["default"]
        assert (found.counts, found.totals) == ({COMPLETED: 1}, {COMPLETED: 2, FAILED: 1})

    async def test_a_reopened_job_has_not_ended(self, store: Store) -> None:
        attempt = await running(store)
        await settle(store, Settlement(attempt.hold, Change.FAIL))
        await store.jobs.reopen([attempt.job_id], after(5))
        assert (await queues_of(store))["default"].totals == {}
        await finish(store, (await take_one(store, at=after(5))).hold, after(5))
        assert (await queues_of(store))["default"].totals == {COMPLETED: 1}


class PauseConformance:
    """Once a pause is acknowledged, no job of the queue is claimed until it is resumed."""

    async def test_a_paused_queue_says_why_and_since_when(self, store: Store) -> None:
        paused = await store.queues.pause("mail", "the server is down", NOON)
        assert paused == PausedQueue("the server is down", NOON)
        assert await queues_of(store) == {"mail": QueueRecord("mail", paused=paused)}

    async def test_a_queue_that_is_paused_again_takes_the_new_reason(self, store: Store) -> None:
        await store.queues.pause("mail", "first", NOON)
        paused = await store.queues.pause("mail", "second", after(60))
        assert paused == PausedQueue("second", NOON)
        assert (await queues_of(store))["mail"].paused == paused

    async def test_no_job_of_a_paused_queue_is_claimed(self, store: Store) -> None:
        await insert(store, MAIL, spec())
        await store.queues.pause("mail", at=NOON)
        await insert(store, MAIL, JobSpec("send", queue="mail", priority=100))
        claimed = await take(store, BOTH)
        assert [attempt.spec.queue for attempt in claimed] == ["default"]
        assert await take(store, BOTH) == ()
        assert await take(store, wanted(queues=("mail",))) == ()

    async def test_no_job_with_limits_of_a_paused_queue_is_claimed_or_cancelled(
        self, store: Store
    ) -> None:
        door = Limit("door", 1, OnConflict.CANCEL)
        held = await running(store, JobSpec("send", limits=(door,)))
        waiting = await insert_one(store, JobSpec("send", queue="mail", limits=(door,)))
        await store.queues.pause("mail", at=NOON)
        taken = await store.jobs.take(BOTH, BERT, at=NOON)
        assert (taken.attempts, taken.cancelled) == ((), ())
        await finish(store, held.hold)
        assert await take(store, BOTH, BERT) == ()
        assert (await job_of(store, waiting.id)).status is Status.QUEUED
        await store.queues.resume("mail")
        (attempt,) = await take(store, BOTH, BERT)
        assert attempt.job_id == waiting.id

    async def test_a_limit_that_a_paused_queue_waits_for_is_free_for_others(
        self, store: Store
    ) -> None:
        door = (Limit("door", 1),)
        await insert(store, JobSpec("send", queue="mail", limits=door, priority=9))
        await store.queues.pause("mail", at=NOON)
        job = await insert_one(store, JobSpec("send", limits=door))
        (attempt,) = await take(store, BOTH)
        assert attempt.job_id == job.id

    async def test_nothing_of_a_paused_queue_is_held_ahead(self, store: Store) -> None:
        await insert(store, *[MAIL] * 3)
        await store.queues.pause("mail", at=NOON)
        taken = await store.jobs.take(wanted(queues=("mail",), ahead=2, limit=1), ANNE, at=NOON)
        assert taken.attempts == ()

    async def test_what_runs_goes_on_and_is_settled(self, store: Store) -> None:
        await insert(store, MAIL, MAIL)
        (attempt,) = await take(store, wanted(1, queues=("mail",)))
        await store.queues.pause("mail", at=NOON)
        settlement = Settlement(attempt.hold, Change.COMPLETE)
        taken = await store.jobs.take(BOTH, ANNE, [settlement], NOON)
        assert (len(taken.verdicts), taken.attempts) == (1, ())
        assert (await job_of(store, attempt.job_id)).status is Status.COMPLETED

    async def test_a_job_that_is_retried_in_a_paused_queue_waits(self, store: Store) -> None:
        await insert_one(store, MAIL)
        (attempt,) = await take(store, BOTH)
        await store.queues.pause("mail", at=NOON)
        await settle(store, Settlement(attempt.hold, Change.RETRY))
        await store.jobs.promote(10, after(1))
        assert await take(store, BOTH, at=after(1)) == ()

    async def test_a_pause_holds_through_every_handle(
        self, store: Store, traits: StoreTraits
    ) -> None:
        await insert(store, MAIL)
        async with traits.another() as other:
            await take(other, BOTH)
            await insert(store, MAIL)
            await store.queues.pause("mail", at=NOON)
            assert await take(other, BOTH) == ()
            await other.queues.resume("mail")
            assert len(await take(store, BOTH)) == 1

    async def test_a_resumed_queue_is_worked_on_in_its_order(self, store: Store) -> None:
        await store.queues.pause("mail", "why", NOON)
        jobs = await insert(store, *[MAIL] * 3)
        assert await store.queues.resume("mail") == PausedQueue("why", NOON)
        assert [attempt.job_id for attempt in await take(store, BOTH)] == [job.id for job in jobs]

    async def test_a_queue_that_was_not_paused_cannot_be_resumed(self, store: Store) -> None:
        assert await store.queues.resume("mail") is None

    async def test_a_resumed_queue_wakes_workers(self, store: Store, traits: StoreTraits) -> None:
        await store.queues.pause("mail", at=NOON)
        await insert(store, MAIL)
        async with traits.another() as other, woken(other, Topic.JOBS, traits):
            await store.queues.resume("mail")

    async def test_no_claim_comes_after_a_pause_was_acknowledged(
        self, store: Store, traits: StoreTraits
    ) -> None:
        rest = asyncio.Event()

        async def claim_on(handle: Store) -> None:
            while not rest.is_set():
                await handle.jobs.take(wanted(1, queues=("mail",)), ANNE, at=NOON)
                await let_others_run()

        for _ in range(5):
            await insert(store, *[MAIL] * 100)
            rest.clear()
            async with traits.another() as other, asyncio.TaskGroup() as group:
                for number in range(6):
                    group.create_task(claim_on((store, other)[number % 2]))
                await take(store, wanted(1, queues=("mail",)))
                await store.queues.pause("mail", at=NOON)
                before = (await queues_of(store))["mail"].counts.get(Status.QUEUED, 0)
                for _ in range(20):
                    await take(store, wanted(1, queues=("mail",)))
                rest.set()
            assert (await queues_of(store))["mail"].counts.get(Status.QUEUED, 0) == before
            await store.queues.resume("mail")
