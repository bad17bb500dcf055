"""Cases: cancelling jobs and retrying finished ones."""

from __future__ import annotations

from datetime import timedelta

import pytest

from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import (
    Cancelled,
    CancelRequested,
    Change,
    Job,
    JobSpec,
    Reopened,
    Settled,
    Settlement,
    Status,
    TooLate,
)
from drumbeat.ports.store import Store
from drumbeat.testing.conformance.builders import (
    ANNE,
    NOON,
    after,
    beat,
    finish,
    insert,
    insert_one,
    job_of,
    race,
    running,
    settle,
    spec,
    take,
    take_one,
)
from drumbeat.testing.conformance.traits import StoreTraits

NOTHING = JobId(10**9)


class CancelConformance:
    """A waiting job is cancelled; a running job is asked to stop."""

    async def test_waiting_jobs_end_as_cancelled(self, store: Store) -> None:
        queued, pending = await insert(store, spec(), JobSpec("send", run_at=after(60)))
        verdicts = await store.jobs.cancel([queued.id, pending.id], "not needed", after(5))
        assert list(verdicts) == [Cancelled(queued.id), Cancelled(pending.id)]
        for job_id in (queued.id, pending.id):
            job = await job_of(store, job_id)
            assert (job.status, job.finished_at) == (Status.CANCELLED, after(5))
            assert job.error == "not needed"
        assert await take(store, at=after(60)) == ()

    async def test_a_running_job_is_marked_and_runs_on(self, store: Store) -> None:
        attempt = await running(store)
        assert list(await store.jobs.cancel([attempt.job_id])) == [CancelRequested(attempt.job_id)]
        job = await job_of(store, attempt.job_id)
        assert (job.status, job.cancel_requested, job.node) == (Status.RUNNING, True, ANNE)
        assert list(await store.jobs.cancel([attempt.job_id])) == [CancelRequested(attempt.job_id)]

    async def test_a_finished_job_cannot_be_cancelled(self, store: Store) -> None:
        attempt = await running(store)
        await finish(store, attempt.hold)
        before = await job_of(store, attempt.job_id)
        verdicts = await store.jobs.cancel([attempt.job_id, NOTHING])
        assert list(verdicts) == [
            TooLate(attempt.job_id, Status.COMPLETED),
            TooLate(NOTHING, None),
        ]
        assert await job_of(store, attempt.job_id) == before

    @pytest.mark.parametrize("change", [Change.RETRY, Change.SNOOZE, Change.GIVE_BACK])
    async def test_a_job_that_is_to_be_cancelled_does_not_wait_again(
        self, store: Store, change: Change
    ) -> None:
        attempt = await running(store)
        await store.jobs.cancel([attempt.job_id], "enough")
        settlement = Settlement(attempt.hold, change, delay=timedelta(minutes=1))
        verdict = await settle(store, settlement, after(5))
        assert verdict == Settled(attempt.hold, Status.CANCELLED)
        job = await job_of(store, attempt.job_id)
        assert (job.status, job.finished_at, job.error) == (Status.CANCELLED, after(5), "enough")
        (ended,) = await store.jobs.attempts(attempt.job_id)
        assert ended.change is Change.CANCEL

    @pytest.mark.parametrize(
        ("change", "status"),
        [(Change.COMPLETE, Status.COMPLETED), (Change.FAIL, Status.FAILED)],
    )
    async def test_a_job_that_ends_before_its_cancellation_arrives_keeps_its_ending(
        self, store: Store, change: Change, status: Status
    ) -> None:
        attempt = await running(store)
        await store.jobs.cancel([attempt.job_id], "enough")
        settlement = Settlement(attempt.hold, change, error="own words")
        assert await settle(store, settlement) == Settled(attempt.hold, status)
        assert (await job_of(store, attempt.job_id)).error == "own words"

    async def test_a_node_gets_cancellations_at_its_next_beat(self, store: Store) -> None:
        await insert(store, spec(), spec())
        first, second = await take(store)
        await store.jobs.cancel([second.job_id])
        pulse = await store.nodes.beat(beat(holds=[first.hold, second.hold]), NOON)
        assert (pulse.cancelled, pulse.lost) == ((second.hold,), ())

    async def test_a_claim_and_a_cancellation_at_once_happen_in_one_of_two_orders(
        self, store: Store, traits: StoreTraits
    ) -> None:
        async with traits.another() as other:
            for _ in range(20):
                job = await insert_one(store, spec())

                async def act(number: int, job: Job = job) -> int:
                    if number:
                        return len(await take(store))
                    return len(await other.jobs.cancel([job.id]))

                (_, claimed) = await race(act, racers=2)
                after_both = await job_of(store, job.id)
                if claimed:
                    assert after_both.status is Status.RUNNING
                    assert after_both.cancel_requested
                else:
                    assert after_both.status is Status.CANCELLED


class ReopenConformance:
    """A failed or cancelled job can be queued again; its fence keeps rising."""

    async def test_a_failed_job_is_queued_as_new_but_for_its_fence(self, store: Store) -> None:
        attempt = await running(store)
        settlement = Settlement(attempt.hold, Change.FAIL, result=b"0", error="no")
        await settle(store, settlement, after(1))
        assert list(await store.jobs.reopen([attempt.job_id], after(9))) == [
            Reopened(attempt.job_id)
        ]
        job = await job_of(store, attempt.job_id)
        assert job == Job(
            attempt.job_id, spec(), Status.QUEUED, run_at=after(9), created_at=NOON, fence=1
        )
        again = await take_one(store, at=after(9))
        assert (again.number, again.hold.fence) == (1, 2)

    async def test_a_cancelled_job_forgets_its_cancellation(self, store: Store) -> None:
        attempt = await running(store)
        await store.jobs.cancel([attempt.job_id], "enough")
        await settle(store, Settlement(attempt.hold, Change.RETRY))
        await store.jobs.reopen([attempt.job_id], NOON)
        again = await take_one(store)
        verdict = await settle(store, Settlement(again.hold, Change.RETRY))
        assert verdict == Settled(again.hold, Status.QUEUED)

    async def test_a_job_cancelled_while_it_waited_is_queued_once(self, store: Store) -> None:
        job = await insert_one(store, spec())
        await store.jobs.cancel([job.id], at=NOON)
        await store.jobs.reopen([job.id], NOON)
        assert len(await take(store)) == 1
        assert await take(store) == ()

    async def test_a_reopened_job_is_queued_whatever_its_time_was(self, store: Store) -> None:
        job = await insert_one(store, JobSpec("send", run_at=after(3600)))
        await store.jobs.cancel([job.id], at=NOON)
        await store.jobs.reopen([job.id], after(5))
        assert (await take_one(store, at=after(5))).job_id == job.id
        assert (await store.jobs.promote(10, after(3600))).tickets == ()

    async def test_only_failed_and_cancelled_jobs_can_be_reopened(self, store: Store) -> None:
        pending = await insert_one(store, JobSpec("send", run_at=after(60)))
        completed = await running(store)
        await finish(store, completed.hold)
        active = await running(store)
        queued = await insert_one(store, spec())
        ids = [pending.id, queued.id, active.job_id, completed.job_id, NOTHING]
        statuses = [Status.PENDING, Status.QUEUED, Status.RUNNING, Status.COMPLETED, None]
        assert list(await store.jobs.reopen(ids)) == [
            TooLate(job_id, status) for job_id, status in zip(ids, statuses, strict=True)
        ]
        assert [job and job.status for job in await store.jobs.get(ids)] == statuses
