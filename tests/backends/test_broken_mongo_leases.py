"""The suite bites on a real server: broken leases of MongoDB fail the cases named for them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from inspect import signature

import pytest

from drumbeat.backends.mongo.coordinator import MongoCoordinator
from drumbeat.backends.mongo.coordinator.leases import MongoLeases
from drumbeat.testing.conformance import CoordinatorConformance, CoordinatorTraits
from servers import GivenMongo, Mongo

from .broken.mongo_leases import (
    DeletesOnRelease,
    ReadsThenWrites,
    RenewsByHolder,
    RenewsWhatHasExpired,
)
from .mongo_cases import CLOCK, LEAVING_CONNECTIONS, namespace_on

pytestmark = LEAVING_CONNECTIONS
Case = Callable[..., Awaitable[None]]
suite = CoordinatorConformance
TTL = timedelta(seconds=0.6)

BROKEN: dict[type[MongoLeases], Sequence[Case]] = {
    RenewsWhatHasExpired: [
        suite.test_an_expired_lease_cannot_be_renewed_even_if_nobody_took_its_place
    ],
    RenewsByHolder: [suite.test_a_lease_is_not_renewed_by_a_later_term_of_the_same_holder],
    DeletesOnRelease: [suite.test_tokens_rise_over_all_terms_of_a_name],
    ReadsThenWrites: [suite.test_a_name_wanted_at_once_by_many_goes_to_one],
}


@pytest.mark.parametrize(
    ("leases", "case"), [(leases, case) for leases, cases in BROKEN.items() for case in cases]
)
async def test_broken_leases_fail_the_case_named_for_them(
    mongo: Mongo | GivenMongo, leases: type[MongoLeases], case: Case
) -> None:
    with pytest.raises(AssertionError):
        await run(case, mongo.address, leases)
    await run(case, mongo.address, MongoLeases)


async def run(case: Case, address: str, leases: type[MongoLeases]) -> None:
    async with namespace_on(address) as namespace:

        @asynccontextmanager
        async def another() -> AsyncGenerator[MongoCoordinator]:
            coordinator = MongoCoordinator(address, CLOCK, namespace)
            given = coordinator.leases
            coordinator.leases = leases(given._server, given._waiter, given._settling)  # pyright: ignore[reportPrivateUsage] - the same parts
            try:
                await coordinator.open()
                yield coordinator
            finally:
                await coordinator.close()

        async with another() as coordinator:
            late = TTL + timedelta(seconds=0.05)
            traits = CoordinatorTraits(another, pass_time, TTL, late)
            fixtures = {"coordinator": coordinator, "traits": traits}
            wanted = [name for name in signature(case).parameters if name != "self"]
            await case(suite(), **{name: fixtures[name] for name in wanted})


async def pass_time(length: timedelta) -> None:
    await CLOCK.sleep(length.total_seconds())
