"""Cases: the fence, which decides which leader may write."""

from __future__ import annotations

from drumbeat.model.fleet.lease import SCHEDULER, Epoch, FenceRow, Outranked
from drumbeat.ports.store import Store
from drumbeat.testing.conformance.builders import ANNE, BERT, lead, lease, race
from drumbeat.testing.conformance.traits import StoreTraits


class FenceConformance:
    """A lease becomes an epoch once, and only if its token is the highest of its domain."""

    async def test_the_fence_of_an_unknown_election_has_no_holder(self, store: Store) -> None:
        assert await store.fence.read("never held") is None

    async def test_the_first_lease_becomes_the_first_epoch(self, store: Store) -> None:
        epoch = await store.fence.claim(lease(7))
        assert epoch == Epoch(SCHEDULER, 1)
        assert await store.fence.read(SCHEDULER) == FenceRow(SCHEDULER, 1, "here", 7, ANNE)

    async def test_a_higher_token_takes_the_fence_over_and_raises_the_epoch_by_one(
        self, store: Store
    ) -> None:
        await store.fence.claim(lease(7))
        assert await store.fence.claim(lease(70, holder=BERT)) == Epoch(SCHEDULER, 2)
        assert await store.fence.read(SCHEDULER) == FenceRow(SCHEDULER, 2, "here", 70, BERT)

    async def test_a_lower_token_is_outranked_and_changes_nothing(self, store: Store) -> None:
        await store.fence.claim(lease(7))
        before = await store.fence.read(SCHEDULER)
        assert await store.fence.claim(lease(6, holder=BERT)) == Outranked(SCHEDULER, 1)
        assert await store.fence.read(SCHEDULER) == before

    async def test_the_same_lease_cannot_claim_twice(self, store: Store) -> None:
        await store.fence.claim(lease(7))
        assert await store.fence.claim(lease(7)) == Outranked(SCHEDULER, 1)
        row = await store.fence.read(SCHEDULER)
        assert row is not None
        assert row.epoch == 1

    async def test_a_new_domain_takes_the_fence_over_whatever_its_token(self, store: Store) -> None:
        await store.fence.claim(lease(1000))
        assert await store.fence.claim(lease(1, domain="restored")) == Epoch(SCHEDULER, 2)
        assert await store.fence.read(SCHEDULER) == FenceRow(SCHEDULER, 2, "restored", 1, ANNE)

    async def test_an_old_lease_of_an_earlier_domain_stays_outranked(self, store: Store) -> None:
        await store.fence.claim(lease(1000))
        await store.fence.claim(lease(1, domain="restored"))
        assert await store.fence.claim(lease(1000)) == Outranked(SCHEDULER, 2)
        assert await store.fence.claim(lease(999)) == Outranked(SCHEDULER, 2)

    async def test_a_later_term_of_an_old_domain_is_accepted(self, store: Store) -> None:
        await store.fence.claim(lease(1000))
        await store.fence.claim(lease(1, domain="other"))
        assert await store.fence.claim(lease(1001)) == Epoch(SCHEDULER, 3)

    async def test_elections_are_independent(self, store: Store) -> None:
        await store.fence.claim(lease(7, name="scheduler/0"))
        assert await store.fence.claim(lease(3, name="scheduler/1")) == Epoch("scheduler/1", 1)
        row = await store.fence.read("scheduler/0")
        assert row is not None
        assert row.token == 7

    async def test_one_lease_claimed_at_once_by_many_becomes_one_epoch(
        self, store: Store, traits: StoreTraits
    ) -> None:
        async with traits.another() as other:
            claims = await race(lambda number: (store, other)[number % 2].fence.claim(lease(7)))
        assert sum(isinstance(claim, Epoch) for claim in claims) == 1

    async def test_tokens_claimed_at_once_get_epochs_in_their_order(
        self, store: Store, traits: StoreTraits
    ) -> None:
        async with traits.another() as other:
            claims = await race(
                lambda number: (store, other)[number % 2].fence.claim(lease(number + 1))
            )
        epochs = [claim.number for claim in claims if isinstance(claim, Epoch)]
        assert epochs == list(range(1, len(epochs) + 1))
        row = await store.fence.read(SCHEDULER)
        assert row is not None
        assert (row.epoch, row.token) == (len(epochs), len(claims))

    async def test_the_fence_is_seen_through_every_handle(
        self, store: Store, traits: StoreTraits
    ) -> None:
        await lead(store, token=3)
        async with traits.another() as other:
            assert await other.fence.read(SCHEDULER) == await store.fence.read(SCHEDULER)
            assert await other.fence.claim(lease(3)) == Outranked(SCHEDULER, 1)
