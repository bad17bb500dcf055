"""Cases: leases, one term at a time, each with a higher token."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.model.fleet.lease import Lease
from drumbeat.ports.coordinator import Coordinator
from drumbeat.testing.conformance.builders import ANNE, BERT, let_others_run, race, repeat_until
from drumbeat.testing.conformance.traits import CoordinatorTraits

TRIES = 10
"""At least one of this many tries must be in time. The case must hold in each try that is in time;
a try in which this process was late proves nothing."""
LOOK_AGAIN = timedelta(milliseconds=100)


async def acquired(
    coordinator: Coordinator, traits: CoordinatorTraits, name: str = "scheduler"
) -> Lease:
    """Acquire a term that lasts for the whole case."""
    lease = await coordinator.leases.acquire(name, ANNE, traits.lasting)
    assert lease is not None, f"{name} is vacant"
    return lease


async def briefly(coordinator: Coordinator, traits: CoordinatorTraits) -> Lease:
    """Acquire a term that soon expires."""
    lease = await coordinator.leases.acquire("scheduler", ANNE, traits.ttl)
    assert lease is not None, "the name is vacant"
    return lease


async def let_expire(coordinator: Coordinator, traits: CoordinatorTraits, lease: Lease) -> None:
    """Return when the term has ended, or should have ended."""
    await traits.pass_time(traits.expires_within)
    left = traits.overdue
    while left > timedelta(0) and await coordinator.leases.current(lease.name) == lease:
        await traits.pass_time(LOOK_AGAIN)
        left -= LOOK_AGAIN


async def is_renewed(coordinator: Coordinator, traits: CoordinatorTraits, name: str) -> bool:
    """Renew a term several times, in time. False if a renewal was late."""
    clock = SystemClock()
    sent_at = clock.elapsed()
    lease = await coordinator.leases.acquire(name, ANNE, traits.ttl)
    assert lease is not None
    for _ in range(4):
        await traits.pass_time(traits.ttl / 2)
        since, sent_at = sent_at, clock.elapsed()
        renewed = await coordinator.leases.renew(lease)
        if clock.elapsed() - since >= traits.ttl.total_seconds():
            return False
        assert renewed == lease
    refused = await coordinator.leases.acquire(name, BERT, traits.ttl) is None
    if clock.elapsed() - sent_at >= traits.ttl.total_seconds():
        return False
    assert refused
    return True


async def come_and_go(coordinator: Coordinator, traits: CoordinatorTraits) -> None:
    lease = await coordinator.leases.acquire("scheduler", ANNE, traits.ttl)
    if lease is not None:
        await coordinator.leases.release(lease)


async def win(coordinator: Coordinator, traits: CoordinatorTraits) -> Lease:
    """Wait for vacancies until the name can be acquired, as a follower does."""
    async for _ in coordinator.leases.vacancies("scheduler"):
        lease = await coordinator.leases.acquire("scheduler", BERT, traits.ttl)
        if lease is not None:
            return lease
    raise AssertionError("the stream of hints ended")


class LeaseConformance:
    """A name has one holder at a time, as long as that one renews."""

    async def test_a_vacant_name_is_acquired(
        self, coordinator: Coordinator, traits: CoordinatorTraits
    ) -> None:
        assert await coordinator.leases.current("scheduler") is None
        lease = await acquired(coordinator, traits)
        assert (lease.name, lease.holder, lease.ttl) == ("scheduler", ANNE, traits.lasting)
        assert lease.domain
        assert await coordinator.leases.current("scheduler") == lease

    async def test_a_held_name_is_refused(
        self, coordinator: Coordinator, traits: CoordinatorTraits
    ) -> None:
        lease = await acquired(coordinator, traits)
        assert await coordinator.leases.acquire("scheduler", BERT, traits.lasting) is None
        assert await coordinator.leases.current("scheduler") == lease

    async def test_a_name_is_refused_to_its_own_holder_too(
        self, coordinator: Coordinator, traits: CoordinatorTraits
    ) -> None:
        lease = await acquired(coordinator, traits)
        assert await coordinator.leases.acquire("scheduler", ANNE, traits.lasting) is None
        assert await coordinator.leases.renew(lease) == lease

    async def test_names_are_held_one_by_one(
        self, coordinator: Coordinator, traits: CoordinatorTraits
    ) -> None:
        await acquired(coordinator, traits, "scheduler/0")
        other = await coordinator.leases.acquire("scheduler/1", BERT, traits.lasting)
        assert other is not None
        assert await coordinator.leases.release(other)
        assert await coordinator.leases.current("scheduler/0") is not None
        assert await coordinator.leases.current("scheduler") is None

    async def test_a_lease_lasts_while_it_is_renewed(
        self, coordinator: Coordinator, traits: CoordinatorTraits
    ) -> None:
        for number in range(TRIES):
            if await is_renewed(coordinator, traits, f"scheduler/{number}"):
                return
        raise AssertionError("this machine is too busy to renew a term in time")

    async def test_a_lease_that_is_not_renewed_ends(
        self, coordinator: Coordinator, traits: CoordinatorTraits
    ) -> None:
        old = await briefly(coordinator, traits)
        await let_expire(coordinator, traits, old)
        assert await coordinator.leases.current("scheduler") is None
        lease = await coordinator.leases.acquire("scheduler", BERT, traits.lasting)
        assert lease is not None
        assert lease.holder == BERT

    async def test_an_expired_lease_cannot_be_renewed_even_if_nobody_took_its_place(
        self, coordinator: Coordinator, traits: CoordinatorTraits
    ) -> None:
        lease = await briefly(coordinator, traits)
        await let_expire(coordinator, traits, lease)
        assert await coordinator.leases.renew(lease) is None
        assert await coordinator.leases.current("scheduler") is None

    async def test_a_replaced_lease_cannot_be_renewed(
        self, coordinator: Coordinator, traits: CoordinatorTraits
    ) -> None:
        old = await briefly(coordinator, traits)
        await let_expire(coordinator, traits, old)
        new = await coordinator.leases.acquire("scheduler", BERT, traits.lasting)
        assert await coordinator.leases.renew(old) is None
        assert await coordinator.leases.current("scheduler") == new

    async def test_a_lease_is_not_renewed_by_a_later_term_of_the_same_holder(
        self, coordinator: Coordinator, traits: CoordinatorTraits
    ) -> None:
        old = await acquired(coordinator, traits)
        assert await coordinator.leases.release(old)
        new = await acquired(coordinator, traits)
        assert await coordinator.leases.renew(old) is None
        assert await coordinator.leases.renew(new) == new

    async def test_a_lease_is_not_renewed_for_another_holder(
        self, coordinator: Coordinator, traits: CoordinatorTraits
    ) -> None:
        lease = await acquired(coordinator, traits)
        assert await coordinator.leases.renew(replace(lease, holder=BERT)) is None
        assert await coordinator.leases.renew(replace(lease, token=lease.token + 1)) is None

    async def test_a_released_name_is_vacant_at_once(
        self, coordinator: Coordinator, traits: CoordinatorTraits
    ) -> None:
        lease = await acquired(coordinator, traits)
        assert await coordinator.leases.release(lease)
        assert await coordinator.leases.current("scheduler") is None
        assert await coordinator.leases.renew(lease) is None
        assert await coordinator.leases.acquire("scheduler", BERT, traits.lasting) is not None

    async def test_the_release_of_an_old_term_touches_nothing(
        self, coordinator: Coordinator, traits: CoordinatorTraits
    ) -> None:
        old = await acquired(coordinator, traits)
        assert await coordinator.leases.release(old)
        assert not await coordinator.leases.release(old)
        new = await acquired(coordinator, traits)
        assert not await coordinator.leases.release(old)
        assert await coordinator.leases.current("scheduler") == new
        assert await coordinator.leases.renew(new) == new

    async def test_the_release_of_an_expired_term_touches_nothing(
        self, coordinator: Coordinator, traits: CoordinatorTraits
    ) -> None:
        old = await briefly(coordinator, traits)
        await let_expire(coordinator, traits, old)
        assert not await coordinator.leases.release(old)
        new = await coordinator.leases.acquire("scheduler", BERT, traits.lasting)
        assert not await coordinator.leases.release(old)
        assert await coordinator.leases.current("scheduler") == new

    async def test_tokens_rise_over_all_terms_of_a_name(
        self, coordinator: Coordinator, traits: CoordinatorTraits
    ) -> None:
        tokens: list[int] = []
        for released in (True, False, True, False):
            lease = await briefly(coordinator, traits)
            tokens.append(lease.token)
            if released:
                await coordinator.leases.release(lease)
            else:
                await let_expire(coordinator, traits, lease)
        assert tokens == sorted(set(tokens))

    async def test_all_terms_are_of_one_domain(
        self, coordinator: Coordinator, traits: CoordinatorTraits
    ) -> None:
        async with traits.another() as other:
            first = await acquired(coordinator, traits, "a")
            second = await acquired(other, traits, "b")
        assert first.domain == second.domain

    async def test_a_name_wanted_at_once_by_many_goes_to_one(
        self, coordinator: Coordinator, traits: CoordinatorTraits
    ) -> None:
        async with traits.another() as other:
            leases = await race(
                lambda number: (coordinator, other)[number % 2].leases.acquire(
                    "scheduler", (ANNE, BERT)[number % 2], traits.lasting
                )
            )
            granted = [lease for lease in leases if lease is not None]
            assert len(granted) == 1
            assert await other.leases.current("scheduler") == granted[0]


class EvictionConformance:
    """The term of a dead holder is ended by others, and never a later one."""

    async def test_another_handle_evicts_the_holder_of_a_term(
        self, coordinator: Coordinator, traits: CoordinatorTraits
    ) -> None:
        lease = await acquired(coordinator, traits)
        async with traits.another() as other:
            seen = await other.leases.current("scheduler")
            assert seen is not None
            assert await other.leases.evict(seen)
            assert await other.leases.current("scheduler") is None
            assert await coordinator.leases.renew(lease) is None
            new = await other.leases.acquire("scheduler", BERT, traits.lasting)
            assert new is not None
            assert new.token > lease.token

    async def test_the_eviction_of_an_old_term_touches_nothing(
        self, coordinator: Coordinator, traits: CoordinatorTraits
    ) -> None:
        old = await acquired(coordinator, traits)
        assert await coordinator.leases.evict(old)
        assert not await coordinator.leases.evict(old)
        new = await acquired(coordinator, traits)
        assert not await coordinator.leases.evict(old)
        assert await coordinator.leases.current("scheduler") == new
        assert await coordinator.leases.renew(new) == new

    async def test_a_term_is_not_evicted_by_the_name_of_another_holder(
        self, coordinator: Coordinator, traits: CoordinatorTraits
    ) -> None:
        lease = await acquired(coordinator, traits)
        assert not await coordinator.leases.evict(replace(lease, holder=BERT))
        assert not await coordinator.leases.evict(replace(lease, token=lease.token + 1))
        assert not await coordinator.leases.evict(replace(lease, domain="another"))
        assert await coordinator.leases.renew(lease) == lease

    async def test_the_eviction_of_an_expired_term_touches_nothing(
        self, coordinator: Coordinator, traits: CoordinatorTraits
    ) -> None:
        old = await briefly(coordinator, traits)
        await let_expire(coordinator, traits, old)
        assert not await coordinator.leases.evict(old)
        new = await coordinator.leases.acquire("scheduler", BERT, traits.lasting)
        assert not await coordinator.leases.evict(old)
        assert await coordinator.leases.current("scheduler") == new

    async def test_a_term_evicted_at_once_by_many_is_over(
        self, coordinator: Coordinator, traits: CoordinatorTraits
    ) -> None:
        lease = await acquired(coordinator, traits)
        async with traits.another() as other:
            ended = await race(lambda number: (coordinator, other)[number % 2].leases.evict(lease))
            assert any(ended)
            assert await other.leases.current("scheduler") is None


class VacancyConformance:
    """A node that waits for a name is woken when it may be vacant."""

    async def test_waiting_candidates_are_woken_by_a_release(
        self, coordinator: Coordinator, traits: CoordinatorTraits
    ) -> None:
        lease = await acquired(coordinator, traits)
        async with (
            asyncio.timeout(traits.patience),
            traits.another() as other,
            asyncio.TaskGroup() as group,
        ):
            campaign = group.create_task(win(other, traits))
            await let_others_run()
            await coordinator.leases.release(lease)
            await repeat_until(campaign, lambda: come_and_go(coordinator, traits))
        assert campaign.result().token > lease.token

    async def test_waiting_candidates_are_woken_when_a_term_expires(
        self, coordinator: Coordinator, traits: CoordinatorTraits
    ) -> None:
        lease = await briefly(coordinator, traits)
        async with (
            asyncio.timeout(traits.patience),
            traits.another() as other,
            asyncio.TaskGroup() as group,
        ):
            campaign = group.create_task(win(other, traits))
            await let_others_run()
            await let_expire(coordinator, traits, lease)
        assert campaign.result().token > lease.token

    async def test_waiting_candidates_are_woken_by_an_eviction(
        self, coordinator: Coordinator, traits: CoordinatorTraits
    ) -> None:
        lease = await acquired(coordinator, traits)
        async with (
            asyncio.timeout(traits.patience),
            traits.another() as other,
            asyncio.TaskGroup() as group,
        ):
            campaign = group.create_task(win(other, traits))
            await let_others_run()
            assert await other.leases.evict(lease)
        assert campaign.result().token > lease.token
