"""MongoDB: at each write of a call that changes jobs, another call comes between.

Each case is played once for every write of the first call, with the whole second call right before
it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest

from drumbeat.model.jobs.job import (
    Change,
    Duplicate,
    Inserted,
    JobFilter,
    JobSpec,
    Limit,
    OnConflict,
    Rate,
    Reopened,
    Settled,
    Settlement,
    Status,
)
from drumbeat.model.page import PageRequest
from drumbeat.testing.conformance.builders import (
    ANNE,
    BERT,
    NOON,
    after,
    beat,
    insert,
    insert_one,
    job_of,
    running,
    settle,
    spec,
    take,
    wanted,
)
from servers import GivenMongo, Mongo

from .mongo_two import Two, two_on


@pytest.fixture
async def two(mongo: Mongo | GivenMongo) -> AsyncIterator[Two]:
    async with two_on(mongo.address) as two:
        yield two


async def test_nothing_is_claimed_once_a_pause_has_returned(two: Two) -> None:
    limited = JobSpec("send", limits=(Limit("door", 1),), rate=Rate("bell", 9, timedelta(1)))
    giving_way = JobSpec("send", limits=(Limit("gate", 1, OnConflict.CANCEL),))
    seen = 0

    async def prepare() -> None:
        await insert_one(two.other, replace(giving_way, queue="other"))
        await take(two.other, wanted(queues=("other",)))
        await insert(two.other, limited, spec(), spec(), giving_way)

    async def pause() -> int:
        await two.other.queues.pause("default", at=NOON)
        counts = (await two.other.jobs.counts())["default"]
        return counts[Status.QUEUED]

    async def claim() -> int:
        taken = await two.one.jobs.take(wanted(), ANNE, at=NOON)
        return len(taken.attempts) + len(taken.cancelled)

    async for claimed, left in two.at_each_write(prepare, claim, pause):
        assert claimed + left == 4, "a job was claimed after the pause"
        counts = await two.other.jobs.counts()
        assert counts["default"].get(Status.QUEUED, 0) == left
        await two.other.queues.resume("default")
        seen += 1
    assert seen >= 6


async def test_a_heartbeat_keeps_the_attempts_or_is_told_that_they_are_lost(two: Two) -> None:
    seen = 0

    async def prepare() -> None:
        await two.other.nodes.beat(beat(lifetime=5), NOON)
        await running(two.other)

    async def reap() -> list[bool]:
        attempts = await two.one.jobs.held(ANNE)
        lost = [Settlement(each.hold, Change.RETRY, timedelta(1)) for each in attempts]
        verdicts = await two.one.jobs.reap(lost, ANNE, after(60))
        return [isinstance(each, Settled) for each in verdicts]

    async def live() -> list[bool]:
        holds = [each.hold for each in await two.other.jobs.held(ANNE)]
        pulse = await two.other.nodes.beat(beat(holds=holds), after(60))
        return [each in pulse.lost for each in holds]

    async for reaped, told in two.at_each_write(prepare, reap, live):
        assert reaped == told
        seen += 1
    assert seen == 2


async def test_a_reaper_between_the_writes_of_a_heartbeat_is_noticed_by_it(two: Two) -> None:
    async def prepare() -> None:
        await two.other.nodes.beat(beat(lifetime=5), NOON)
        await running(two.other)

    async def live() -> list[bool]:
        holds = [each.hold for each in await two.one.jobs.held(ANNE)]
        pulse = await two.one.nodes.beat(beat(holds=holds), after(60))
        return [each in pulse.lost for each in holds]

    async def reap() -> list[bool]:
        attempts = await two.other.jobs.held(ANNE)
        lost = [Settlement(each.hold, Change.RETRY, timedelta(1)) for each in attempts]
        verdicts = await two.other.jobs.reap(lost, ANNE, after(60))
        return [isinstance(each, Settled) for each in verdicts]

    async for told, reaped in two.at_each_write(prepare, live, reap):
        assert told == reaped


async def test_one_dedupe_key_creates_one_job_whoever_comes_between(two: Two) -> None:
    keyed = [spec(), JobSpec("send", dedupe_key="a"), JobSpec("send", dedupe_key="b")]

    async def prepare() -> None:
        await running(two.other, JobSpec("send", dedupe_key="a", dedupe_for=timedelta(0)))
        (held,) = await two.other.jobs.held(ANNE)
        await settle(two.other, Settlement(held.hold, Change.COMPLETE))

    async def one() -> list[type]:
        return [type(each) for each in await two.one.jobs.insert(keyed, NOON)]

    async def other() -> list[type]:
        return [type(each) for each in await two.other.jobs.insert(keyed[::-1], NOON)][::-1]

    async for first, second in two.at_each_write(prepare, one, other):
        assert first[0] == second[0] == Inserted
        for mine, theirs in zip(first[1:], second[1:], strict=True):
            assert {mine, theirs} == {Inserted, Duplicate}


async def test_limits_and_rates_hold_whoever_comes_between(two: Two) -> None:
    gate, door = Limit("gate", 2), Limit("door", 1)
    bell = Rate("bell", 2, timedelta(seconds=9))
    jobs = [
        JobSpec("send", limits=(gate, door), rate=bell),
        JobSpec("send", limits=(door, gate)),
        JobSpec("send", limits=(gate,)),
        JobSpec("send", rate=bell),
    ]

    async def prepare() -> None:
        await insert_one(two.other, jobs[-1])
        for attempt in await take(two.other):  # one of the two starts is spent
            await settle(two.other, Settlement(attempt.hold, Change.COMPLETE))
        await insert(two.other, *jobs)

    async def one() -> int:
        return len(await take(two.one))

    async def other() -> int:
        return len(await take(two.other, by=BERT))

    async for _ in two.at_each_write(prepare, one, other):
        held = [*await two.one.jobs.held(ANNE), *await two.one.jobs.held(BERT)]
        limits = [limit.key for each in held for limit in each.spec.limits]
        assert limits.count("door") <= 1
        assert limits.count("gate") <= 2
        assert sum(each.spec.rate is not None for each in held) <= 1
        for each in held:
            await settle(two.other, Settlement(each.hold, Change.COMPLETE), after(1))
        for second in (20, 40, 60):
            for attempt in await take(two.other, at=after(second)):
                await settle(two.other, Settlement(attempt.hold, Change.COMPLETE), after(second))
        assert await two.other.jobs.counts() == {"default": {Status.COMPLETED: 5}}


async def test_a_claim_that_slept_too_long_leaves_the_place_of_the_next_one(two: Two) -> None:
    """It has reserved the job, and gets on once the reservation is over and another claim runs."""
    limited = JobSpec("send", limits=(Limit("door", 1),))
    seen: list[int] = []

    async def prepare() -> None:
        await insert_one(two.other, limited)

    async def one() -> int:
        return len(await take(two.one))

    async def other() -> int:
        taken = await take(two.other, by=BERT, at=after(10))  # which may only repair the limit
        return len(taken or await take(two.other, by=BERT, at=after(10)))

    async for mine, theirs in two.at_each_write(prepare, one, other):
        assert (mine, theirs) == (0, 1)
        await insert_one(two.other, limited)
        assert await take(two.other, at=after(20)) == (), "a job more than the limit allows"
        for each in await two.other.jobs.held(BERT):
            await settle(two.other, Settlement(each.hold, Change.COMPLETE), after(21))
        assert len(await take(two.other, at=after(30))) == 1
        seen.append(theirs)
    assert len(seen) >= 3


async def test_a_job_that_is_reopened_while_it_is_pruned_is_kept_or_counted(two: Two) -> None:
    async def prepare() -> None:
        attempt = await running(two.other)
        await settle(two.other, Settlement(attempt.hold, Change.FAIL))

    async def prune() -> int:
        return await two.one.retention.prune_jobs(timedelta(hours=1), 10, after(3600))

    async def reopen() -> int:
        jobs = (await two.other.jobs.list(JobFilter(), PageRequest())).items
        verdicts = await two.other.jobs.reopen([job.id for job in jobs], after(3600))
        return sum(isinstance(each, Reopened) for each in verdicts)

    async for pruned, reopened in two.at_each_write(prepare, prune, reopen):
        assert pruned + reopened == 1
        (queue,) = (await two.other.queues.list(NOON)).queues
        assert queue.totals == ({Status.FAILED: 1} if pruned else {})


async def test_a_settlement_between_the_writes_of_a_cancellation_counts(two: Two) -> None:
    async def prepare() -> None:
        await running(two.other)

    async def cancel() -> str:
        (job,) = (await two.one.jobs.list(JobFilter(), PageRequest())).items
        (verdict,) = await two.one.jobs.cancel([job.id], "enough", after(1))
        return type(verdict).__name__

    async def finish() -> Status:
        (attempt,) = await two.other.jobs.held(ANNE)
        verdict = await settle(two.other, Settlement(attempt.hold, Change.RETRY), after(1))
        assert isinstance(verdict, Settled)
        return verdict.status

    async for cancelled, _ in two.at_each_write(prepare, cancel, finish):
        assert cancelled == "Cancelled"
        (job,) = (await two.other.jobs.list(JobFilter(), PageRequest())).items
        assert job.status is Status.CANCELLED


async def test_a_cancellation_between_the_writes_of_a_claim_is_not_missed(two: Two) -> None:
    limited = JobSpec("send", limits=(Limit("door", 1),))

    async def prepare() -> None:
        await insert_one(two.other, limited)

    async def claim() -> int:
        return len(await take(two.one))

    async def cancel() -> str:
        (job,) = (await two.other.jobs.list(JobFilter(), PageRequest())).items
        (verdict,) = await two.other.jobs.cancel([job.id], "enough", after(1))
        return type(verdict).__name__

    async for claimed, cancelled in two.at_each_write(prepare, claim, cancel):
        assert (claimed, cancelled) in ((0, "Cancelled"), (1, "CancelRequested"))
        await insert_one(two.other, limited)
        attempts = await take(two.other, by=BERT, at=after(10))
        assert len(attempts) == 1 - claimed
        for attempt in attempts:
            assert (await job_of(two.other, attempt.job_id)).node == BERT


async def test_two_claims_never_get_one_job(two: Two) -> None:
    async def prepare() -> None:
        await insert(two.other, *[spec()] * 3)

    async def one() -> list[int]:
        return [each.job_id for each in await take(two.one)]

    async def other() -> list[int]:
        return [each.job_id for each in await take(two.other, wanted(1), by=BERT)]

    async for mine, theirs in two.at_each_write(prepare, one, other):
        assert len({*mine, *theirs}) == 3 == len(mine) + len(theirs)
