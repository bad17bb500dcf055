"""Cases: settling attempts, and holds that are over."""

from __future__ import annotations

from datetime import timedelta

import pytest

from drumbeat.model.errors import IllegalChange
from drumbeat.model.jobs.job import (
    AttemptRecord,
    Change,
    Hold,
    JobSpec,
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
    wanted,
)
from drumbeat.testing.conformance.traits import StoreTraits

MINUTE = timedelta(minutes=1)


class SettleConformance:
    """An attempt is closed as its settlement says."""

    async def test_a_completed_job_keeps_its_result(self, store: Store) -> None:
        attempt = await running(store)
        result = '{"said":"Zoë \N{SNOWMAN}"}'.encode()
        verdict = await settle(
            store, Settlement(attempt.hold, Change.COMPLETE, result=result), after(5)
        )
        assert verdict == Settled(attempt.hold, Status.COMPLETED)
        job = await job_of(store, attempt.job_id)
        assert (job.status, job.result, job.error) == (Status.COMPLETED, result, None)
        assert (job.finished_at, job.node, job.started_at) == (after(5), ANNE, NOON)

    async def test_a_failed_job_says_why(self, store: Store) -> None:
        attempt = await running(store)
        settlement = Settlement(attempt.hold, Change.FAIL, error="böse")
        assert await settle(store, settlement) == Settled(attempt.hold, Status.FAILED)
        job = await job_of(store, attempt.job_id)
        assert (job.status, job.error, job.finished_at) == (Status.FAILED, "böse", NOON)

    async def test_a_job_that_cancels_itself_is_cancelled(self, store: Store) -> None:
        attempt = await running(store)
        settlement = Settlement(attempt.hold, Change.CANCEL, error="why not")
        assert await settle(store, settlement) == Settled(attempt.hold, Status.CANCELLED)
        job = await job_of(store, attempt.job_id)
        assert (job.status, job.error, job.finished_at) == (Status.CANCELLED, "why not", NOON)

    async def test_a_retry_waits_for_its_delay_and_counts(self, store: Store) -> None:
        attempt = await running(store)
        settlement = Settlement(attempt.hold, Change.RETRY, delay=MINUTE, error="later")
        assert await settle(store, settlement, after(5)) == Settled(attempt.hold, Status.PENDING)
        job = await job_of(store, attempt.job_id)
        assert (job.status, job.run_at, job.error) == (Status.PENDING, after(65), "later")
        assert (job.attempt, job.node, job.finished_at) == (1, None, None)
        await store.jobs.promote(10, after(65))
        again = await take_one(store, at=after(65))
        assert (again.number, again.hold.fence) == (2, 2)

    async def test_a_retry_without_delay_is_queued_at_once(self, store: Store) -> None:
        attempt = await running(store)
        verdict = await settle(store, Settlement(attempt.hold, Change.RETRY), after(1))
        assert verdict == Settled(attempt.hold, Status.QUEUED)
        assert (await take_one(store, at=after(1))).number == 2

    async def test_a_snooze_waits_for_its_delay_and_does_not_count(self, store: Store) -> None:
        attempt = await running(store)
        settlement = Settlement(attempt.hold, Change.SNOOZE, delay=MINUTE)
        assert await settle(store, settlement) == Settled(attempt.hold, Status.PENDING)
        job = await job_of(store, attempt.job_id)
        assert (job.run_at, job.attempt, job.fence) == (after(60), 0, 1)
        await store.jobs.promote(10, after(60))
        again = await take_one(store, at=after(60))
        assert (again.number, again.hold.fence) == (1, 2)

    async def test_a_snooze_without_delay_is_queued_at_once(self, store: Store) -> None:
        attempt = await running(store)
        verdict = await settle(store, Settlement(attempt.hold, Change.SNOOZE))
        assert verdict == Settled(attempt.hold, Status.QUEUED)

    async def test_a_job_given_back_is_queued_at_once_and_does_not_count(
        self, store: Store
    ) -> None:
        attempt = await running(store)
        settlement = Settlement(attempt.hold, Change.GIVE_BACK, delay=MINUTE)
        assert await settle(store, settlement, after(5)) == Settled(attempt.hold, Status.QUEUED)
        again = await take_one(store, by=BERT, at=after(5))
        assert (again.number, again.hold.fence, again.node) == (1, 2, BERT)

    async def test_a_job_given_back_keeps_its_place_in_the_line(self, store: Store) -> None:
        attempt = await running(store)
        other = await insert_one(store, spec(), at=after(1))
        await settle(store, Settlement(attempt.hold, Change.GIVE_BACK), after(5))
        order = [each.job_id for each in await take(store, at=after(5))]
        assert order == [attempt.job_id, other.id]

    async def test_settlements_get_their_verdicts_in_order(self, store: Store) -> None:
        await insert(store, *[spec()] * 3)
        a, b, c = await take(store)
        stale = Hold(b.job_id, 9)
        settlements = [
            Settlement(c.hold, Change.COMPLETE),
            Settlement(stale, Change.COMPLETE),
            Settlement(a.hold, Change.FAIL),
        ]
        assert list(await store.jobs.settle(settlements, NOON)) == [
            Settled(c.hold, Status.COMPLETED),
            Superseded(stale),
            Settled(a.hold, Status.FAILED),
        ]

    async def test_a_change_that_no_settlement_may_make_is_refused_as_a_whole(
        self, store: Store
    ) -> None:
        await insert(store, spec(), spec())
        first, second = await take(store)
        for change in (Change.PROMOTE, Change.CLAIM, Change.REOPEN):
            settlements = [
                Settlement(first.hold, Change.COMPLETE),
                Settlement(second.hold, change),
            ]
            with pytest.raises(IllegalChange):
                await store.jobs.settle(settlements, NOON)
        assert (await job_of(store, first.job_id)).status is Status.RUNNING


class HoldConformance:
    """A hold that is over changes nothing."""

    async def test_a_job_is_settled_once(self, store: Store) -> None:
        attempt = await running(store)
        await finish(store, attempt.hold)
        before = await job_of(store, attempt.job_id)
        late = Settlement(attempt.hold, Change.FAIL, error="too late")
        assert await settle(store, late, after(9)) == Superseded(attempt.hold)
        assert await job_of(store, attempt.job_id) == before

    async def test_a_job_is_settled_once_within_a_batch(self, store: Store) -> None:
        attempt = await running(store)
        settlements = [
            Settlement(attempt.hold, Change.COMPLETE),
            Settlement(attempt.hold, Change.FAIL),
        ]
        assert list(await store.jobs.settle(settlements, NOON)) == [
            Settled(attempt.hold, Status.COMPLETED),
            Superseded(attempt.hold),
        ]

    async def test_a_late_settlement_of_a_reaped_attempt_is_refused(self, store: Store) -> None:
        await store.nodes.beat(beat(lifetime=5), NOON)
        attempt = await running(store)
        (lost,) = await store.jobs.lost(10, after(6))
        await settle(store, Settlement(lost.hold, Change.RETRY), after(6))
        again = await take_one(store, by=BERT, at=after(7))
        before = await job_of(store, attempt.job_id)
        late = Settlement(attempt.hold, Change.COMPLETE, result=b"1")
        assert await settle(store, late, after(8)) == Superseded(attempt.hold)
        assert await job_of(store, attempt.job_id) == before
        await finish(store, again.hold, after(9))

    async def test_an_old_hold_is_refused_even_if_the_attempt_has_the_same_number(
        self, store: Store
    ) -> None:
        attempt = await running(store)
        await settle(store, Settlement(attempt.hold, Change.SNOOZE))
        again = await take_one(store, by=BERT)
        assert again.number == attempt.number
        late = Settlement(attempt.hold, Change.COMPLETE)
        assert await settle(store, late) == Superseded(attempt.hold)
        assert (await job_of(store, attempt.job_id)).node == BERT

    async def test_an_old_hold_is_refused_after_the_attempts_were_counted_anew(
        self, store: Store
    ) -> None:
        attempt = await running(store)
        await settle(store, Settlement(attempt.hold, Change.FAIL))
        await store.jobs.reopen([attempt.job_id], NOON)
        again = await take_one(store, by=BERT)
        assert (again.number, again.hold.fence) == (1, 2)
        late = Settlement(attempt.hold, Change.COMPLETE)
        assert await settle(store, late) == Superseded(attempt.hold)

    async def test_a_hold_on_a_job_that_waits_is_over(self, store: Store) -> None:
        attempt = await running(store)
        await settle(store, Settlement(attempt.hold, Change.GIVE_BACK))
        late = Settlement(attempt.hold, Change.COMPLETE)
        assert await settle(store, late) == Superseded(attempt.hold)
        assert (await job_of(store, attempt.job_id)).status is Status.QUEUED

    async def test_a_hold_on_a_job_that_does_not_exist_is_over(self, store: Store) -> None:
        attempt = await running(store)
        nothing = Hold(type(attempt.job_id)(10**9), 1)
        assert await settle(store, Settlement(nothing, Change.COMPLETE)) == Superseded(nothing)

    async def test_one_of_many_settlements_made_at_once_is_accepted(
        self, store: Store, traits: StoreTraits
    ) -> None:
        attempt = await running(store)
        async with traits.another() as other:
            verdicts = await race(
                lambda number: settle(
                    (store, other)[number % 2],
                    Settlement(attempt.hold, Change.COMPLETE, result=str(number).encode()),
                )
            )
        accepted = [n for n, verdict in enumerate(verdicts) if isinstance(verdict, Settled)]
        assert len(accepted) == 1
        assert (await job_of(store, attempt.job_id)).result == str(accepted[0]).encode()


class AttemptsConformance:
    """The ended attempts of a job are kept."""

    async def test_a_job_that_was_never_claimed_has_no_attempts(self, store: Store) -> None:
        job = await insert_one(store, spec())
        assert list(await store.jobs.attempts(job.id)) == []
        assert list(await store.jobs.attempts(type(job.id)(10**9))) == []

    async def test_a_running_attempt_is_not_among_the_ended_ones(self, store: Store) -> None:
        attempt = await running(store)
        assert list(await store.jobs.attempts(attempt.job_id)) == []

    async def test_ended_attempts_are_told_oldest_first(self, store: Store) -> None:
        first = await running(store)
        await settle(store, Settlement(first.hold, Change.RETRY, error="one"), after(1))
        second = await take_one(store, by=BERT, at=after(2))
        await settle(store, Settlement(second.hold, Change.SNOOZE), after(3))
        third = await take_one(store, at=after(4))
        await finish(store, third.hold, after(5))
        assert list(await store.jobs.attempts(first.job_id)) == [
            AttemptRecord(1, 1, ANNE, NOON, after(1), Change.RETRY, "one"),
            AttemptRecord(2, 2, BERT, after(2), after(3), Change.SNOOZE),
            AttemptRecord(2, 3, ANNE, after(4), after(5), Change.COMPLETE),
        ]

    async def test_a_refused_settlement_leaves_no_attempt(self, store: Store) -> None:
        attempt = await running(store)
        await settle(store, Settlement(Hold(attempt.job_id, 7), Change.COMPLETE))
        assert list(await store.jobs.attempts(attempt.job_id)) == []

    async def test_the_last_hundred_attempts_are_kept(self, store: Store) -> None:
        job = await insert_one(store, spec())
        settled: list[Settlement] = []
        for _ in range(104):
            taken = await store.jobs.take(wanted(), ANNE, settled, NOON)
            settled = [Settlement(taken.attempts[0].hold, Change.GIVE_BACK)]
        await store.jobs.settle([Settlement(settled[0].hold, Change.COMPLETE)], NOON)
        fences = [attempt.fence for attempt in await store.jobs.attempts(job.id)]
        assert fences == list(range(5, 105))

    async def test_the_attempts_before_a_reopening_are_kept(self, store: Store) -> None:
        attempt = await running(store, JobSpec("send"))
        await settle(store, Settlement(attempt.hold, Change.FAIL, error="no"))
        await store.jobs.reopen([attempt.job_id], NOON)
        await finish(store, (await take_one(store)).hold)
        changes = [each.change for each in await store.jobs.attempts(attempt.job_id)]
        assert changes == [Change.FAIL, Change.COMPLETE]
