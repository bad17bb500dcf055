"""Cases: which schedules are due."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from drumbeat.model.jobs.job import Change as JobChange
from drumbeat.model.jobs.job import Settlement, Status
from drumbeat.model.schedules.plan import Edit
from drumbeat.model.schedules.schedule import Previous
from drumbeat.ports.store import Store
from drumbeat.testing.conformance.builders import (
    MINUTE,
    NOON,
    add,
    after,
    commit,
    found,
    lead,
    plan,
    schedule,
    settle,
    take_one,
)


class DueConformance:
    """A schedule is due from its next tick on."""

    async def test_a_schedule_is_due_from_its_tick_on_and_not_before(self, store: Store) -> None:
        await add(store, schedule())
        early = await store.schedules.due(10, after(-0.001))
        assert (early.schedules, early.next_at) == ((), NOON)
        due = await store.schedules.due(10, NOON)
        assert [each.stored for each in due.schedules] == [schedule()]
        assert due.as_of == NOON

    async def test_the_longest_overdue_come_first(self, store: Store) -> None:
        await add(store, schedule("b", after(2)), schedule("a", after(3)), schedule("c", after(1)))
        due = await store.schedules.due(10, after(60))
        assert [each.stored.name for each in due.schedules] == ["c", "b", "a"]

    async def test_no_more_than_the_limit_are_due_and_the_next_one_is_told(
        self, store: Store
    ) -> None:
        await add(store, schedule("a", after(1)), schedule("b", after(2)), schedule("c", after(3)))
        due = await store.schedules.due(2, after(60))
        assert [each.stored.name for each in due.schedules] == ["a", "b"]
        assert due.next_at == after(3)

    async def test_the_next_tick_of_those_not_due_is_told(self, store: Store) -> None:
        await add(store, schedule("a", after(1)), schedule("b", after(99)), schedule("c", None))
        due = await store.schedules.due(10, after(60))
        assert [each.stored.name for each in due.schedules] == ["a"]
        assert due.next_at == after(99)

    async def test_schedules_are_read_ahead_of_their_ticks(self, store: Store) -> None:
        await add(store, schedule("a", after(3)), schedule("b", after(2)), schedule("c", after(9)))
        early = await store.schedules.due(10, after(1), ahead=timedelta(seconds=2))
        assert [each.stored.name for each in early.schedules] == ["b", "a"]
        assert (early.as_of, early.next_at) == (after(1), after(9))

    async def test_no_more_than_the_limit_are_read_ahead(self, store: Store) -> None:
        await add(store, schedule("a", after(1)), schedule("b", after(2)), schedule("c", after(3)))
        early = await store.schedules.due(2, NOON, ahead=MINUTE)
        assert [each.stored.name for each in early.schedules] == ["a", "b"]
        assert early.next_at == after(3)

    async def test_a_schedule_without_a_next_tick_is_never_due(self, store: Store) -> None:
        await add(store, schedule(next_tick=None))
        due = await store.schedules.due(10, after(10**8))
        assert (due.schedules, due.next_at) == ((), None)

    async def test_a_schedule_that_was_not_committed_is_due_again(self, store: Store) -> None:
        await add(store, schedule())
        await store.schedules.due(10, NOON)
        assert len((await store.schedules.due(10, NOON)).schedules) == 1

    async def test_a_schedule_that_fired_is_due_at_its_next_tick(self, store: Store) -> None:
        await add(store, schedule())
        await commit(store, plan(schedule()), await lead(store))
        due = await store.schedules.due(10, after(59))
        assert (due.schedules, due.next_at) == ((), NOON + MINUTE)
        assert len((await store.schedules.due(10, after(60))).schedules) == 1

    async def test_an_edit_moves_the_next_tick(self, store: Store) -> None:
        await add(store, schedule(next_tick=after(600)))
        before = schedule(next_tick=after(600))
        await store.schedules.put([Edit(before, replace(before, version=2, next_tick=after(30)))])
        assert (await store.schedules.due(10, NOON)).next_at == after(30)
        assert len((await store.schedules.due(10, after(30))).schedules) == 1

    async def test_a_due_schedule_comes_with_its_previous_job(self, store: Store) -> None:
        await add(store, schedule())
        await commit(store, plan(schedule()), await lead(store))
        last = (await found(store)).last_job
        assert last is not None
        (due,) = (await store.schedules.due(10, after(60))).schedules
        assert due.previous == Previous(last, Status.QUEUED, None)
        attempt = await take_one(store, at=after(61))
        await settle(store, Settlement(attempt.hold, JobChange.FAIL), after(62))
        (due,) = (await store.schedules.due(10, after(63))).schedules
        assert due.previous == Previous(last, Status.FAILED, after(62))

    async def test_a_schedule_that_never_fired_has_no_previous_job(self, store: Store) -> None:
        await add(store, schedule())
        (due,) = (await store.schedules.due(10, NOON)).schedules
        assert due.previous is None

    async def test_a_pruned_previous_job_is_not_returned(self, store: Store) -> None:
        await add(store, schedule())
        await commit(store, plan(schedule()), await lead(store))
        attempt = await take_one(store, at=after(2))
        await settle(store, Settlement(attempt.hold, JobChange.COMPLETE), after(3))
        assert await store.retention.prune_jobs(timedelta(0), 10, after(60)) == 1
        (due,) = (await store.schedules.due(10, after(60))).schedules
        assert due.previous is None
