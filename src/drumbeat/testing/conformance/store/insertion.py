"""Cases: creating jobs, and queueing them when they are due."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from drumbeat.model.jobs.job import (
    ARGUMENTS_LIMIT,
    Change,
    Duplicate,
    Inserted,
    Job,
    JobSpec,
    Settlement,
    Status,
    Ticket,
)
from drumbeat.ports.store import Store
from drumbeat.testing.conformance.builders import (
    ANNE,
    FULL_SPEC,
    NOON,
    after,
    finish,
    insert,
    insert_one,
    job_of,
    race,
    settle,
    spec,
    specs_by_field,
    take,
    take_one,
    wanted,
)
from drumbeat.testing.conformance.traits import StoreTraits

HOUR = timedelta(hours=1)
TRACE = str(FULL_SPEC.trace)


class InsertConformance:
    """An acknowledged job is in the store, with all fields as they were submitted."""

    async def test_a_job_without_a_time_is_queued(self, store: Store) -> None:
        job = await insert_one(store, spec())
        assert job == Job(job.id, spec(), Status.QUEUED, run_at=NOON, created_at=NOON)
        assert await job_of(store, job.id) == job

    async def test_a_job_whose_time_is_to_come_is_pending(self, store: Store) -> None:
        job = await insert_one(store, JobSpec("send", run_at=after(60)))
        assert (job.status, job.run_at) == (Status.PENDING, after(60))

    async def test_a_job_whose_time_is_now_or_past_is_queued(self, store: Store) -> None:
        now, past = await insert(
            store, JobSpec("send", run_at=NOON), JobSpec("send", run_at=after(-60))
        )
        assert (now.status, past.status) == (Status.QUEUED, Status.QUEUED)
        assert past.run_at == after(-60)

    async def test_a_delay_counts_from_the_insertion(self, store: Store) -> None:
        job = await insert_one(store, JobSpec("send", delay=timedelta(seconds=30)), at=after(5))
        assert (job.status, job.run_at) == (Status.PENDING, after(35))

    async def test_ids_rise(self, store: Store) -> None:
        first, second = await insert(store, spec(), spec())
        third = await insert_one(store, spec())
        assert first.id < second.id < third.id

    async def test_a_spec_comes_out_as_it_went_in(self, store: Store) -> None:
        job = await insert_one(store, FULL_SPEC)
        assert job.spec == FULL_SPEC
        assert (await job_of(store, job.id)).spec == FULL_SPEC

    async def test_each_field_of_a_spec_comes_out_as_it_went_in(self, store: Store) -> None:
        for field, asked in specs_by_field().items():
            job = await insert_one(store, asked)
            await store.jobs.promote(10, at=after(60))
            assert (await job_of(store, job.id)).spec == asked, field
            wish = wanted(tasks=(asked.task,), queues=(asked.queue,))
            (attempt,) = await take(store, wish, at=after(60))
            (held,) = await store.jobs.held(ANNE)
            assert job.spec == attempt.spec == held.spec == asked, field
            await finish(store, attempt.hold, at=after(60))

    async def test_each_job_of_a_batch_keeps_its_own_trace(self, store: Store) -> None:
        other = TRACE[:-4] + "2-00"
        specs = [spec(), JobSpec("send", trace=TRACE), JobSpec("send", trace=other), spec()]
        await insert(store, *specs)
        taken = await take(store)
        assert [attempt.spec.trace for attempt in taken] == [None, TRACE, other, None]

    async def test_the_largest_arguments_come_out_as_they_went_in(self, store: Store) -> None:
        text = '{"text":"' + "ü" * ((ARGUMENTS_LIMIT - 11) // 2) + '"}'
        large = JobSpec("send", text.encode())
        job = await insert_one(store, large)
        assert (await job_of(store, job.id)).spec.arguments == large.arguments
        assert (await take_one(store)).spec.arguments == large.arguments

    async def test_verdicts_come_in_the_order_of_the_specs(self, store: Store) -> None:
        specs = [JobSpec(f"task {number}") for number in range(20)]
        verdicts = await store.jobs.insert(specs, NOON)
        assert [verdict.job.spec for verdict in verdicts] == specs

    async def test_inserting_nothing_does_nothing(self, store: Store) -> None:
        assert list(await store.jobs.insert([], NOON)) == []

    async def test_a_job_is_seen_through_every_handle(
        self, store: Store, traits: StoreTraits
    ) -> None:
        job = await insert_one(store, spec())
        async with traits.another() as other:
            assert await job_of(other, job.id) == job


class DedupeConformance:
    """Only one job has a dedupe key, while it is unfinished and for some time after."""

    async def test_a_key_of_an_unfinished_job_gives_that_job(self, store: Store) -> None:
        keyed = JobSpec("send", dedupe_key="k")
        job = await insert_one(store, keyed)
        assert list(await store.jobs.insert([keyed], after(10**6))) == [Duplicate(job)]
        attempt = await take_one(store)
        (verdict,) = await store.jobs.insert([keyed], after(10**6))
        assert isinstance(verdict, Duplicate)
        assert verdict.job.status is Status.RUNNING
        assert verdict.job.id == attempt.job_id

    async def test_a_key_is_one_over_all_queues_of_a_task(self, store: Store) -> None:
        job = await insert_one(store, JobSpec("send", dedupe_key="k"))
        other = JobSpec("send", queue="slow", dedupe_key="k")
        assert list(await store.jobs.insert([other], NOON)) == [Duplicate(job)]

    async def test_the_keys_of_two_tasks_do_not_meet(self, store: Store) -> None:
        await insert(
            store, JobSpec("send", dedupe_key="k"), JobSpec("report", dedupe_key="k", priority=1)
        )

    async def test_the_tasks_of_a_named_scope_share_their_keys(self, store: Store) -> None:
        job = await insert_one(store, JobSpec("send", dedupe_key="k", dedupe_scope="orders"))
        other = JobSpec("report", dedupe_key="k", dedupe_scope="orders")
        assert list(await store.jobs.insert([other], NOON)) == [Duplicate(job)]
        apart = [replace(other, dedupe_scope=scope) for scope in (None, "report", "send", "", "o")]
        await insert(store, *apart, JobSpec("send", dedupe_key="k"))

    async def test_a_scope_and_a_key_are_told_apart_where_they_meet(self, store: Store) -> None:
        await insert(
            store,
            JobSpec("a", dedupe_key="b\x1fc"),
            JobSpec("a\x1fb", dedupe_key="c"),
            JobSpec("a", dedupe_scope="a", dedupe_key="bc"),
            JobSpec("a", dedupe_scope="ab", dedupe_key="c"),
        )

    async def test_other_keys_and_none_are_free(self, store: Store) -> None:
        await insert(store, JobSpec("send", dedupe_key="k"))
        await insert(store, JobSpec("send", dedupe_key="l"), spec(), spec())

    async def test_the_second_of_two_equal_keys_in_one_batch_creates_nothing(
        self, store: Store
    ) -> None:
        keyed = JobSpec("send", dedupe_key="k")
        first, second, third = await store.jobs.insert([keyed, spec(), keyed], NOON)
        assert isinstance(first, Inserted)
        assert isinstance(second, Inserted)
        assert third == Duplicate(first.job)
        assert len(await take(store)) == 2

    async def test_a_key_stands_for_a_time_after_the_end(self, store: Store) -> None:
        keyed = JobSpec("send", dedupe_key="k", dedupe_for=HOUR)
        job = await insert_one(store, keyed)
        await finish(store, (await take_one(store)).hold, after(60))
        (verdict,) = await store.jobs.insert([keyed], after(60 + 3599))
        assert isinstance(verdict, Duplicate)
        assert (verdict.job.id, verdict.job.status) == (job.id, Status.COMPLETED)
        (verdict,) = await store.jobs.insert([keyed], after(60 + 3600))
        assert isinstance(verdict, Inserted)

    async def test_the_time_of_the_job_that_has_the_key_counts(self, store: Store) -> None:
        keyed = JobSpec("send", dedupe_key="k", dedupe_for=HOUR)
        await insert_one(store, keyed)
        await finish(store, (await take_one(store)).hold)
        eager = replace(keyed, dedupe_for=timedelta(0))
        assert isinstance((await store.jobs.insert([eager], after(60)))[0], Duplicate)

    async def test_a_key_without_time_is_free_at_the_end(self, store: Store) -> None:
        keyed = JobSpec("send", dedupe_key="k", dedupe_for=timedelta(0))
        await insert_one(store, keyed)
        await finish(store, (await take_one(store)).hold)
        await insert_one(store, keyed)

    async def test_a_cancelled_job_keeps_its_key_for_its_time(self, store: Store) -> None:
        keyed = JobSpec("send", dedupe_key="k", dedupe_for=HOUR)
        job = await insert_one(store, keyed)
        await store.jobs.cancel([job.id], at=NOON)
        assert isinstance((await store.jobs.insert([keyed], after(60)))[0], Duplicate)
        assert isinstance((await store.jobs.insert([keyed], after(3600)))[0], Inserted)

    async def test_a_reopened_job_has_its_key_again(self, store: Store) -> None:
        keyed = JobSpec("send", dedupe_key="k", dedupe_for=timedelta(0))
        job = await insert_one(store, keyed)
        await settle(store, Settlement((await take_one(store)).hold, Change.FAIL))
        await store.jobs.reopen([job.id], NOON)
        (verdict,) = await store.jobs.insert([keyed], after(5))
        assert isinstance(verdict, Duplicate)
        assert verdict.job.id == job.id

    async def test_one_key_inserted_at_once_by_many_creates_one_job(
        self, store: Store, traits: StoreTraits
    ) -> None:
        keyed = JobSpec("send", dedupe_key="k")
        async with traits.another() as other:
            verdicts = await race(
                lambda number: (store, other)[number % 2].jobs.insert([keyed], NOON)
            )
        created = [verdict for (verdict,) in verdicts if isinstance(verdict, Inserted)]
        assert len(created) == 1
        assert {verdict.job.id for (verdict,) in verdicts} == {created[0].job.id}
        assert len(await take(store)) == 1


class PromoteConformance:
    """Pending jobs are queued when they are due."""

    async def test_jobs_are_promoted_when_their_time_has_come(self, store: Store) -> None:
        job = await insert_one(store, JobSpec("send", run_at=after(60)))
        early = await store.jobs.promote(10, after(59))
        assert (early.tickets, early.next_at) == ((), after(60))
        assert await take(store, at=after(59)) == ()
        promoted = await store.jobs.promote(10, after(60))
        assert promoted.tickets == (Ticket(job.id, "default"),)
        assert promoted.next_at is None
        assert (await job_of(store, job.id)).status is Status.QUEUED
        assert [attempt.job_id for attempt in await take(store, at=after(60))] == [job.id]

    async def test_the_earliest_are_promoted_first(self, store: Store) -> None:
        late, early, later = await insert(
            store,
            JobSpec("send", run_at=after(30), priority=9),
            JobSpec("send", run_at=after(10)),
            JobSpec("send", run_at=after(40)),
        )
        promoted = await store.jobs.promote(2, after(60))
        assert [ticket.job_id for ticket in promoted.tickets] == [early.id, late.id]
        assert promoted.next_at == after(40)
        assert (await job_of(store, later.id)).status is Status.PENDING

    async def test_a_pending_job_is_not_claimed_before_it_is_promoted(self, store: Store) -> None:
        await insert_one(store, JobSpec("send", run_at=after(60)))
        assert await take(store, at=after(59)) == ()

    async def test_a_cancelled_job_is_not_promoted(self, store: Store) -> None:
        job = await insert_one(store, JobSpec("send", run_at=after(60)))
        await store.jobs.cancel([job.id], at=NOON)
        promoted = await store.jobs.promote(10, after(60))
        assert (promoted.tickets, promoted.next_at) == ((), None)

    async def test_a_ticket_names_its_queue_and_its_priority(self, store: Store) -> None:
        job = await insert_one(store, JobSpec("send", queue="mail", priority=90, run_at=after(1)))
        assert (await store.jobs.promote(10, after(1))).tickets == (Ticket(job.id, "mail", 90),)

    async def test_each_job_is_promoted_once(self, store: Store, traits: StoreTraits) -> None:
        await insert(store, *[JobSpec("send", run_at=after(1))] * 20)
        async with traits.another() as other:
            answers = await race(
                lambda number: (store, other)[number % 2].jobs.promote(5, after(2))
            )
        promoted = [ticket.job_id for answer in answers for ticket in answer.tickets]
        assert len(promoted) == len(set(promoted)) == 20


class StaleConformance:
    """Tickets of jobs that have been queued for long are published again."""

    async def test_only_jobs_that_have_been_queued_for_so_long_are_stale(
        self, store: Store
    ) -> None:
        old = await insert_one(store, spec())
        await insert_one(store, spec(), at=after(20))
        assert (await store.jobs.stale(timedelta(seconds=30), 10, after(29))).tickets == ()
        stale = await store.jobs.stale(timedelta(seconds=30), 10, after(30))
        assert stale.tickets == (Ticket(old.id, "default"),)

    async def test_the_longest_queued_come_first_up_to_the_limit(self, store: Store) -> None:
        first = await insert_one(store, spec())
        second = await insert_one(store, replace(spec(), priority=9), at=after(1))
        await insert_one(store, spec(), at=after(2))
        stale = await store.jobs.stale(timedelta(seconds=30), 2, after(60))
        assert [ticket.job_id for ticket in stale.tickets] == [first.id, second.id]

    async def test_a_ticket_names_the_queue_and_the_priority_again(self, store: Store) -> None:
        job = await insert_one(store, replace(spec(), queue="mail", priority=90))
        stale = await store.jobs.stale(timedelta(seconds=30), 10, after(60))
        assert stale.tickets == (Ticket(job.id, "mail", 90),)

    async def test_a_job_counts_from_when_it_was_queued_not_created(self, store: Store) -> None:
        await insert_one(store, JobSpec("send", run_at=after(100)))
        await store.jobs.promote(10, after(100))
        assert (await store.jobs.stale(timedelta(seconds=30), 10, after(110))).tickets == ()
        assert len((await store.jobs.stale(timedelta(seconds=30), 10, after(130))).tickets) == 1

    async def test_jobs_that_are_not_queued_are_never_stale(self, store: Store) -> None:
        await insert(store, spec())
        await take(store)
        cancelled, _ = await insert(store, spec(), JobSpec("send", run_at=after(10**6)))
        await store.jobs.cancel([cancelled.id], at=NOON)
        assert (await store.jobs.stale(timedelta(0), 10, after(60))).tickets == ()
