"""Cases: the ledger of ticks, backfills, and pages of rows."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from drumbeat.model.errors import InvalidInput, NaiveDatetime, UnknownSchedule
from drumbeat.model.jobs.job import Status
from drumbeat.model.page import PageRequest
from drumbeat.model.schedules.plan import (
    AlreadyFired,
    Backfilled,
    Committed,
    Edit,
    Outcome,
    Skip,
    SkipReason,
    TickRecord,
)
from drumbeat.ports.store import Store
from drumbeat.testing.conformance.builders import (
    NOON,
    add,
    after,
    commit,
    fire,
    found,
    job_of,
    lead,
    pages,
    plan,
    race,
    rows,
    schedule,
)
from drumbeat.testing.conformance.traits import StoreTraits


class BackfillConformance:
    """A backfill fires each past tick once."""

    async def test_a_past_tick_fires_by_hand(self, store: Store) -> None:
        await add(store, schedule())
        past = fire("nightly", after(-3600))
        (verdict,) = await store.schedules.backfill("nightly", [past], NOON)
        assert isinstance(verdict, Backfilled)
        assert verdict.tick_at == after(-3600)
        job = await job_of(store, verdict.job_id)
        assert (job.status, job.spec) == (Status.QUEUED, past.job)
        assert list(await rows(store)) == [
            TickRecord(
                "nightly",
                after(-3600),
                Outcome.FIRED,
                recorded_at=NOON,
                lateness=timedelta(hours=1),
                through=after(-3600),
                job_id=verdict.job_id,
                backfilled=True,
            )
        ]

    async def test_a_backfill_leaves_the_schedule_as_it_is(self, store: Store) -> None:
        await add(store, schedule())
        await store.schedules.backfill("nightly", [fire("nightly", after(-3600))], NOON)
        assert await found(store) == schedule()

    async def test_a_tick_that_fired_is_not_backfilled(self, store: Store) -> None:
        await add(store, schedule())
        await commit(store, plan(schedule()), await lead(store))
        fires = [fire("nightly", NOON), fire("nightly", after(-60))]
        first, second = await store.schedules.backfill("nightly", fires, after(5))
        assert first == AlreadyFired(NOON)
        assert isinstance(second, Backfilled)
        assert len(await rows(store)) == 2

    async def test_a_tick_is_backfilled_once(self, store: Store) -> None:
        await add(store, schedule())
        fires = [fire("nightly", after(-60)), fire("nightly", after(-60))]
        first, second = await store.schedules.backfill("nightly", fires, NOON)
        assert isinstance(first, Backfilled)
        assert second == AlreadyFired(after(-60))
        (third,) = await store.schedules.backfill("nightly", fires[:1], NOON)
        assert third == AlreadyFired(after(-60))

    async def test_a_skipped_tick_can_be_backfilled(self, store: Store) -> None:
        await add(store, schedule())
        skip = Skip(NOON, NOON, 1, SkipReason.PAUSED)
        await commit(store, replace(plan(schedule()), fires=(), skips=(skip,)), await lead(store))
        (verdict,) = await store.schedules.backfill("nightly", [fire("nightly", NOON)], after(9))
        assert isinstance(verdict, Backfilled)
        assert {row.outcome for row in await rows(store)} == {Outcome.FIRED, Outcome.SKIPPED}

    async def test_a_tick_that_has_fired_never_fires_again(self, store: Store) -> None:
        await add(store, schedule())
        (early,) = await store.schedules.backfill("nightly", [fire("nightly", NOON)], NOON)
        assert isinstance(early, Backfilled)
        assert await commit(store, plan(schedule()), await lead(store)) == Committed("nightly", ())
        stored = await found(store)
        assert (stored.cursor, stored.runs, stored.last_job) == (NOON, 0, None)
        assert [row.job_id for row in await rows(store)] == [early.job_id]

    async def test_a_schedule_that_does_not_exist_is_not_backfilled(self, store: Store) -> None:
        with pytest.raises(UnknownSchedule):
            await store.schedules.backfill("nothing", [fire("nothing", NOON)], NOON)
        assert list(await rows(store, "nothing")) == []

    async def test_a_tick_backfilled_at_once_by_many_fires_once(
        self, store: Store, traits: StoreTraits
    ) -> None:
        await add(store, schedule())
        past = fire("nightly", after(-60))
        async with traits.another() as other:
            verdicts = await race(
                lambda number: (store, other)[number % 2].schedules.backfill("nightly", [past])
            )
        assert sum(isinstance(verdict, Backfilled) for (verdict,) in verdicts) == 1
        assert len(await rows(store)) == 1


class TickPagesConformance:
    """The ledger is listed latest tick first, page by page."""

    async def test_the_latest_tick_comes_first_however_late_it_was_recorded(
        self, store: Store
    ) -> None:
        await add(store, schedule())
        await commit(store, plan(schedule()), await lead(store))
        fires = [fire("nightly", after(-60)), fire("nightly", after(-120))]
        await store.schedules.backfill("nightly", fires, after(5))
        ticks = [row.tick_at for row in await rows(store)]
        assert ticks == [NOON, after(-60), after(-120)]

    async def test_pages_of_ticks_neither_repeat_nor_miss_any(self, store: Store) -> None:
        await add(store, schedule())
        skip = Skip(after(-180), after(-180), 1, SkipReason.PAUSED)
        await commit(store, replace(plan(schedule()), skips=(skip,)), await lead(store))
        fires = [fire("nightly", after(-60 * number)) for number in range(1, 7)]
        await store.schedules.backfill("nightly", fires, after(5))
        everything = list(await rows(store))
        assert len(everything) == 8
        for size in (1, 2, 3, 5):
            seen: list[TickRecord] = []
            async for page in pages(lambda r: store.schedules.ticks("nightly", r), size):
                seen += page.items
            assert seen == everything

    async def test_schedules_have_ledgers_of_their_own(self, store: Store) -> None:
        await add(store, schedule("a"), schedule("b"))
        await commit(store, plan(schedule("a")), await lead(store))
        assert len(await rows(store, "a")) == 1
        assert list(await rows(store, "b")) == []
        assert list(await rows(store, "never heard of")) == []

    async def test_a_place_that_no_page_of_ticks_gave_out_is_refused(self, store: Store) -> None:
        with pytest.raises(InvalidInput):
            await store.schedules.ticks("nightly", PageRequest(after="no such place"))


class RecordedConformance:
    """New rows of all ledgers are found by the time when they were recorded."""

    async def test_rows_of_all_schedules_come_as_they_were_recorded_the_last_first(
        self, store: Store
    ) -> None:
        await add(store, schedule("a"), schedule("b"))
        await commit(store, plan(schedule("a")), await lead(store))
        await store.schedules.backfill("b", [fire("b", after(-60))], after(5))
        recorded = await store.schedules.recorded(NOON, 10)
        assert [(row.schedule, row.recorded_at) for row in recorded] == [
            ("b", after(5)),
            ("a", after(1)),
        ]
        assert list(recorded) == [*(await rows(store, "b")), *(await rows(store, "a"))]

    async def test_what_was_recorded_before_an_instant_is_left_out(self, store: Store) -> None:
        await add(store, schedule())
        for second in range(4):
            past = [fire("nightly", after(-60 * (second + 1)))]
            await store.schedules.backfill("nightly", past, after(second))
        recorded = await store.schedules.recorded(after(2), 10)
        assert [row.recorded_at for row in recorded] == [after(3), after(2)]
        assert list(await store.schedules.recorded(after(3.000001), 10)) == []

    async def test_of_many_rows_the_last_ones_are_found(self, store: Store) -> None:
        await add(store, schedule())
        for second in range(4):
            past = [fire("nightly", after(-60 * (second + 1)))]
            await store.schedules.backfill("nightly", past, after(second))
        recorded = await store.schedules.recorded(NOON, 3)
        assert [row.recorded_at for row in recorded] == [after(3), after(2), after(1)]

    async def test_rows_of_one_instant_are_cut_off_at_the_same_place_every_time(
        self, store: Store
    ) -> None:
        await add(store, schedule("a"), schedule("b"))
        for name in ("b", "a"):
            fires = [fire(name, after(-60 * number)) for number in (1, 3, 2)]
            await store.schedules.backfill(name, fires, NOON)
        everything = await store.schedules.recorded(NOON, 100)
        assert len(set(everything)) == 6
        for size in range(7):
            assert list(await store.schedules.recorded(NOON, size)) == list(everything[:size])

    async def test_rows_recorded_in_the_past_take_their_place(self, store: Store) -> None:
        await add(store, schedule())
        for second in (3, 1, 2):
            past = [fire("nightly", after(-60 * second))]
            await store.schedules.backfill("nightly", past, after(second))
        recorded = await store.schedules.recorded(after(2), 10)
        assert [row.recorded_at for row in recorded] == [after(3), after(2)]

    async def test_the_rows_of_a_removed_schedule_and_its_skips_are_found(
        self, store: Store
    ) -> None:
        await add(store, schedule())
        skip = Skip(NOON, after(120), 3, SkipReason.OVERRIDDEN)
        await store.schedules.put([Edit(schedule(), None, (skip,))], after(130))
        (row,) = await store.schedules.recorded(after(130), 10)
        assert (row.schedule, row.count, row.reason) == ("nightly", 3, SkipReason.OVERRIDDEN)

    async def test_the_row_that_pruning_spares_is_found(self, store: Store) -> None:
        await add(store, schedule())
        fires = [fire("nightly", after(-60)), fire("nightly", after(-120))]
        await store.schedules.backfill("nightly", fires, NOON)
        assert await store.retention.prune_ticks(timedelta(hours=1), 10, after(7200)) == 1
        (row,) = await store.schedules.recorded(NOON, 10)
        assert row.tick_at == after(-60)

    async def test_an_instant_without_a_zone_is_refused(self, store: Store) -> None:
        with pytest.raises(NaiveDatetime):
            await store.schedules.recorded(NOON.replace(tzinfo=None), 10)
