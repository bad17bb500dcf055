"""The cases of the audit log."""

from __future__ import annotations

from datetime import timedelta

import pytest

from drumbeat.model.errors import InvalidInput
from drumbeat.model.fleet.audit import AuditEntry, AuditFilter, AuditNote
from drumbeat.model.page import PageRequest
from drumbeat.ports.store import Store
from drumbeat.testing.conformance.builders import NOON, after, pages, race
from drumbeat.testing.conformance.traits import StoreTraits

HOUR = timedelta(hours=1)
PAUSED = AuditNote("anne", "queue.pause", "mail", "the server is down", {"depth": [3, None, "é"]})


def note(actor: str = "anne", action: str = "job.cancel", target: str = "7") -> AuditNote:
    return AuditNote(actor, action, target)


async def listed(store: Store, wish: AuditFilter | None = None) -> list[AuditEntry]:
    return [*(await store.audit.list(wish or AuditFilter(), PageRequest())).items]


class AuditConformance:
    """A change is recorded before it is made, and then its outcome."""

    async def test_a_note_is_kept_as_it_was_written(self, store: Store) -> None:
        entry = await store.audit.record(PAUSED, NOON)
        assert (entry.at, entry.note, entry.outcome) == (NOON, PAUSED, None)
        assert await listed(store) == [entry]

    async def test_an_entry_is_seen_through_every_handle(
        self, store: Store, traits: StoreTraits
    ) -> None:
        entry = await store.audit.record(PAUSED, NOON)
        async with traits.another() as other:
            assert await listed(other) == [entry]
            await other.audit.conclude(entry.id, "done")
        assert [each.outcome for each in await listed(store)] == ["done"]

    async def test_the_outcome_is_said_afterwards_and_the_first_stands(self, store: Store) -> None:
        first = await store.audit.record(note(), NOON)
        second = await store.audit.record(note(), NOON)
        await store.audit.conclude(first.id, "refused: too late")
        await store.audit.conclude(first.id, "done")
        assert [(each.id, each.outcome) for each in await listed(store)] == [
            (second.id, None),
            (first.id, "refused: too late"),
        ]

    async def test_an_outcome_of_an_entry_that_is_gone_changes_nothing(self, store: Store) -> None:
        await store.audit.conclude(10**9, "done")
        assert await listed(store) == []

    async def test_details_that_are_not_json_are_refused(self, store: Store) -> None:
        for details in ({"when": NOON}, {"ratio": float("nan")}):
            with pytest.raises(InvalidInput, match="details"):
                await store.audit.record(AuditNote("anne", "a.b", "c", details=details), NOON)
        assert await listed(store) == []

    async def test_entries_are_filtered_by_each_field(self, store: Store) -> None:
        plain = await store.audit.record(note(), NOON)
        special = await store.audit.record(note("bert", "node.drain", "web"), after(60))
        for wish in (
            AuditFilter(actor="bert"),
            AuditFilter(action="node.drain"),
            AuditFilter(target="web"),
            AuditFilter(since=after(60)),
            AuditFilter("bert", "node.drain", "web", after(60), after(61)),
        ):
            assert await listed(store, wish) == [special], wish
        assert await listed(store, AuditFilter(until=after(60))) == [plain]
        assert await listed(store, AuditFilter(actor="bert", target="7")) == []
        assert await listed(store, AuditFilter(actor="ber")) == []

    async def test_pages_of_entries_neither_repeat_nor_miss_any(self, store: Store) -> None:
        entries = [await store.audit.record(note(target=str(each)), NOON) for each in range(7)]
        await store.audit.record(note("bert"), NOON)
        seen: list[AuditEntry] = []
        anne = AuditFilter(actor="anne")
        async for page in pages(lambda request: store.audit.list(anne, request), size=3):
            seen += page.items
            await store.audit.record(note(), NOON)  # new entries do not move the pages
        assert seen == entries[::-1]

    async def test_a_place_that_no_page_of_entries_gave_out_is_refused(self, store: Store) -> None:
        for place in ("no such place", "job:1", "audit:one"):
            with pytest.raises(InvalidInput):
                await store.audit.list(AuditFilter(), PageRequest(after=place))

    async def test_entries_written_at_once_have_numbers_of_their_own(
        self, store: Store, traits: StoreTraits
    ) -> None:
        async with traits.another() as other:
            entries = await race(lambda number: (store, other)[number % 2].audit.record(note()))
        assert len({entry.id for entry in entries}) == len(entries)

    async def test_old_entries_are_forgotten_in_bounded_steps(self, store: Store) -> None:
        entries = [await store.audit.record(note(), after(number)) for number in range(5)]
        assert await store.retention.prune_audit(HOUR, 10, after(3599)) == 0
        assert await store.retention.prune_audit(HOUR, 2, after(3603)) == 2
        assert await store.retention.prune_audit(HOUR, 10, after(3603)) == 2
        assert await listed(store) == [entries[4]]
