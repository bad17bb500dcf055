"""Cases: writing and reading schedules."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from drumbeat.model.errors import InvalidInput
from drumbeat.model.page import PageRequest
from drumbeat.model.schedules.plan import (
    Edit,
    Outcome,
    Raced,
    Skip,
    SkipReason,
    TickRecord,
    Written,
)
from drumbeat.model.schedules.policy import Misfire, Overlap, Policies
from drumbeat.model.schedules.schedule import Origin, Revision, Schedule
from drumbeat.model.triggers.cron.cron import cron
from drumbeat.ports.store import Store
from drumbeat.testing.conformance.builders import (
    FULL_SPEC,
    NOON,
    add,
    after,
    commit,
    edited,
    found,
    lead,
    pages,
    plan,
    race,
    rows,
    schedule,
)
from drumbeat.testing.conformance.traits import StoreTraits


class ScheduleConformance:
    """A schedule is written only if it has not changed since the writer read it."""

    async def test_schedules_are_found_by_name_in_the_order_asked_for(self, store: Store) -> None:
        a, b = schedule("a"), schedule("b")
        await add(store, a, b)
        answer = await store.schedules.get(["b", "nothing", "a"], at=after(5))
        assert answer.schedules == (b, None, a)
        assert answer.as_of == after(5)

    async def test_a_schedule_comes_out_as_it_went_in(self, store: Store) -> None:
        policies = Policies(
            misfire=Misfire.ALL,
            window=timedelta(hours=3),
            cap=7,
            overlap=Overlap.QUEUE_ONE,
            jitter=timedelta(seconds=5),
            start_at=NOON,
            end_at=after(86400),
            max_runs=9,
        )
        definition = Schedule(
            "näme", cron("0 2 * * *", tz="Europe/Paris"), FULL_SPEC, policies, "why"
        )
        stored = replace(
            schedule("näme"),
            schedule=definition,
            version=4,
            origin=Origin.PERSON,
            declared="fingerprint",
            paused=True,
            pause_reason="holidays",
            runs=3,
            skips=frozenset({after(60), after(120)}),
        )
        await add(store, stored)
        assert await found(store, "näme") == stored

    async def test_a_schedule_that_exists_cannot_be_created_again(self, store: Store) -> None:
        await add(store, schedule())
        other = replace(schedule(), declared="other")
        assert list(await store.schedules.put([Edit(None, other)])) == [Raced("nightly")]
        assert await found(store) == schedule()

    async def test_an_edit_replaces_what_was_read(self, store: Store) -> None:
        await add(store, schedule())
        edit = Edit(schedule(), edited(schedule()))
        assert list(await store.schedules.put([edit])) == [Written("nightly")]
        assert await found(store) == edited(schedule())

    async def test_an_edit_of_an_older_version_is_raced(self, store: Store) -> None:
        await add(store, schedule())
        await store.schedules.put([Edit(schedule(), edited(schedule()))])
        late = Edit(schedule(), replace(schedule(), version=2, declared="late"))
        assert list(await store.schedules.put([late])) == [Raced("nightly")]
        assert await found(store) == edited(schedule())

    async def test_an_edit_from_before_a_tick_fired_is_raced(self, store: Store) -> None:
        await add(store, schedule())
        await commit(store, plan(schedule()), await lead(store))
        late = Edit(schedule(), edited(schedule()))
        assert list(await store.schedules.put([late])) == [Raced("nightly")]
        assert (await found(store)).cursor == NOON

    async def test_an_edit_of_a_schedule_that_is_gone_is_raced(self, store: Store) -> None:
        edit = Edit(schedule(), edited(schedule()))
        assert list(await store.schedules.put([edit])) == [Raced("nightly")]
        assert (await store.schedules.get(["nightly"])).schedules == (None,)

    async def test_an_edit_that_races_does_not_hold_the_others_back(self, store: Store) -> None:
        await add(store, schedule("a"))
        edits = [Edit(None, schedule("a")), Edit(None, schedule("b"))]
        assert list(await store.schedules.put(edits)) == [Raced("a"), Written("b")]
        assert await found(store, "b") == schedule("b")

    async def test_edits_of_one_schedule_in_one_batch_are_applied_in_order(
        self, store: Store
    ) -> None:
        edits = [
            Edit(None, schedule()),
            Edit(schedule(), edited(schedule())),
            Edit(schedule(), replace(schedule(), version=9)),
        ]
        written = [Written("nightly"), Written("nightly"), Raced("nightly")]
        assert list(await store.schedules.put(edits)) == written
        assert await found(store) == edited(schedule())

    async def test_a_removed_schedule_is_gone_and_its_ledger_stays(self, store: Store) -> None:
        await add(store, schedule())
        await commit(store, plan(schedule()), await lead(store))
        before = await found(store)
        assert list(await store.schedules.put([Edit(before, None)])) == [Written("nightly")]
        assert (await store.schedules.get(["nightly"])).schedules == (None,)
        assert [row.tick_at for row in await rows(store)] == [NOON]
        assert (await store.schedules.due(10, after(3600))).schedules == ()

    async def test_the_skips_of_an_edit_are_recorded_without_a_leader(self, store: Store) -> None:
        await add(store, schedule())
        skip = Skip(NOON, after(120), 3, SkipReason.OVERRIDDEN)
        await store.schedules.put([Edit(schedule(), edited(schedule()), (skip,))], after(130))
        assert list(await rows(store)) == [
            TickRecord(
                "nightly",
                NOON,
                Outcome.SKIPPED,
                recorded_at=after(130),
                lateness=timedelta(seconds=130),
                through=after(120),
                count=3,
                reason=SkipReason.OVERRIDDEN,
            )
        ]

    async def test_an_edit_that_races_records_no_skips(self, store: Store) -> None:
        skip = Skip(NOON, NOON, 1, SkipReason.OVERRIDDEN)
        await store.schedules.put([Edit(schedule(), edited(schedule()), (skip,))])
        assert list(await rows(store)) == []

    async def test_of_edits_made_at_once_one_is_written(
        self, store: Store, traits: StoreTraits
    ) -> None:
        await add(store, schedule())
        async with traits.another() as other:
            verdicts = await race(
                lambda number: (store, other)[number % 2].schedules.put(
                    [Edit(schedule(), replace(edited(schedule()), declared=str(number)))]
                )
            )
        written = [n for n, verdict in enumerate(verdicts) if list(verdict) == [Written("nightly")]]
        assert len(written) == 1
        assert (await found(store)).declared == str(written[0])

    async def test_of_schedules_created_at_once_under_one_name_one_is_written(
        self, store: Store, traits: StoreTraits
    ) -> None:
        async with traits.another() as other:
            verdicts = await race(
                lambda number: (store, other)[number % 2].schedules.put([Edit(None, schedule())])
            )
        assert sum(list(verdict) == [Written("nightly")] for verdict in verdicts) == 1


class ScheduleListConformance:
    """Schedules are listed by name, page by page."""

    async def test_schedules_are_listed_by_name(self, store: Store) -> None:
        await add(store, schedule("c"), schedule("a"), schedule("b"))
        page = await store.schedules.list(PageRequest())
        assert [each.name for each in page.items] == ["a", "b", "c"]
        assert page.next is None

    async def test_only_names_with_the_prefix_are_listed(self, store: Store) -> None:
        await add(store, schedule("mail"), schedule("mail/in"), schedule("main"), schedule("a%"))
        page = await store.schedules.list(PageRequest(), prefix="mail")
        assert [each.name for each in page.items] == ["mail", "mail/in"]
        assert (await store.schedules.list(PageRequest(), prefix="%")).items == ()

    async def test_pages_of_schedules_neither_repeat_nor_miss_any(self, store: Store) -> None:
        names = [f"schedule {number}" for number in range(7)]
        await add(store, *(schedule(name) for name in names))
        seen: list[str] = []
        async for page in pages(store.schedules.list, size=3):
            seen += [each.name for each in page.items]
        assert seen == names

    async def test_a_full_last_page_knows_that_it_is_the_last(self, store: Store) -> None:
        await add(store, schedule("a"), schedule("b"))
        page = await store.schedules.list(PageRequest(size=2))
        assert (len(page.items), page.next) == (2, None)

    async def test_a_place_that_no_page_gave_out_is_refused(self, store: Store) -> None:
        with pytest.raises(InvalidInput):
            await store.schedules.list(PageRequest(after="no such place"))


class RevisionConformance:
    """The last changes of schedules can be read without their definitions."""

    async def test_revisions_come_by_name_and_say_what_the_schedules_say(
        self, store: Store
    ) -> None:
        paused = replace(
            schedule("b"), version=7, updated_at=after(9), paused=True, pause_reason="holidays"
        )
        await add(store, schedule("c"), paused, schedule("a"))
        assert list(await store.schedules.revisions("", 10)) == [
            Revision("a", 1, after(-60)),
            Revision("b", 7, after(9), paused=True, pause_reason="holidays"),
            Revision("c", 1, after(-60)),
        ]

    async def test_revisions_are_read_portion_by_portion(self, store: Store) -> None:
        names = ["Z", "a", "a/b", "b", "ä", "\N{SNOWMAN}", "\N{MAHJONG TILE RED DRAGON}"]
        await add(store, *(schedule(name) for name in reversed(names)))
        seen: list[str] = []
        while portion := await store.schedules.revisions(seen[-1] if seen else "", 2):
            assert len(portion) <= 2
            seen += [each.name for each in portion]
        assert seen == names
        assert list(await store.schedules.revisions("0", 1)) == [Revision("Z", 1, after(-60))]

    async def test_an_edit_makes_another_revision_and_firing_does_not(self, store: Store) -> None:
        await add(store, schedule())
        created = await store.schedules.revisions("", 10)
        await commit(store, plan(schedule()), await lead(store))
        assert list(await store.schedules.revisions("", 10)) == list(created)
        fired = await found(store)
        await store.schedules.put([Edit(fired, replace(edited(fired), updated_at=after(5)))])
        assert list(await store.schedules.revisions("", 10)) == [
            Revision("nightly", 2, after(5), paused=True)
        ]
        await store.schedules.put([Edit(await found(store), None)])
        assert list(await store.schedules.revisions("", 10)) == []
