"""Cases: two callers that change one row in different ways at the same time.

Either may come first, so each case plays many rounds, and checks that each caller was told what
happened. Simpler races, of many callers with the same change, are with the cases of their subject.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from drumbeat.model.errors import StaleEpoch
from drumbeat.model.fleet.lease import Epoch
from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import (
    Attempt,
    Change,
    Duplicate,
    Inserted,
    JobFilter,
    Settled,
    Settlement,
    Status,
    Superseded,
)
from drumbeat.model.page import PageRequest
from drumbeat.model.schedules.plan import Backfilled, Committed, Edit, Raced, Written
from drumbeat.ports.store import Store
from drumbeat.testing.conformance.builders import (
    ANNE,
    BERT,
    add,
    after,
    beat,
    edited,
    fire,
    job_of,
    lead,
    lease,
    plan,
    race,
    rows,
    schedule,
    settle,
    spec,
    take,
    wanted,
)
from drumbeat.testing.conformance.traits import StoreTraits

ROUNDS = 12


async def _held(store: Store) -> Attempt:
    """Claim a new job for a node without a heartbeat."""
    (verdict,) = await store.jobs.insert([spec()], after(0))
    (attempt,) = await take(store, wanted(limit=1))
    assert attempt.job_id == verdict.job.id
    return attempt


class RaceConformance:
    """Two callers at once, each with its own connection."""

    async def test_a_worker_and_the_reaper_do_not_both_end_an_attempt(
        self, store: Store, traits: StoreTraits
    ) -> None:
        async with traits.another() as other:
            for _ in range(ROUNDS):
                attempt = await _held(store)

                async def end(number: int, attempt: Attempt = attempt) -> list[object]:
                    if number == 0:
                        done = Settlement(attempt.hold, Change.COMPLETE)
                        return [*(await store.jobs.take(wanted(0), ANNE, [done])).verdicts]
                    lost = await other.jobs.lost(10, after(60))
                    again = [Settlement(each.hold, Change.RETRY, timedelta(1)) for each in lost]
                    return [*await other.jobs.reap(again, ANNE, after(60))]

                worker, reaper = await race(end, racers=2)
                ended = [isinstance(each, Settled) for each in (*worker, *reaper)]
                assert sum(ended) == 1, (worker, reaper)
                job = await job_of(store, attempt.job_id)
                assert job.status is (Status.COMPLETED if ended[0] else Status.PENDING)
                assert len(await store.jobs.attempts(attempt.job_id)) == 1

    async def test_a_heartbeat_saves_the_attempts_or_is_told_that_they_are_lost(
        self, store: Store, traits: StoreTraits
    ) -> None:
        async with traits.another() as other:
            for _ in range(ROUNDS):
                await store.nodes.leave(ANNE)
                attempt = await _held(store)

                async def act(number: int, attempt: Attempt = attempt) -> object:
                    if number == 0:
                        return (await store.nodes.beat(beat(holds=[attempt.hold]), after(60))).lost
                    lost = [Settlement(attempt.hold, Change.RETRY, timedelta(1))]
                    return (await other.jobs.reap(lost, ANNE, after(60)))[0]

                told, reaped = await race(act, racers=2)
                assert told == ((attempt.hold,) if isinstance(reaped, Settled) else ())

    async def test_a_cancellation_and_a_retry_at_once_end_the_job(
        self, store: Store, traits: StoreTraits
    ) -> None:
        async with traits.another() as other:
            for _ in range(ROUNDS):
                attempt = await _held(store)

                async def act(number: int, attempt: Attempt = attempt) -> object:
                    if number:
                        return (await other.jobs.cancel([attempt.job_id], "enough", after(1)))[0]
                    return await settle(store, Settlement(attempt.hold, Change.RETRY), after(1))

                settled, _ = await race(act, racers=2)
                assert not isinstance(settled, Superseded)
                assert (await job_of(store, attempt.job_id)).status is Status.CANCELLED

    async def test_a_new_leader_and_the_commit_of_the_last_one_come_one_after_the_other(
        self, store: Store, traits: StoreTraits
    ) -> None:
        async with traits.another() as other:
            for number in range(ROUNDS):
                name = f"schedule {number}"
                await add(store, schedule(name))
                epoch = await lead(store, token=2 * number + 1)

                async def act(
                    who: int, name: str = name, epoch: Epoch = epoch, token: int = 2 * number + 2
                ) -> object:
                    if who:
                        return await other.fence.claim(lease(token, holder=BERT))
                    try:
                        plans = [plan(schedule(name))]
                        return (await store.schedules.commit(plans, epoch, after(1)))[0]
                    except StaleEpoch as stale:
                        return stale

                first, claimed = await race(act, racers=2)
                assert isinstance(claimed, Epoch)
                assert isinstance(first, Committed | StaleEpoch)
                plans = [plan(schedule(name))]
                (second,) = await other.schedules.commit(plans, claimed, after(1))
                fired_first = isinstance(first, Committed)
                assert isinstance(second, Raced if fired_first else Committed), (first, second)
                (row,) = await rows(store, name)
                assert row.epoch == (epoch if fired_first else claimed).number

    async def test_a_tick_fires_once_among_a_leader_an_editor_and_a_backfill(
        self, store: Store, traits: StoreTraits
    ) -> None:
        epoch = await lead(store)
        async with traits.another() as other:
            for number in range(ROUNDS):
                name = f"schedule {number}"
                stored = schedule(name)
                await add(store, stored)

                async def act(who: int, name: str = name) -> object:
                    stored = schedule(name)
                    if who == 0:
                        plans = [plan(stored)]
                        return (await store.schedules.commit(plans, epoch, after(1)))[0]
                    if who == 1:
                        return (await other.schedules.put([Edit(stored, edited(stored))]))[0]
                    fires = [fire(name, after(0))]
                    return (await other.schedules.backfill(name, fires, after(1)))[0]

                committed, put, backfilled = await race(act, racers=3)
                assert isinstance(committed, Committed) != isinstance(put, Written)
                fired: list[JobId] = []
                if isinstance(committed, Committed):
                    fired += committed.jobs
                if isinstance(backfilled, Backfilled):
                    fired.append(backfilled.job_id)
                assert len(fired) == 1
                assert [row.job_id for row in await rows(store, name)] == fired
                jobs = await store.jobs.list(JobFilter(schedule=name), PageRequest())
                assert [job.id for job in jobs.items] == fired

    async def test_a_key_is_free_or_taken_while_its_job_ends(
        self, store: Store, traits: StoreTraits
    ) -> None:
        keyed = replace(spec(), dedupe_key="key", dedupe_for=timedelta(0))
        async with traits.another() as other:
            for start in range(0, 10 * ROUNDS, 10):
                now, later = after(start + 1), after(start + 2)
                await store.jobs.insert([keyed], after(start))
                (attempt,) = await take(store, at=now)

                async def act(
                    number: int, attempt: Attempt = attempt, now: datetime = now
                ) -> object:
                    if number:
                        return (await other.jobs.insert([keyed], now))[0]
                    return await settle(store, Settlement(attempt.hold, Change.COMPLETE), now)

                settled, inserted = await race(act, racers=2)
                assert isinstance(settled, Settled)
                assert isinstance(inserted, Inserted | Duplicate)
                if isinstance(inserted, Duplicate):
                    assert inserted.job.id == attempt.job_id
                    continue
                (again,) = await take(store, at=later)
                assert again.job_id == inserted.job.id != attempt.job_id
                await settle(store, Settlement(again.hold, Change.COMPLETE), later)
