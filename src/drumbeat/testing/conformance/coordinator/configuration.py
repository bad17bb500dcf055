"""Cases: the shared configuration, small values with revisions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from drumbeat.model.fleet.lease import Entry
from drumbeat.ports.coordinator import Coordinator
from drumbeat.testing.conformance.builders import let_others_run, race
from drumbeat.testing.conformance.traits import CoordinatorTraits

VALUE = '"Zoë \N{SNOWMAN}"'.encode() + bytes(range(256))


async def _next(watch: AsyncIterator[Entry | None]) -> Entry | None:
    return await anext(watch)


class ConfigurationConformance:
    """A value is written unconditionally, or only over the revision that the writer has read."""

    async def test_a_key_that_was_never_written_has_no_value(
        self, coordinator: Coordinator
    ) -> None:
        assert await coordinator.configuration.get("key") is None

    async def test_a_value_comes_out_as_it_went_in(
        self, coordinator: Coordinator, traits: CoordinatorTraits
    ) -> None:
        entry = await coordinator.configuration.put("key/ü", VALUE)
        assert (entry.key, entry.value) == ("key/ü", VALUE)
        async with traits.another() as other:
            assert await other.configuration.get("key/ü") == entry

    async def test_an_empty_value_is_a_value(self, coordinator: Coordinator) -> None:
        entry = await coordinator.configuration.put("key", b"")
        assert await coordinator.configuration.get("key") == entry

    async def test_the_revision_rises_with_every_write(self, coordinator: Coordinator) -> None:
        first = await coordinator.configuration.put("key", b"1")
        second = await coordinator.configuration.put("key", b"1")
        third = await coordinator.configuration.compare_and_set("key", b"3", second.revision)
        assert third is not None
        equal = await coordinator.configuration.compare_and_set("key", b"3", third.revision)
        assert equal is not None
        assert 0 < first.revision < second.revision < third.revision < equal.revision
        assert await coordinator.configuration.get("key") == equal

    async def test_a_write_over_an_older_revision_is_refused(
        self, coordinator: Coordinator
    ) -> None:
        first = await coordinator.configuration.put("key", b"1")
        second = await coordinator.configuration.put("key", b"2")
        configuration = coordinator.configuration
        assert await configuration.compare_and_set("key", b"3", first.revision) is None
        assert await configuration.compare_and_set("key", b"3", 0) is None
        assert await configuration.compare_and_set("key", None, first.revision) is None
        assert await configuration.get("key") == second

    async def test_revision_zero_creates_what_does_not_exist(
        self, coordinator: Coordinator
    ) -> None:
        entry = await coordinator.configuration.compare_and_set("key", b"1", 0)
        assert entry is not None
        assert await coordinator.configuration.get("key") == entry
        assert await coordinator.configuration.compare_and_set("other", b"1", 7) is None
        assert await coordinator.configuration.get("other") is None

    async def test_a_deleted_key_is_gone_and_its_revisions_do_not_come_back(
        self, coordinator: Coordinator
    ) -> None:
        configuration = coordinator.configuration
        first = await configuration.put("key", b"1")
        deleted = await configuration.compare_and_set("key", None, first.revision)
        assert deleted is not None
        assert (deleted.key, deleted.value) == ("key", b"")
        assert await configuration.get("key") is None
        assert await configuration.compare_and_set("key", b"2", first.revision) is None
        again = await configuration.compare_and_set("key", b"1", 0)
        assert again is not None
        assert again.revision > first.revision

    async def test_a_key_that_does_not_exist_can_be_deleted(self, coordinator: Coordinator) -> None:
        configuration = coordinator.configuration
        for _ in range(2):
            deleted = await configuration.compare_and_set("key", None, 0)
            assert deleted is not None
            assert deleted.value == b""
        assert await configuration.get("key") is None

    async def test_of_many_writes_over_one_revision_one_is_written(
        self, coordinator: Coordinator, traits: CoordinatorTraits
    ) -> None:
        before = await coordinator.configuration.put("key", b"0")
        async with traits.another() as other:
            entries = await race(
                lambda number: (coordinator, other)[number % 2].configuration.compare_and_set(
                    "key", str(number).encode(), before.revision
                )
            )
        written = [entry for entry in entries if entry is not None]
        assert len(written) == 1
        assert await coordinator.configuration.get("key") == written[0]

    async def test_of_many_creations_of_one_key_one_is_written(
        self, coordinator: Coordinator, traits: CoordinatorTraits
    ) -> None:
        async with traits.another() as other:
            entries = await race(
                lambda number: (coordinator, other)[number % 2].configuration.compare_and_set(
                    "key", b"1", 0
                )
            )
        assert sum(entry is not None for entry in entries) == 1

    async def test_a_watcher_sees_the_value_now_and_the_last_change(
        self, coordinator: Coordinator, traits: CoordinatorTraits
    ) -> None:
        first = await coordinator.configuration.put("key", b"1")
        async with traits.another() as other, asyncio.timeout(traits.patience):
            watch = other.configuration.watch("key")
            assert await anext(watch) == first
            await coordinator.configuration.put("key", b"2")
            third = await coordinator.configuration.put("key", b"3")
            seen: Entry | None = first
            while seen != third:
                seen = await anext(watch)

    async def test_a_watcher_sees_a_key_come_and_go(
        self, coordinator: Coordinator, traits: CoordinatorTraits
    ) -> None:
        async with asyncio.timeout(traits.patience):
            watch = coordinator.configuration.watch("key")
            assert await anext(watch) is None
            async with asyncio.TaskGroup() as group:
                seen = group.create_task(_next(watch))
                await let_others_run()
                entry = await coordinator.configuration.put("key", b"1")
            assert seen.result() == entry
            await coordinator.configuration.compare_and_set("key", None, entry.revision)
            assert await anext(watch) is None

    async def test_a_watcher_does_not_see_other_keys(
        self, coordinator: Coordinator, traits: CoordinatorTraits
    ) -> None:
        async with asyncio.timeout(traits.patience):
            watch = coordinator.configuration.watch("key")
            assert await anext(watch) is None
            await coordinator.configuration.put("key/below", b"1")
            entry = await coordinator.configuration.put("key", b"2")
            assert await anext(watch) == entry
