"""The Redis coordinator against the suite of all coordinators: on Redis, Valkey and Sentinel."""

from __future__ import annotations

import asyncio
import gc
import threading
import warnings
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest

from drumbeat.backends.redis.coordinator import RedisCoordinator
from drumbeat.model.fleet.lease import Entry
from drumbeat.ports.coordinator import Coordinator
from drumbeat.testing.conformance import CoordinatorConformance, CoordinatorTraits
from drumbeat.testing.conformance.builders import ANNE, BERT, node
from servers import Redis, Sentinel, Valkey

from .redis_cases import (
    CLOCK,
    EXPIRES_WITHIN,
    LASTING,
    TTL,
    connected,
    new_namespace,
    pass_time,
    wait_until_granting,
    won,
)

SOON = 30.0


class RedisConformance(CoordinatorConformance):
    """The suite, hooked up to whatever server a subclass names."""

    @pytest.fixture
    def namespace(self) -> str:
        return new_namespace()

    @pytest.fixture
    async def coordinator(self, address: str, namespace: str) -> AsyncIterator[Coordinator]:
        async with connected(address, namespace) as coordinator:
            await wait_until_granting(coordinator, LASTING)
            yield coordinator

    @pytest.fixture
    def traits(self, address: str, namespace: str) -> CoordinatorTraits:
        return CoordinatorTraits(
            lambda: connected(address, namespace), pass_time, TTL, EXPIRES_WITHIN, LASTING
        )


class TestRedisCoordinator(RedisConformance):
    @pytest.fixture
    def address(self, redis: Redis) -> str:
        return redis.address

    async def test_a_server_that_was_emptied_is_another_domain(
        self, coordinator: Coordinator, redis: Redis, namespace: str
    ) -> None:
        old = await coordinator.leases.acquire("scheduler", ANNE, TTL)
        assert old is not None
        redis.ask("DEL", *(f"{{{namespace}}}:{rest}" for rest in ("domain", "lease:scheduler")))
        assert await coordinator.leases.renew(old) is None
        new = await coordinator.leases.acquire("scheduler", BERT, TTL)
        assert new is not None
        assert new.domain != old.domain
        assert new.token > old.token
        assert not await coordinator.leases.release(old)
        as_if = replace(new, domain=old.domain)
        assert await coordinator.leases.renew(as_if) is None
        assert not await coordinator.leases.release(as_if)

    async def test_a_number_that_was_lost_is_not_given_out_again(
        self, coordinator: Coordinator, redis: Redis, namespace: str
    ) -> None:
        old = await coordinator.leases.acquire("scheduler", ANNE, TTL)
        entry = await coordinator.configuration.put("key", b"1")
        assert old is not None
        redis.ask("DEL", f"{{{namespace}}}:number", f"{{{namespace}}}:lease:scheduler")
        await pass_time(timedelta(milliseconds=2))
        new = await coordinator.leases.acquire("scheduler", ANNE, TTL)
        assert new is not None
        assert (new.domain, new.token > entry.revision > old.token) == (old.domain, True)

    async def test_everything_is_kept_under_one_hash_tag(
        self, redis: Redis, namespace: str
    ) -> None:
        with Redis.start() as server:  # one of our own: every key is ours
            async with connected(server.address, namespace) as coordinator:
                await won(coordinator)
                await coordinator.registry.register(node(), TTL)
                await coordinator.configuration.put("key", b"1")
                keys = server.ask("KEYS", "*").split("\r\n")[2::2]
        assert keys
        for key in keys:
            assert key.startswith(f"{{{namespace}}}:")

    async def test_names_that_were_held_leave_nothing_behind(
        self, coordinator: Coordinator, redis: Redis, namespace: str
    ) -> None:
        for number in range(20):
            lease = await coordinator.leases.acquire(f"lock/{number}", ANNE, TTL)
            assert lease is not None
            await coordinator.leases.release(lease)
        assert redis.ask("KEYS", f"{{{namespace}}}:lease:*") == "*0\r\n"

    async def test_a_node_that_was_killed_is_noticed_without_a_message(
        self, coordinator: Coordinator
    ) -> None:
        async with asyncio.timeout(SOON):
            while True:
                await coordinator.registry.register(node(), TTL)
                changes = coordinator.registry.changes()
                await anext(changes)
                if await coordinator.registry.nodes():
                    break  # so it was seen while it lived
            await anext(changes)
        assert list(await coordinator.registry.nodes()) == []

    async def test_those_who_wait_are_told_and_do_not_only_look_now_and_then(
        self, traits: CoordinatorTraits, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(f"{RedisCoordinator.__module__}.LOOK_AGAIN", timedelta(hours=1))
        async with traits.another() as one, traits.another() as other, asyncio.timeout(SOON):
            watch = one.configuration.watch("key")
            assert await anext(watch) is None
            for number in range(3):
                seen = asyncio.create_task(next_of(watch))
                await pass_time(timedelta(milliseconds=50))  # it has looked, and sleeps
                entry = await other.configuration.put("key", str(number).encode())
                assert await seen == entry

    async def test_it_serves_the_loops_of_several_threads_and_is_closed_on_each(
        self, address: str, redis: Redis, namespace: str
    ) -> None:
        coordinator = RedisCoordinator(address, CLOCK, namespace)
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever)
        thread.start()
        try:
            there = asyncio.run_coroutine_threadsafe(
                coordinator.configuration.put("key", b"1"), loop
            )
            entry = await asyncio.wrap_future(there)
            assert await coordinator.configuration.get("key") == entry
            await coordinator.close()
        finally:
            loop.call_soon_threadsafe(loop.stop)
            await asyncio.to_thread(thread.join, 10)
        with warnings.catch_warnings():
            warnings.simplefilter("error", ResourceWarning)
            loop.close()
            gc.collect()

    async def test_it_can_be_used_again_after_it_was_closed(
        self, address: str, namespace: str
    ) -> None:
        coordinator = RedisCoordinator(address, CLOCK, namespace)
        for _ in range(2):
            entry = await coordinator.configuration.put("key", b"1")
            assert await anext(coordinator.configuration.watch("key")) == entry
            await coordinator.close()
            await coordinator.close()


async def next_of(watch: AsyncIterator[Entry | None]) -> Entry | None:
    return await anext(watch)


class TestValkeyCoordinator(RedisConformance):
    @pytest.fixture
    def address(self, valkey: Valkey) -> str:
        return valkey.address


class TestSentinelCoordinator(RedisConformance):
    @pytest.fixture
    def address(self, sentinel: Sentinel) -> str:
        return sentinel.address
