"""The memory coordinator against the suite that it is the specification of."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from threading import Thread

import pytest

from drumbeat.backends.memory.coordinator import MemoryCoordinator
from drumbeat.backends.no_election import EveryoneLeads, NoElection
from drumbeat.model.fleet.lease import Lease
from drumbeat.ports.coordinator import Coordinator
from drumbeat.testing.conformance import CoordinatorConformance, CoordinatorTraits
from drumbeat.testing.conformance.builders import ANNE, BERT, let_others_run, node

from .hand_clock import HandClock

TTL = timedelta(seconds=10)


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


class TestMemoryCoordinator(CoordinatorConformance):
    @pytest.fixture
    async def coordinator(self, clock: HandClock) -> AsyncIterator[Coordinator]:
        coordinator = MemoryCoordinator(clock, domain="test")
        await coordinator.open()
        yield coordinator
        await coordinator.close()

    @pytest.fixture
    def traits(self, coordinator: Coordinator, clock: HandClock) -> CoordinatorTraits:
        @asynccontextmanager
        async def another() -> AsyncGenerator[Coordinator]:
            yield coordinator  # one truth in one process: its handles are the object itself

        return CoordinatorTraits(another, clock.advance, ttl=TTL, expires_within=TTL)

    async def test_a_term_ends_at_its_ttl_and_not_before(
        self, coordinator: Coordinator, clock: HandClock
    ) -> None:
        await coordinator.leases.acquire("scheduler", ANNE, TTL)
        await clock.advance(timedelta(seconds=9.999))
        assert await coordinator.leases.current("scheduler") is not None
        await clock.advance(timedelta(seconds=0.001))
        assert await coordinator.leases.current("scheduler") is None

    async def test_a_vacant_name_is_hinted_at_once_and_once(
        self, coordinator: Coordinator, clock: HandClock
    ) -> None:
        vacancies = coordinator.leases.vacancies("scheduler")
        await anext(vacancies)
        async with asyncio.TaskGroup() as group:
            waiting = group.create_task(_next(vacancies))
            await let_others_run()
            assert not waiting.done()
            lease = await coordinator.leases.acquire("scheduler", ANNE, TTL)
            await let_others_run()
            assert not waiting.done()
            assert lease is not None
            await coordinator.leases.release(lease)

    async def test_renewals_put_the_alarm_of_those_who_wait_off(
        self, coordinator: Coordinator, clock: HandClock
    ) -> None:
        lease = await coordinator.leases.acquire("scheduler", ANNE, TTL)
        assert lease is not None
        async with asyncio.TaskGroup() as group:
            waiting = group.create_task(_next(coordinator.leases.vacancies("scheduler")))
            for _ in range(4):
                await clock.advance(TTL / 2)
                await coordinator.leases.renew(lease)
            assert not waiting.done()
            await clock.advance(TTL)

    async def test_the_end_of_a_nodes_time_is_told(
        self, coordinator: Coordinator, clock: HandClock
    ) -> None:
        await coordinator.registry.register(node(), TTL)
        async with asyncio.TaskGroup() as group:
            waiting = group.create_task(_next(coordinator.registry.changes()))
            await let_others_run()
            await coordinator.registry.register(node(), TTL)  # the same again is no news
            await let_others_run()
            assert not waiting.done()
            await clock.advance(TTL)
        assert list(await coordinator.registry.nodes()) == []

    async def test_a_release_in_another_thread_wakes_those_who_wait_here(
        self, coordinator: Coordinator
    ) -> None:
        lease = await coordinator.leases.acquire("scheduler", ANNE, TTL)
        assert lease is not None
        async with asyncio.timeout(40), asyncio.TaskGroup() as group:
            waiting = group.create_task(_next(coordinator.leases.vacancies("scheduler")))
            await let_others_run()
            released: list[bool] = []

            def release(held: Lease = lease) -> None:
                released.append(asyncio.run(_release(coordinator, held)))

            thread = Thread(target=release)
            thread.start()
            await waiting
        thread.join()
        assert released == [True]


class TestNoElection:
    @pytest.fixture
    def coordinator(self, clock: HandClock) -> NoElection:
        return NoElection(EveryoneLeads(clock, "alone"), MemoryCoordinator(clock, "shared"))

    async def test_a_lock_has_one_holder(self, coordinator: NoElection) -> None:
        first = await coordinator.leases.acquire("lock/deploy", ANNE, TTL)
        assert first is not None
        assert await coordinator.leases.acquire("lock/deploy", BERT, TTL) is None
        assert await coordinator.leases.current("lock/deploy") == first
        assert await coordinator.leases.renew(first) == first
        assert await coordinator.leases.release(first)
        assert await coordinator.leases.acquire("lock/deploy", BERT, TTL) is not None

    async def test_every_candidate_leads(self, clock: HandClock, coordinator: NoElection) -> None:
        leases = coordinator.leases
        first = await leases.acquire("scheduler", ANNE, TTL)
        second = await leases.acquire("scheduler", BERT, TTL)
        assert first is not None
        assert second is not None
        assert first.token < second.token
        await clock.advance(TTL * 10)
        assert await leases.renew(first) == first
        assert await leases.current("scheduler") == second
        assert not await leases.release(first)
        assert await leases.release(second)
        await anext(aiter(leases.vacancies("scheduler")))


async def _next(hints: AsyncIterator[None]) -> None:
    await anext(hints)


async def _release(coordinator: Coordinator, lease: Lease) -> bool:
    return await coordinator.leases.release(lease)
