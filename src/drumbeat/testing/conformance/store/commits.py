"""Cases: committing plans, which makes each tick fire exactly once."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from drumbeat.model.errors import StaleEpoch
from drumbeat.model.fleet.lease import Epoch
from drumbeat.model.jobs.job import Change, JobSpec, Settlement, Status
from drumbeat.model.schedules.plan import (
    Committed,
    Edit,
    Fire,
    Outcome,
    Raced,
    Skip,
    SkipReason,
    TickRecord,
    Written,
)
from drumbeat.ports.store import Store
from drumbeat.testing.conformance.builders import (
    ANNE,
    MINUTE,
    NOON,
    add,
    after,
    all_jobs,
    commit,
    fire,
    found,
    insert_one,
    job_of,
    lead,
    plan,
    rows,
    schedule,
    settle,
    spec,
    specs_by_field,
    take_one,
)


class CommitConformance:
    """A plan is written completely: jobs, ledger rows and cursor together."""

    async def test_a_tick_that_fires_has_its_job_its_row_and_its_cursor(self, store: Store) -> None:
        await add(store, schedule())
        verdict = await commit(store, plan(schedule()), await lead(store))
        assert isinstance(verdict, Committed)
        (job_id,) = verdict.jobs
        job = await job_of(store, job_id)
        assert (job.status, job.created_at) == (Status.QUEUED, after(1))
        assert job.spec == fire("nightly", NOON).job
        stored = await found(store)
        assert (stored.cursor, stored.next_tick) == (NOON, NOON + MINUTE)
        assert (stored.runs, stored.last_job) == (1, job_id)
        assert list(await rows(store)) == [
            TickRecord(
                "nightly",
                NOON,
                Outcome.FIRED,
                recorded_at=after(1),
                lateness=timedelta(seconds=1),
                through=NOON,
                job_id=job_id,
                leader=ANNE,
                epoch=1,
            )
        ]

    async def test_a_plan_for_an_instant_to_come_is_refused_until_then(self, store: Store) -> None:
        await add(store, schedule())
        epoch = await lead(store)
        ahead = plan(schedule())
        early = await store.schedules.commit([ahead], epoch, after(-0.001))
        assert list(early) == [Raced("nightly")]
        assert not await rows(store)
        assert await all_jobs(store) == 0
        assert await found(store) == schedule()
        (verdict,) = await store.schedules.commit([ahead], epoch, NOON)
        assert isinstance(verdict, Committed)

    async def test_firing_leaves_the_definition_and_its_version_alone(self, store: Store) -> None:
        await add(store, schedule())
        await commit(store, plan(schedule()), await lead(store))
        stored = await found(store)
        assert (stored.version, stored.updated_at) == (1, schedule().updated_at)
        assert stored.schedule == schedule().schedule

    async def test_a_new_definition_may_go_on_from_a_cursor_that_is_behind(
        self, store: Store
    ) -> None:
        """A change by code takes effect from the cursor: a due tick fires once."""
        await add(store, schedule())
        changed = replace(
            schedule(),
            schedule=replace(schedule().schedule, job=JobSpec("other")),
            version=2,
            updated_at=after(30),
        )
        edit = Edit(schedule(), changed)
        assert list(await store.schedules.put([edit], at=after(30))) == [Written("nightly")]
        (due,) = (await store.schedules.due(10, at=after(30))).schedules
        assert due.stored == changed
        epoch = await lead(store)
        assert isinstance(await commit(store, plan(schedule()), epoch), Raced)
        assert isinstance(await commit(store, plan(changed), epoch), Committed)
        assert [row.tick_at for row in await rows(store)] == [NOON]

    async def test_a_job_whose_time_is_to_come_waits_for_it(self, store: Store) -> None:
        await add(store, schedule())
        late = Fire(NOON, JobSpec("send", run_at=after(5), schedule="nightly", tick_at=NOON))
        verdict = await commit(store, replace(plan(schedule()), fires=(late,)), await lead(store))
        assert isinstance(verdict, Committed)
        job = await job_of(store, verdict.jobs[0])
        assert (job.status, job.run_at) == (Status.PENDING, after(5))

    async def test_a_fired_job_keeps_every_field_of_the_plan(self, store: Store) -> None:
        for number, (field, asked) in enumerate(specs_by_field().items()):
            due = schedule(f"schedule {number}")
            await add(store, due)
            planned = replace(plan(due), fires=(Fire(NOON, asked),))
            verdict = await commit(store, planned, await lead(store, token=number + 1))
            assert isinstance(verdict, Committed)
            assert (await job_of(store, verdict.jobs[0])).spec == asked, field

    async def test_several_ticks_fire_in_their_order(self, store: Store) -> None:
        await add(store, schedule())
        fires = tuple(fire("nightly", after(60 * number)) for number in range(3))
        planned = replace(plan(schedule()), fires=fires, cursor=after(120), next_tick=after(180))
        verdict = await commit(store, planned, await lead(store))
        assert isinstance(verdict, Committed)
        ticks = [(await job_of(store, job_id)).spec.tick_at for job_id in verdict.jobs]
        assert ticks == [NOON, after(60), after(120)]
        stored = await found(store)
        assert (stored.runs, stored.last_job) == (3, verdict.jobs[-1])

    async def test_skipped_ticks_are_recorded_and_create_nothing(self, store: Store) -> None:
        await add(store, schedule())
        skip = Skip(NOON, after(60), 2, SkipReason.COALESCED)
        planned = replace(plan(schedule()), fires=(), skips=(skip,))
        assert await commit(store, planned, await lead(store)) == Committed("nightly", ())
        (row,) = await rows(store)
        assert (row.outcome, row.reason) == (Outcome.SKIPPED, SkipReason.COALESCED)
        assert (row.tick_at, row.through, row.count) == (NOON, after(60), 2)
        assert (row.leader, row.epoch, row.job_id) == (ANNE, 1, None)
        stored = await found(store)
        assert (stored.runs, stored.last_job, stored.cursor) == (0, None, NOON)
        assert await all_jobs(store) == 0

    async def test_a_skip_keeps_the_last_job(self, store: Store) -> None:
        await add(store, schedule())
        epoch = await lead(store)
        await commit(store, plan(schedule()), epoch)
        fired = await found(store)
        skip = Skip(after(60), after(60), 1, SkipReason.OVERLAP)
        await commit(store, replace(plan(fired), fires=(), skips=(skip,)), epoch)
        stored = await found(store)
        assert (stored.last_job, stored.runs) == (fired.last_job, 1)

    async def test_replaced_jobs_are_cancelled_or_asked_to_stop(self, store: Store) -> None:
        await insert_one(store, spec())
        attempt = await take_one(store)
        queued = await insert_one(store, spec())
        pending = await insert_one(store, JobSpec("send", run_at=after(600)))
        await add(store, schedule())
        planned = replace(plan(schedule()), cancels=(attempt.job_id, queued.id, pending.id))
        assert isinstance(await commit(store, planned, await lead(store)), Committed)
        one = await job_of(store, attempt.job_id)
        assert (one.status, one.cancel_requested) == (Status.RUNNING, True)
        for job_id in (queued.id, pending.id):
            job = await job_of(store, job_id)
            assert (job.status, job.finished_at) == (Status.CANCELLED, after(1))

    async def test_a_replaced_job_that_has_ended_stays_as_it_is(self, store: Store) -> None:
        await insert_one(store, spec())
        attempt = await take_one(store)
        await settle(store, Settlement(attempt.hold, Change.COMPLETE))
        await add(store, schedule())
        planned = replace(plan(schedule()), cancels=(attempt.job_id,))
        assert isinstance(await commit(store, planned, await lead(store)), Committed)
        job = await job_of(store, attempt.job_id)
        assert (job.status, job.cancel_requested) == (Status.COMPLETED, False)

    async def test_skips_by_hand_are_dropped_once_passed(self, store: Store) -> None:
        stored = replace(schedule(), skips=frozenset({NOON, after(60)}))
        await add(store, stored)
        await commit(store, plan(stored), await lead(store))
        assert (await found(store)).skips == frozenset({after(60)})

    async def test_a_schedule_can_come_to_its_end(self, store: Store) -> None:
        await add(store, schedule())
        await commit(store, replace(plan(schedule()), next_tick=None), await lead(store))
        assert (await found(store)).next_tick is None
        assert (await store.schedules.due(10, after(10**6))).schedules == ()

    async def test_verdicts_come_in_the_order_of_the_plans(self, store: Store) -> None:
        await add(store, schedule("b"), schedule("a"))
        plans = [plan(schedule("b")), plan(schedule("gone")), plan(schedule("a"))]
        verdicts = await store.schedules.commit(plans, await lead(store), after(1))
        assert [verdict.name for verdict in verdicts] == ["b", "gone", "a"]
        assert [type(verdict) for verdict in verdicts] == [Committed, Raced, Committed]


class StaleEpochConformance:
    """A leader that lost its lease can change nothing."""

    async def test_a_leader_of_an_earlier_epoch_is_refused_and_writes_nothing(
        self, store: Store
    ) -> None:
        await add(store, schedule("a"), schedule("b"))
        old = await lead(store, token=1)
        await lead(store, token=2)
        with pytest.raises(StaleEpoch) as caught:
            await store.schedules.commit([plan(schedule("a")), plan(schedule("b"))], old, after(1))
        assert (caught.value.ours, caught.value.seen) == (1, 2)
        assert await found(store, "a") == schedule("a")
        assert list(await rows(store, "a")) == []
        assert await all_jobs(store) == 0

    async def test_an_epoch_that_nobody_claimed_is_refused(self, store: Store) -> None:
        await add(store, schedule())
        with pytest.raises(StaleEpoch):
            await commit(store, plan(schedule()), Epoch("scheduler", 1))
        await lead(store)
        with pytest.raises(StaleEpoch):
            await commit(store, plan(schedule()), Epoch("scheduler", 2))
        assert await all_jobs(store) == 0

    async def test_an_epoch_counts_for_its_own_election_only(self, store: Store) -> None:
        await add(store, schedule())
        await lead(store)
        with pytest.raises(StaleEpoch):
            await commit(store, plan(schedule()), Epoch("another", 1))

    async def test_a_stale_epoch_is_refused_even_with_nothing_to_write(self, store: Store) -> None:
        old = await lead(store, token=1)
        await lead(store, token=2)
        with pytest.raises(StaleEpoch):
            await store.schedules.commit([], old, after(1))
