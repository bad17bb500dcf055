"""The MongoDB coordinator when the server is killed, paused, cut off or slow to answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager
from datetime import timedelta
from typing import TypeVar

import pytest

from drumbeat.backends.mongo.coordinator import MongoCoordinator
from drumbeat.model.errors import Unavailable
from drumbeat.model.fleet.lease import Lease
from drumbeat.ports.coordinator import Coordinator
from drumbeat.testing.conformance.builders import ANNE, BERT, let_others_run
from servers import FaultProxy, GivenMongo, Mongo
from servers.mongo import REPLICA_SET

from .mongo_cases import CLOCK, LEAVING_CONNECTIONS, new_namespace

pytestmark = LEAVING_CONNECTIONS
T = TypeVar("T")

TTL = timedelta(seconds=2)
LONG = timedelta(seconds=60)
"""A TTL that outlasts the restart of a server on a busy machine."""
SOON = 60.0
"""Seconds that a busy machine may take for what comes by itself."""
MOMENT = timedelta(milliseconds=50)
UNCONFIRMED = {"code": 64, "codeName": "WriteConcernTimeout", "errmsg": "waiting timed out"}


@pytest.fixture(params=["standalone", "replica set"])
def server(request: pytest.FixtureRequest, mongo: Mongo | GivenMongo) -> Iterator[Mongo]:
    """One of our own, since we will break it; skipped where the shared one is."""
    with Mongo.start(REPLICA_SET if request.param == "replica set" else {}) as server:
        yield server


@asynccontextmanager
async def coordinating(
    address: str, namespace: str | None = None
) -> AsyncGenerator[MongoCoordinator]:
    coordinator = MongoCoordinator(address, CLOCK, namespace or new_namespace())
    try:
        await coordinator.open()
        yield coordinator
    finally:
        await coordinator.close()


async def until_it_answers(ask: Callable[[], Awaitable[T]]) -> T:
    """Ask again while the server is away. The connection has to recover by itself."""
    async with asyncio.timeout(SOON):
        while True:
            try:
                return await ask()
            except Unavailable:
                await CLOCK.sleep(MOMENT.total_seconds())


async def acquired(coordinator: Coordinator, ttl: timedelta) -> Lease:
    lease = await coordinator.leases.acquire("scheduler", ANNE, ttl)
    assert lease is not None
    return lease


async def test_a_term_and_a_value_outlive_a_server_that_is_killed_and_started_again(
    server: Mongo, in_production: Callable[[], AbstractContextManager[None]]
) -> None:
    with in_production():
        async with coordinating(server.address) as coordinator:
            lease = await acquired(coordinator, LONG)
            entry = await coordinator.configuration.put("key", b"1")
            server.kill()
            with pytest.raises(Unavailable, match=f"127.0.0.1:{server.port}"):
                await coordinator.leases.renew(lease)
            server.start_again()
            assert await until_it_answers(lambda: coordinator.leases.renew(lease)) == lease
            assert await coordinator.leases.acquire("scheduler", BERT, TTL) is None
            assert await coordinator.configuration.get("key") == entry


async def test_a_term_ends_while_the_server_is_away(server: Mongo) -> None:
    async with coordinating(server.address) as coordinator:
        lease = await acquired(coordinator, TTL)
        server.kill()
        await CLOCK.sleep(TTL.total_seconds())
        server.start_again()
        assert await until_it_answers(lambda: coordinator.leases.renew(lease)) is None
        later = await coordinator.leases.acquire("scheduler", BERT, TTL)
        assert later is not None
        assert (later.domain, later.token > lease.token) == (lease.domain, True)


async def test_a_paused_server_keeps_nobody_waiting_and_renews_nothing_afterwards(
    server: Mongo, in_production: Callable[[], AbstractContextManager[None]]
) -> None:
    with in_production():
        async with coordinating(server.address) as coordinator:
            lease = await acquired(coordinator, TTL)
            server.pause()
            asked = CLOCK.elapsed()
            with pytest.raises(Unavailable):
                async with asyncio.timeout(SOON):
                    await coordinator.leases.renew(lease)
            assert CLOCK.elapsed() - asked < SOON
            server.resume()
            assert await until_it_answers(lambda: coordinator.leases.renew(lease)) is None
            assert await coordinator.leases.acquire("scheduler", BERT, TTL) is not None


async def test_a_write_whose_answer_is_lost_was_made_once(server: Mongo) -> None:
    namespace = new_namespace()
    with FaultProxy.start(server.port) as proxy:
        address = f"mongodb://127.0.0.1:{proxy.port}/test?directConnection=true"
        async with (
            coordinating(address, namespace) as coordinator,
            coordinating(server.address, namespace) as beside,
        ):
            before = await coordinator.configuration.put("key", b"1")
            proxy.stall("to_client")
            put = asyncio.create_task(coordinator.configuration.put("key", b"2"))
            async with asyncio.timeout(SOON):
                while (entry := await beside.configuration.get("key")) == before:
                    await CLOCK.sleep(MOMENT.total_seconds())  # until it was made
            proxy.cut_all()
            proxy.heal()
            with pytest.raises(Unavailable, match="the connection failed"):
                await put
            assert entry is not None
            assert (entry.value, entry.revision) == (b"2", before.revision + 1)
            assert await until_it_answers(lambda: coordinator.configuration.get("key")) == entry


async def test_a_term_that_no_majority_has_confirmed_is_in_doubt_and_not_granted(
    server: Mongo,
) -> None:
    async with coordinating(server.address) as coordinator:
        server.fail(["update"], {"writeConcernError": UNCONFIRMED}, times=1)
        with pytest.raises(Unavailable, match="a majority of the replica set has not confirmed"):
            await coordinator.leases.acquire("scheduler", ANNE, LONG)
        assert await coordinator.leases.acquire("scheduler", BERT, LONG) is None, "it was written"


async def test_those_who_wait_hear_again_after_the_server_was_restarted(
    server: Mongo, in_production: Callable[[], AbstractContextManager[None]]
) -> None:
    with in_production():
        async with coordinating(server.address) as coordinator:
            watch = coordinator.configuration.watch("key")
            assert await anext(watch) is None
            async with asyncio.timeout(2 * SOON), asyncio.TaskGroup() as group:
                seen = group.create_task(until_it_answers(lambda: anext(watch)))
                await let_others_run()
                server.kill()
                server.start_again()
                entry = await until_it_answers(lambda: coordinator.configuration.put("key", b"1"))
            assert seen.result() == entry
