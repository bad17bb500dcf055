"""Cases: jobs that expire before they could start."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from drumbeat.model.errors import NaiveDatetime
from drumbeat.model.ids import JobId
from drumbeat.model.jobs.expiry import EXPIRED
from drumbeat.model.jobs.job import (
    Attempt,
    Change,
    Duplicate,
    ExpiredJobs,
    JobFilter,
    JobSpec,
    Limit,
    Rate,
    Settled,
    Settlement,
    Status,
    Wanted,
)
from drumbeat.model.page import PageRequest
from drumbeat.ports.store import Store, Topic
from drumbeat.testing.conformance.builders import (
    ANNE,
    MINUTE,
    NOON,
    after,
    insert,
    insert_one,
    job_of,
    race,
    repeat_until,
    settle,
    spec,
    take,
    take_one,
    wanted,
)
from drumbeat.testing.conformance.traits import StoreTraits

SHORT = JobSpec("send", expires=MINUTE)
HOUR = timedelta(hours=1)


class ExpiryConformance:
    """No attempt of a job starts once it has expired; it ends as cancelled."""

    async def test_a_job_starts_until_it_expires(self, store: Store) -> None:
        job = await insert_one(store, SHORT)
        assert job.expires_at == after(60)
        attempt = await take_one(store, at=after(59.999_999))
        assert (attempt.job_id, attempt.spec) == (job.id, SHORT)

    async def test_an_expired_job_ends_instead_of_being_claimed(self, store: Store) -> None:
        short, long = await insert(store, SHORT, spec())
        attempts, expired = await take_all(store, seconds=60)
        assert ([each.job_id for each in attempts], expired) == ([long.id], [short.id])
        job = await job_of(store, short.id)
        assert (job.status, job.error) == (Status.CANCELLED, EXPIRED)
        assert (job.finished_at, job.attempt, job.fence) == (after(60), 0, 0)
        assert job.has_expired
        counts = {Status.RUNNING: 1, Status.CANCELLED: 1}
        assert await store.jobs.counts() == {"default": counts}

    async def test_a_claim_of_one_gets_past_jobs_that_have_expired(self, store: Store) -> None:
        jobs = await insert(store, *[SHORT] * 5, spec())
        one = wanted(limit=1)
        attempts, expired = await take_all(store, seconds=61, wish=one)
        assert [each.job_id for each in attempts] == [jobs[-1].id]
        assert expired == [job.id for job in jobs[:-1]]

    async def test_the_time_counts_from_when_the_job_is_due(self, store: Store) -> None:
        later = JobSpec("send", run_at=after(60), expires=MINUTE)
        delayed = JobSpec("send", delay=MINUTE, expires=MINUTE)
        jobs = await insert(store, later, delayed)
        assert [job.expires_at for job in jobs] == [after(120)] * 2
        await store.jobs.promote(10, after(60))
        assert await store.jobs.expire(10, after(119)) == ExpiredJobs((), after(120))
        assert len(await take(store, at=after(119))) == 2

    async def test_an_instant_may_be_given(self, store: Store) -> None:
        job = await insert_one(store, JobSpec("send", expires=after(5)))
        assert job.expires_at == after(5)
        assert await take_all(store, seconds=5) == ([], [job.id])

    async def test_an_instant_needs_a_zone(self, store: Store) -> None:
        with pytest.raises(NaiveDatetime, match="expires"):
            await insert_one(store, JobSpec("send", expires=NOON.replace(tzinfo=None)))

    async def test_waiting_jobs_end_without_a_worker(self, store: Store) -> None:
        queued = await insert_one(store, SHORT)
        pending = await insert_one(store, JobSpec("send", delay=HOUR, expires=after(30)))
        last = await insert_one(store, JobSpec("other", queue="elsewhere", expires=HOUR))
        assert await store.jobs.expire(10, after(29)) == ExpiredJobs((), after(30))
        assert await store.jobs.expire(1, after(60)) == ExpiredJobs((pending.id,), after(60))
        assert await store.jobs.expire(10, after(60)) == ExpiredJobs((queued.id,), last.expires_at)
        assert await store.jobs.expire(10, after(60)) == ExpiredJobs((), last.expires_at)
        assert (await job_of(store, pending.id)).has_expired
        assert await take(store, at=after(60)) == ()

    async def test_jobs_that_expire_at_once_end_in_batches(self, store: Store) -> None:
        jobs = await insert(store, *[SHORT] * 5)
        ended: list[JobId] = []
        for _ in range(3):
            ended += (await store.jobs.expire(2, after(60))).job_ids
        assert ended == [job.id for job in jobs]

    async def test_a_job_of_a_paused_queue_expires(self, store: Store) -> None:
        job = await insert_one(store, SHORT)
        await store.queues.pause("default", "closed")
        assert (await store.jobs.expire(10, after(60))).job_ids == (job.id,)

    async def test_a_running_job_does_not_expire(self, store: Store) -> None:
        job = await insert_one(store, SHORT)
        attempt = await take_one(store)
        assert await store.jobs.expire(10, after(60)) == ExpiredJobs()
        verdict = await settle(store, Settlement(attempt.hold, Change.COMPLETE), after(61))
        assert verdict == Settled(attempt.hold, Status.COMPLETED)
        assert await store.jobs.expire(10, after(62)) == ExpiredJobs()
        assert (await job_of(store, job.id)).status is Status.COMPLETED

    async def test_a_retry_that_could_not_start_fails_the_job_at_once(self, store: Store) -> None:
        await insert_one(store, SHORT)
        attempt = await take_one(store)
        retry = Settlement(attempt.hold, Change.RETRY, timedelta(seconds=30), error="no answer")
        assert await settle(store, retry, after(30)) == Settled(attempt.hold, Status.FAILED)
        job = await job_of(store, attempt.job_id)
        assert (job.status, job.error, job.finished_at) == (Status.FAILED, "no answer", after(30))
        (record,) = await store.jobs.attempts(attempt.job_id)
        assert (record.change, record.error) == (Change.FAIL, "no answer")

    async def test_a_retry_in_time_waits_and_may_still_expire(self, store: Store) -> None:
        await insert_one(store, SHORT)
        attempt = await take_one(store)
        retry = Settlement(attempt.hold, Change.RETRY, timedelta(seconds=29), error="no answer")
        assert await settle(store, retry, after(30)) == Settled(attempt.hold, Status.PENDING)
        assert await store.jobs.expire(10, after(59)) == ExpiredJobs((), after(60))
        assert (await store.jobs.expire(10, after(60))).job_ids == (attempt.job_id,)

    async def test_a_job_that_was_given_back_or_snoozed_expires(self, store: Store) -> None:
        for change in (Change.GIVE_BACK, Change.SNOOZE):
            job = await insert_one(store, SHORT)
            attempt = await take_one(store)
            await settle(store, Settlement(attempt.hold, change, delay=HOUR), after(50))
            assert (await store.jobs.expire(10, after(60))).job_ids == (job.id,)

    async def test_a_cancelled_job_does_not_expire(self, store: Store) -> None:
        job = await insert_one(store, SHORT)
        await store.jobs.cancel([job.id], "not needed", after(1))
        assert await store.jobs.expire(10, after(60)) == ExpiredJobs()
        assert (await job_of(store, job.id)).error == "not needed"

    async def test_an_expired_job_that_is_retried_does_not_expire_again(self, store: Store) -> None:
        full = replace(SHORT, timeout=2.5, dedupe_key="k")
        job = await insert_one(store, full)
        await store.jobs.expire(10, after(60))
        await store.jobs.reopen([job.id], after(70))
        assert await store.jobs.expire(10, after(9999)) == ExpiredJobs()
        (attempt,) = await take(store, at=after(9999))
        assert attempt.spec == replace(full, expires=None)
        assert (await job_of(store, job.id)).expires_at is None

    async def test_a_retried_job_without_other_options_has_none(self, store: Store) -> None:
        job = await insert_one(store, SHORT)
        await store.jobs.expire(10, after(60))
        await store.jobs.reopen([job.id], after(70))
        assert (await job_of(store, job.id)).spec == spec()

    async def test_expired_jobs_with_limits_make_room_for_the_next(self, store: Store) -> None:
        door = JobSpec("send", limits=(Limit("door", 1),), rate=Rate("bell", 9, MINUTE))
        first, second, third = await insert(
            store, replace(door, expires=MINUTE), replace(door, expires=MINUTE), door
        )
        attempts, expired = await take_all(store, seconds=60)
        assert [each.job_id for each in attempts] == [third.id]
        assert expired == [first.id, second.id]

    async def test_a_job_that_waits_for_its_limit_expires(self, store: Store) -> None:
        door = JobSpec("send", limits=(Limit("door", 1),))
        _, short, last = await insert(store, door, replace(door, expires=MINUTE), door)
        (attempt,) = await take(store)
        assert (await store.jobs.expire(10, after(60))).job_ids == (short.id,)
        await settle(store, Settlement(attempt.hold, Change.COMPLETE), after(61))
        attempts, _ = await take_all(store, seconds=61)
        assert [each.job_id for each in attempts] == [last.id]

    async def test_an_expired_job_guards_its_dedupe_key_as_any_finished_job(
        self, store: Store
    ) -> None:
        keyed = replace(SHORT, dedupe_key="k", dedupe_for=MINUTE)
        job = await insert_one(store, keyed)
        await store.jobs.expire(10, after(60))
        (verdict,) = await store.jobs.insert([keyed], after(61))
        assert isinstance(verdict, Duplicate)
        assert verdict.job.id == job.id
        await insert_one(store, keyed, at=after(120))

    async def test_expired_jobs_are_listed(self, store: Store) -> None:
        slow = replace(SHORT, queue="slow", tags=("red",), schedule="nightly")
        plain, special, gone, _ = await insert(store, SHORT, slow, spec(), spec())
        await store.jobs.cancel([gone.id], "not needed", after(1))
        await store.jobs.expire(10, after(60))

        async def found(wish: JobFilter) -> list[JobId]:
            return [job.id for job in (await store.jobs.list(wish, PageRequest())).items]

        wish = JobFilter(expired=True)
        assert await found(wish) == [special.id, plain.id]
        for narrow in (
            replace(wish, queue="slow"),
            replace(wish, task="send", tag="red"),
            replace(wish, schedule="nightly"),
            replace(wish, schedule="nightly", statuses=frozenset({Status.CANCELLED})),
        ):
            assert await found(narrow) == [special.id]
        for none in (
            replace(wish, statuses=frozenset({Status.COMPLETED, Status.QUEUED})),
            replace(wish, tag="blue"),
            replace(wish, created_from=after(1)),
        ):
            assert await found(none) == []
        first = await store.jobs.list(wish, PageRequest(size=1))
        rest = await store.jobs.list(wish, PageRequest(size=1, after=first.next))
        assert [job.id for job in (*first.items, *rest.items)] == [special.id, plain.id]
        assert rest.next is None

    async def test_an_expired_job_is_pruned_as_any_finished_job(self, store: Store) -> None:
        job = await insert_one(store, SHORT)
        await store.jobs.expire(10, after(60))
        assert await store.retention.prune_jobs(MINUTE, 10, after(120)) == 1
        assert list(await store.jobs.get([job.id])) == [None]
        assert await store.jobs.expire(10, after(9999)) == ExpiredJobs()

    async def test_a_hint_tells_of_a_job_that_expires_earlier(self, store: Store) -> None:
        heard = asyncio.Event()
        unsubscribe = store.subscribe(Topic.TIMES, heard.set)
        waiting = asyncio.create_task(heard.wait())
        lengths = iter(range(10**6, 1, -1))

        async def submit() -> None:
            length = timedelta(seconds=next(lengths))
            await store.jobs.insert([JobSpec("send", expires=length)])

        await repeat_until(waiting, submit)
        unsubscribe()

    async def test_of_claims_and_sweeps_at_once_one_ends_each_job(
        self, store: Store, traits: StoreTraits
    ) -> None:
        jobs = await insert(store, *[SHORT] * 30)
        async with traits.another() as other:

            async def end(number: int) -> list[JobId]:
                part = (store, other)[number % 2].jobs
                if number < 4:
                    return list((await part.expire(20, after(60))).job_ids)
                return list((await part.take(wanted(), ANNE, at=after(60))).expired)

            ended = [job_id for some in await race(end) for job_id in some]
        assert sorted(ended) == [job.id for job in jobs]


async def take_all(
    store: Store, seconds: float, wish: Wanted | None = None
) -> tuple[list[Attempt], list[JobId]]:
    """Claim again while jobs have expired: they may have taken the places of others."""
    attempts: list[Attempt] = []
    expired: list[JobId] = []
    while True:
        taken = await store.jobs.take(wish or wanted(), ANNE, at=after(seconds))
        attempts += taken.attempts
        expired += taken.expired
        if not taken.expired or len(attempts) >= (wish or wanted()).limit:
            return attempts, sorted(expired)
