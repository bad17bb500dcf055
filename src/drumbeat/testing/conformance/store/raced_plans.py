"""Cases: plans that are outdated, and several plans at once."""

from __future__ import annotations

from dataclasses import replace

from drumbeat.model.jobs.job import Change, Settlement, Status
from drumbeat.model.schedules.plan import (
    Committed,
    Edit,
    Raced,
    Skip,
    SkipReason,
    Written,
)
from drumbeat.model.schedules.schedule import StoredSchedule
from drumbeat.ports.store import Store
from drumbeat.testing.conformance.builders import (
    add,
    after,
    all_jobs,
    commit,
    edited,
    found,
    insert_one,
    job_of,
    lead,
    plan,
    race,
    rows,
    schedule,
    settle,
    spec,
    take,
    take_one,
)
from drumbeat.testing.conformance.traits import StoreTraits


class RacedConformance:
    """A plan is written only if the schedule has not changed since it was read."""

    async def test_a_plan_cannot_be_committed_twice(self, store: Store) -> None:
        await add(store, schedule())
        epoch = await lead(store)
        await commit(store, plan(schedule()), epoch)
        assert await commit(store, plan(schedule()), epoch) == Raced("nightly")
        assert await all_jobs(store) == 1
        assert len(await rows(store)) == 1
        assert (await found(store)).runs == 1

    async def test_a_new_leader_cannot_commit_the_old_ones_plan_again(self, store: Store) -> None:
        await add(store, schedule())
        await commit(store, plan(schedule()), await lead(store, token=1))
        assert await commit(store, plan(schedule()), await lead(store, token=2)) == Raced("nightly")
        assert await all_jobs(store) == 1

    async def test_a_plan_for_an_older_version_is_raced_and_leaves_no_trace(
        self, store: Store
    ) -> None:
        await add(store, schedule())
        await store.schedules.put([Edit(schedule(), edited(schedule()))])
        skip = Skip(after(-60), after(-60), 1, SkipReason.COALESCED)
        planned = replace(plan(schedule()), skips=(skip,))
        assert await commit(store, planned, await lead(store)) == Raced("nightly")
        assert await found(store) == edited(schedule())
        assert list(await rows(store)) == []
        assert await all_jobs(store) == 0

    async def test_a_plan_for_a_removed_schedule_is_raced(self, store: Store) -> None:
        await add(store, schedule())
        await store.schedules.put([Edit(schedule(), None)])
        assert await commit(store, plan(schedule()), await lead(store)) == Raced("nightly")
        assert await all_jobs(store) == 0

    async def test_of_two_plans_for_one_schedule_in_one_batch_the_second_is_raced(
        self, store: Store
    ) -> None:
        await add(store, schedule())
        plans = [plan(schedule()), plan(schedule())]
        verdicts = await store.schedules.commit(plans, await lead(store), after(1))
        assert [type(verdict) for verdict in verdicts] == [Committed, Raced]
        assert await all_jobs(store) == 1

    async def test_a_raced_plan_cancels_nothing(self, store: Store) -> None:
        job = await insert_one(store, spec())
        planned = replace(plan(schedule()), cancels=(job.id,))
        assert await commit(store, planned, await lead(store)) == Raced("nightly")
        assert (await job_of(store, job.id)).status is Status.QUEUED

    async def test_a_plan_that_assumes_an_unfinished_job_is_raced_once_it_has_ended(
        self, store: Store
    ) -> None:
        await add(store, schedule())
        epoch = await lead(store)
        await commit(store, plan(schedule()), epoch)
        planned = replace(plan(await found(store)), assumes_unfinished=True)
        attempt = await take_one(store, at=after(2))
        await settle(store, Settlement(attempt.hold, Change.COMPLETE), after(3))
        assert await commit(store, planned, epoch) == Raced("nightly")
        again = replace(planned, assumes_unfinished=False)
        assert isinstance(await commit(store, again, epoch), Committed)

    async def test_a_plan_that_assumes_a_finished_job_is_raced_while_one_is_unfinished(
        self, store: Store
    ) -> None:
        await add(store, schedule())
        epoch = await lead(store)
        await commit(store, plan(schedule()), epoch)
        planned = replace(plan(await found(store)), assumes_unfinished=False)
        assert await commit(store, planned, epoch) == Raced("nightly")
        await take(store, at=after(2))
        assert await commit(store, planned, epoch) == Raced("nightly")
        again = replace(planned, assumes_unfinished=True)
        assert isinstance(await commit(store, again, epoch), Committed)

    async def test_a_schedule_that_never_fired_has_no_unfinished_job(self, store: Store) -> None:
        await add(store, schedule())
        epoch = await lead(store)
        wrong = replace(plan(schedule()), assumes_unfinished=True)
        assert await commit(store, wrong, epoch) == Raced("nightly")
        right = replace(plan(schedule()), assumes_unfinished=False)
        assert isinstance(await commit(store, right, epoch), Committed)

    async def test_a_plan_without_an_assumption_does_not_look_at_the_job(
        self, store: Store
    ) -> None:
        await add(store, schedule())
        epoch = await lead(store)
        await commit(store, plan(schedule()), epoch)
        assert isinstance(await commit(store, plan(await found(store)), epoch), Committed)

    async def test_a_plan_committed_at_once_by_many_leaders_of_one_epoch_is_written_once(
        self, store: Store, traits: StoreTraits
    ) -> None:
        await add(store, schedule())
        epoch = await lead(store)
        async with traits.another() as other:
            verdicts = await race(
                lambda number: commit((store, other)[number % 2], plan(schedule()), epoch)
            )
        assert sum(isinstance(verdict, Committed) for verdict in verdicts) == 1
        assert await all_jobs(store) == 1
        assert len(await rows(store)) == 1
        assert (await found(store)).runs == 1

    async def test_an_edit_and_a_commit_at_once_happen_in_one_of_two_orders(
        self, store: Store, traits: StoreTraits
    ) -> None:
        epoch = await lead(store)
        names = [f"schedule {number}" for number in range(20)]
        await add(store, *(schedule(name) for name in names))
        async with traits.another() as other:
            for name in names:
                before = schedule(name)

                async def write(
                    number: int, before: StoredSchedule = before
                ) -> Committed | Written | Raced:
                    if number:
                        return await commit(store, plan(before), epoch)
                    (verdict,) = await other.schedules.put([Edit(before, edited(before))])
                    return verdict

                verdicts = await race(write, racers=2)
                assert sum(isinstance(verdict, Raced) for verdict in verdicts) == 1
                fired = isinstance(verdicts[1], Committed)
                assert len(await rows(store, name)) == (1 if fired else 0)
