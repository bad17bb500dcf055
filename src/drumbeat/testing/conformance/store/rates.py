"""Cases: rates, which bound the starts of jobs in a window."""

from __future__ import annotations

from datetime import timedelta

from drumbeat.model.jobs.job import Change, JobSpec, Limit, OnConflict, Rate, Settlement
from drumbeat.ports.store import Store
from drumbeat.testing.conformance.builders import (
    ANNE,
    BERT,
    NOON,
    after,
    finish,
    insert,
    insert_one,
    race,
    settle,
    spec,
    take,
    take_one,
    wanted,
)
from drumbeat.testing.conformance.traits import StoreTraits


class RateConformance:
    """At most `at_most` jobs start in any window of a rate's period; all may start at once."""

    async def test_the_number_starts_at_once_and_no_more_until_the_period_is_over(
        self, store: Store
    ) -> None:
        await insert(store, *[JobSpec("send", rate=Rate("bell", 2, timedelta(seconds=10)))] * 5)
        taken = await store.jobs.take(wanted(), ANNE, at=NOON)
        assert len(taken.attempts) == 2
        assert taken.try_at == after(10)
        for seconds in (4, 5, 9.999_999):
            taken = await store.jobs.take(wanted(), ANNE, at=after(seconds))
            assert (taken.attempts, taken.try_at) == ((), after(10))
        taken = await store.jobs.take(wanted(), ANNE, at=after(10))
        assert (len(taken.attempts), taken.try_at) == (2, after(20))
        assert len(await take(store, at=after(20))) == 1

    async def test_no_window_has_more_starts_than_the_rate_allows(self, store: Store) -> None:
        await insert(store, *[JobSpec("send", rate=Rate("bell", 4, timedelta(seconds=2)))] * 40)
        started: list[int] = []
        for tenth in range(80):
            started += [tenth] * len(await take(store, at=after(tenth / 10)))
        for begin in range(80):
            assert sum(begin <= tenth < begin + 20 for tenth in started) <= 4
        assert len(started) == 16  # as many as the rate allows in four periods

    async def test_a_start_counts_until_its_own_period_is_over(self, store: Store) -> None:
        await insert(store, *[JobSpec("send", rate=Rate("bell", 4, timedelta(seconds=2)))] * 9)
        assert len(await take(store, wanted(limit=1), at=NOON)) == 1
        assert len(await take(store, at=after(1.9))) == 3
        taken = await store.jobs.take(wanted(), ANNE, at=after(2))
        assert (len(taken.attempts), taken.try_at) == (1, after(3.9))
        assert await take(store, at=after(3.899_999)) == ()
        taken = await store.jobs.take(wanted(), ANNE, at=after(3.9))
        assert (len(taken.attempts), taken.try_at) == (3, after(4))

    async def test_a_large_number_is_kept_as_well(self, store: Store) -> None:
        rate = Rate("bell", 300, timedelta(seconds=10))
        await insert(store, *[JobSpec("send", rate=rate)] * 700)
        for seconds, limit, started in (
            *((0, 100, 100), (4, 100, 100), (8, 500, 100), (9, 500, 0)),
            *((10, 500, 100), (13, 500, 0), (14, 500, 100), (19, 500, 100), (20, 500, 100)),
        ):
            assert len(await take(store, wanted(limit=limit), at=after(seconds))) == started

    async def test_starts_at_many_instants_are_late_by_little_and_never_early(
        self, store: Store
    ) -> None:
        rate = Rate("bell", 150, timedelta(seconds=300))
        await insert(store, *[JobSpec("send", rate=rate)] * 160)
        for second in range(150):
            assert len(await take(store, wanted(limit=1), at=after(second))) == 1
        taken = await store.jobs.take(wanted(), ANNE, at=after(299))
        assert taken.attempts == ()
        assert taken.try_at is not None
        assert after(300) <= taken.try_at <= after(300 + 300 / 64)
        assert len(await take(store, at=taken.try_at)) >= 1

    async def test_rates_with_different_keys_are_independent(self, store: Store) -> None:
        ten = timedelta(seconds=10)
        bell, gong = (JobSpec("send", rate=Rate(key, 1, ten)) for key in ("bell", "gong"))
        await insert(store, bell, bell)
        assert len(await take(store, at=NOON)) == 1
        await insert(store, gong, gong)
        taken = await store.jobs.take(wanted(), ANNE, at=after(4))
        assert (len(taken.attempts), taken.try_at) == (1, after(10))
        assert len(await take(store, at=after(10))) == 1
        assert len(await take(store, at=after(14))) == 1

    async def test_each_job_is_judged_by_its_own_rate(self, store: Store) -> None:
        await insert(store, *[JobSpec("send", rate=Rate("bell", 3, timedelta(seconds=5)))] * 2)
        assert len(await take(store, at=NOON)) == 2
        strict, lax = await insert(
            store,
            JobSpec("send", rate=Rate("bell", 1, timedelta(seconds=60))),
            JobSpec("send", rate=Rate("bell", 3, timedelta(seconds=5))),
        )
        assert [attempt.job_id for attempt in await take(store, at=after(1))] == [lax.id]
        assert await take(store, at=after(60.999)) == ()
        assert [attempt.job_id for attempt in await take(store, at=after(61))] == [strict.id]

    async def test_a_rate_holds_against_many_workers_at_once(
        self, store: Store, traits: StoreTraits
    ) -> None:
        await insert(store, *[JobSpec("send", rate=Rate("bell", 3, timedelta(seconds=10)))] * 20)
        async with traits.another() as other:
            taken = await race(lambda number: take((store, other)[number % 2], wanted(limit=2)))
            assert sum(len(attempts) for attempts in taken) == 3
            assert await take(other, at=after(9)) == ()
            assert len(await take(other, at=after(10))) == 3

    async def test_a_job_that_is_given_back_has_started_all_the_same(self, store: Store) -> None:
        await insert(store, *[JobSpec("send", rate=Rate("bell", 1, timedelta(seconds=10)))] * 2)
        first = await take_one(store)
        await settle(store, Settlement(first.hold, Change.GIVE_BACK))
        assert await take(store, at=after(9)) == ()
        assert (await take_one(store, at=after(10))).job_id == first.job_id

    async def test_forgetting_old_jobs_forgets_no_start_that_counts(self, store: Store) -> None:
        await insert(store, *[JobSpec("send", rate=Rate("bell", 1, timedelta(seconds=10)))] * 3)
        await finish(store, (await take_one(store)).hold)
        await store.retention.prune_jobs(timedelta(0), 100, after(9))
        assert await take(store, at=after(9)) == ()
        await store.retention.prune_jobs(timedelta(0), 100, after(10))
        assert len(await take(store, at=after(10))) == 1

    async def test_a_clock_that_goes_back_holds_a_job_up_for_one_period(self, store: Store) -> None:
        await insert(store, *[JobSpec("send", rate=Rate("bell", 2, timedelta(seconds=10)))] * 9)
        assert len(await take(store, at=after(3600))) == 2
        taken = await store.jobs.take(wanted(), ANNE, at=NOON)
        assert (taken.attempts, taken.try_at) == ((), after(10))
        assert await take(store, at=after(9)) == ()
        assert len(await take(store, at=after(10))) == 2

    async def test_an_idle_rate_allows_its_number_again_and_no_more(self, store: Store) -> None:
        await insert(store, *[JobSpec("send", rate=Rate("bell", 2, timedelta(seconds=10)))] * 9)
        assert len(await take(store, at=NOON)) == 2
        assert len(await take(store, at=after(3600))) == 2
        assert len(await take(store, at=after(3600))) == 0

    async def test_a_rate_counts_over_all_tasks_and_queues(self, store: Store) -> None:
        rate = Rate("bell", 1, timedelta(seconds=10))
        await insert(store, JobSpec("a", queue="x", rate=rate), JobSpec("b", queue="y", rate=rate))
        assert len(await take(store, wanted(queues=("x",), tasks=("a",)))) == 1
        taken = await store.jobs.take(wanted(queues=("y",), tasks=("b",)), BERT, at=NOON)
        assert (taken.attempts, taken.try_at) == ((), after(10))

    async def test_ending_early_does_not_give_the_rate_back(self, store: Store) -> None:
        await insert(store, *[JobSpec("send", rate=Rate("bell", 1, timedelta(seconds=10)))] * 2)
        await finish(store, (await take_one(store)).hold)
        assert await take(store, at=after(9)) == ()
        assert len(await take(store, at=after(10))) == 1

    async def test_a_job_that_waits_for_its_rate_blocks_no_other(self, store: Store) -> None:
        bell = JobSpec("send", priority=9, rate=Rate("bell", 1, timedelta(seconds=10)))
        await insert(store, bell, bell, bell)
        free = await insert_one(store, spec())
        taken = await store.jobs.take(wanted(), ANNE, at=NOON)
        assert [attempt.job_id for attempt in taken.attempts][1:] == [free.id]
        assert taken.try_at == after(10)

    async def test_a_job_over_its_rate_waits_even_if_it_gives_way(self, store: Store) -> None:
        bell = JobSpec(
            "send",
            limits=(Limit("door", 1, OnConflict.CANCEL),),
            rate=Rate("bell", 1, timedelta(seconds=10)),
        )
        await insert(store, bell, bell)
        taken = await store.jobs.take(wanted(), ANNE, at=NOON)
        assert (len(taken.attempts), taken.cancelled) == (1, ())
        await finish(store, taken.attempts[0].hold, after(5))
        assert len(await take(store, at=after(10))) == 1

    async def test_a_job_held_up_by_its_limit_does_not_spend_its_rate(self, store: Store) -> None:
        rate = Rate("bell", 1, timedelta(seconds=10))
        await insert(store, JobSpec("send", limits=(Limit("door", 1),)))
        await take(store)
        await insert(store, JobSpec("send", limits=(Limit("door", 1),), rate=rate))
        assert await take(store) == ()
        free = await insert_one(store, JobSpec("send", rate=rate))
        assert [attempt.job_id for attempt in await take(store)] == [free.id]

    async def test_a_claim_that_no_rate_blocks_has_no_time_to_retry(self, store: Store) -> None:
        await insert(store, JobSpec("send", rate=Rate("bell", 1, timedelta(seconds=10))))
        taken = await store.jobs.take(wanted(), ANNE, at=NOON)
        assert (len(taken.attempts), taken.try_at) == (1, None)

    async def test_nobody_waits_for_a_rate_whose_jobs_were_all_cancelled(
        self, store: Store
    ) -> None:
        bell = JobSpec("send", rate=Rate("bell", 1, timedelta(seconds=10)))
        _, second = await insert(store, bell, bell)
        first = await take_one(store)
        await finish(store, first.hold, after(1))
        assert (await store.jobs.take(wanted(), ANNE, at=after(2))).try_at == after(10)
        await store.jobs.cancel([second.id])
        third = await insert_one(store, bell)
        await store.jobs.cancel([third.id])
        await store.jobs.take(wanted(), ANNE, at=after(3))
        for seconds in (11, 12):  # an instant in the past would let workers ask without a pause
            taken = await store.jobs.take(wanted(), ANNE, at=after(seconds))
            assert (taken.attempts, taken.try_at) == ((), None)

    async def test_nobody_waits_for_the_rate_of_a_paused_queue(self, store: Store) -> None:
        bell = JobSpec("send", rate=Rate("bell", 1, timedelta(seconds=10)))
        await insert(store, bell, bell)
        assert (await store.jobs.take(wanted(), ANNE, at=NOON)).try_at == after(10)
        await store.queues.pause(bell.queue)
        await insert(store, JobSpec("send", queue="other"))
        both = wanted(queues=(bell.queue, "other"))
        taken = await store.jobs.take(both, ANNE, at=after(1))
        assert (len(taken.attempts), taken.try_at) == (1, None)
        await store.queues.resume(bell.queue)
        assert (await store.jobs.take(both, ANNE, at=after(2))).try_at == after(10)
        assert len(await take(store, at=after(10))) == 1
