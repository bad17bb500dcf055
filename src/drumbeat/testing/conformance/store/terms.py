"""Cases: the history of an election."""

from __future__ import annotations

import pytest

from drumbeat.model.errors import InvalidInput
from drumbeat.model.fleet.lease import SCHEDULER, TERMS_KEPT, TermRecord
from drumbeat.model.page import LARGEST_PAGE, PageRequest
from drumbeat.ports.store import Store
from drumbeat.testing.conformance.builders import ANNE, BERT, NOON, after, lease, pages


async def history(store: Store, election: str = SCHEDULER) -> list[TermRecord]:
    return [*(await store.fence.history(election, PageRequest())).items]


class TermConformance:
    """Every term that became an epoch is recorded, latest first."""

    async def test_an_election_that_nobody_won_has_no_history(self, store: Store) -> None:
        assert await history(store, "never held") == []

    async def test_each_claim_leaves_its_term(self, store: Store) -> None:
        await store.fence.claim(lease(7), NOON)
        await store.fence.claim(lease(70, "there", BERT), after(60))
        await store.fence.claim(lease(1, name="other"), after(90))
        assert await history(store) == [
            TermRecord(SCHEDULER, 2, BERT, "there", 70, after(60)),
            TermRecord(SCHEDULER, 1, ANNE, "here", 7, NOON),
        ]
        assert await history(store, "other") == [TermRecord("other", 1, ANNE, "here", 1, after(90))]

    async def test_a_lease_that_is_outranked_leaves_no_term(self, store: Store) -> None:
        await store.fence.claim(lease(7), NOON)
        await store.fence.claim(lease(7), after(1))
        await store.fence.claim(lease(6, holder=BERT), after(2))
        assert [term.since for term in await history(store)] == [NOON]

    async def test_pages_of_terms_neither_repeat_nor_miss_any(self, store: Store) -> None:
        for token in range(1, 8):
            await store.fence.claim(lease(token), after(token))
        seen: list[int] = []
        async for page in pages(lambda request: store.fence.history(SCHEDULER, request), size=3):
            seen += [term.epoch for term in page.items]
        assert seen == [7, 6, 5, 4, 3, 2, 1]

    async def test_a_place_that_no_page_of_terms_gave_out_is_refused(self, store: Store) -> None:
        for place in ("no such place", "job:1", "term:one"):
            with pytest.raises(InvalidInput):
                await store.fence.history(SCHEDULER, PageRequest(after=place))

    async def test_the_last_thousand_terms_are_kept(self, store: Store) -> None:
        await store.fence.claim(lease(1, name="other"), NOON)
        for token in range(1, TERMS_KEPT + 4):
            await store.fence.claim(lease(token), NOON)
        page = await store.fence.history(SCHEDULER, PageRequest(LARGEST_PAGE))
        assert [term.epoch for term in page.items] == [*range(TERMS_KEPT + 3, 3, -1)]
        assert page.next is None
        assert len(await history(store, "other")) == 1
