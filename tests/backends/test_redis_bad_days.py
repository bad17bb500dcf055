"""The Redis coordinator when the server is wrong, gone, emptied, paused or replaced."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager
from datetime import timedelta
from typing import TypeVar

import pytest

from drumbeat.backends.redis.connection.client import ANSWER_WITHIN
from drumbeat.backends.redis.coordinator import RedisCoordinator
from drumbeat.model.errors import ConfigurationError, Unavailable
from drumbeat.model.fleet.lease import Lease
from drumbeat.ports.coordinator import Coordinator
from drumbeat.testing.conformance.builders import ANNE, BERT, let_others_run
from servers import FaultProxy, Redis, Sentinel

from .redis_cases import (
    CLOCK,
    PASSWORD,
    connected,
    hold_renew_and_release,
    new_namespace,
    pass_time,
    refusal_of,
    won,
)

T = TypeVar("T")

TTL = timedelta(seconds=2)
LONG = timedelta(seconds=10)
"""A TTL that outlasts the restart of a server on a busy machine."""
SOON = 40.0
"""Seconds that a busy machine may take for what comes by itself."""
MOMENT = timedelta(milliseconds=50)


@pytest.fixture
def server(redis: Redis) -> Iterator[Redis]:
    """One of our own, since we will break it; skipped where the shared one is."""
    with Redis.start() as server:
        yield server


async def until_it_answers(ask: Callable[[], Awaitable[T]], patience: float = SOON) -> T:
    """Ask again while the server is away. The connection has to recover by itself."""
    async with asyncio.timeout(patience):
        while True:
            try:
                return await ask()
            except Unavailable:
                await pass_time(MOMENT)


async def win_in_the_end(coordinator: Coordinator, ttl: timedelta = TTL) -> tuple[Lease, float]:
    """A term of Bert's, and when it was granted at the latest: a busy server takes its time."""

    async def campaign() -> tuple[Lease, float]:
        while True:
            lease = await coordinator.leases.acquire("scheduler", BERT, ttl)
            if lease is not None:
                return lease, CLOCK.elapsed()
            await pass_time(MOMENT)

    return await until_it_answers(campaign)


@asynccontextmanager
async def held(
    server: Redis | Sentinel, ttl: timedelta = TTL
) -> AsyncGenerator[tuple[RedisCoordinator, Lease]]:
    async with connected(server.address, new_namespace()) as coordinator:
        yield coordinator, await won(coordinator, ttl=ttl)


async def test_a_server_that_is_not_there_is_named_without_the_password() -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        port = nobody.getsockname()[1]
        refusal = await refusal_of(f"redis://anna:{PASSWORD}@127.0.0.1:{port}")
    assert isinstance(refusal, Unavailable)
    assert str(refusal).startswith(f"Redis at 127.0.0.1:{port} is not available: the connection")


async def test_sentinels_that_are_not_there_are_all_named() -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        port = nobody.getsockname()[1]
        where = f"127.0.0.1:{port},localhost:{port}"
        refusal = await refusal_of(f"redis+sentinel://:{PASSWORD}@{where}/mymaster")
    assert isinstance(refusal, Unavailable)
    assert f"(Sentinels 127.0.0.1:{port}, localhost:{port})" in str(refusal)


async def test_sentinels_that_do_not_know_the_primary_say_so(sentinel: Sentinel) -> None:
    refusal = await refusal_of(sentinel.address.replace("mymaster", "other"))
    assert "no Sentinel knows the primary 'other'" in str(refusal)


async def test_a_wrong_password_is_an_error_of_the_settings(server: Redis) -> None:
    server.ask("CONFIG", "SET", "requirepass", "right")
    for user in ("", f":{PASSWORD}@", f"anna:{PASSWORD}@"):
        refusal = await refusal_of(f"redis://{user}127.0.0.1:{server.port}")
        assert isinstance(refusal, ConfigurationError)
        assert "rejects the user name or the password of the address" in str(refusal)
    async with connected(f"redis://:right@127.0.0.1:{server.port}", "ok") as coordinator:
        assert await coordinator.configuration.get("key") is None


async def test_a_user_with_access_to_our_keys_alone_is_enough(server: Redis) -> None:
    rules = "on >secret ~{ours}:* &{ours}:* +@read +@write +@pubsub +@connection +@scripting"
    server.ask("ACL", "SETUSER", "anna", *rules.split(), "+info", "+time")
    address = f"redis://anna:secret@127.0.0.1:{server.port}"
    async with connected(address, "ours") as coordinator:
        await hold_renew_and_release(coordinator)
        await coordinator.configuration.put("key", b"1")
        assert await anext(coordinator.configuration.watch("key")) is not None
    async with connected(address, "theirs") as coordinator:
        with pytest.raises(Unavailable, match="its access rules deny the user"):
            await coordinator.leases.acquire("scheduler", ANNE, TTL)


async def test_a_server_that_may_drop_keys_is_refused_unless_that_is_accepted(
    server: Redis, caplog: pytest.LogCaptureFixture
) -> None:
    for policy in ("allkeys-lru", "volatile-ttl"):
        server.ask("CONFIG", "SET", "maxmemory-policy", policy)
        refusal = await refusal_of(server.address)
        assert isinstance(refusal, ConfigurationError)
        assert f"has maxmemory-policy {policy}" in str(refusal)
        assert "set maxmemory-policy to noeviction" in str(refusal)
    assert caplog.text == ""
    async with connected(f"{server.address}?allow_eviction=true", "risky") as coordinator:
        assert await coordinator.configuration.get("key") is None
    assert "this was accepted by allow_eviction=true" in caplog.text


async def test_a_replica_is_refused(server: Redis) -> None:
    with Redis.start({"replicaof": f"127.0.0.1 {server.port}"}) as replica:
        refusal = await refusal_of(replica.address)
        replica.kill()  # it would rather end its synchronisation first
    assert isinstance(refusal, ConfigurationError)
    assert f"is a read-only replica of 127.0.0.1:{server.port}; name the primary" in str(refusal)


async def test_a_primary_that_becomes_a_replica_takes_no_writes(server: Redis) -> None:
    async with held(server, LONG) as (coordinator, lease):  # one that ran out is not written to
        server.ask("REPLICAOF", "127.0.0.1", "1")
        with pytest.raises(Unavailable, match="it is a read-only replica; name the primary"):
            await coordinator.leases.renew(lease)


async def test_a_full_server_says_so_and_recovers(server: Redis) -> None:
    async with held(server) as (coordinator, _):
        server.ask("CONFIG", "SET", "maxmemory", "1")
        with pytest.raises(Unavailable, match="it has no memory left; raise its maxmemory"):
            await coordinator.configuration.put("key", b"1")
        server.ask("CONFIG", "SET", "maxmemory", "0")
        entry = await coordinator.configuration.put("key", b"1")
        assert await coordinator.configuration.get("key") == entry


async def test_a_server_that_forgot_the_scripts_is_taught_again(server: Redis) -> None:
    async with connected(server.address, new_namespace()) as coordinator:
        await hold_renew_and_release(coordinator)
        server.ask("SCRIPT", "FLUSH")
        await hold_renew_and_release(coordinator)


async def test_a_term_outlives_a_server_that_is_killed_and_started_again(redis: Redis) -> None:
    with Redis.start({"appendfsync": "always"}) as server:  # else it may lose its last seconds
        async with held(server, LONG) as (coordinator, lease):
            server.kill()
            with pytest.raises(Unavailable, match=f"127.0.0.1:{server.port}"):
                await coordinator.leases.renew(lease)
            server.start_again()
            assert await until_it_answers(lambda: coordinator.leases.renew(lease)) == lease
            assert await coordinator.leases.acquire("scheduler", BERT, TTL) is None
            assert await coordinator.leases.release(lease)
            new, _ = await win_in_the_end(coordinator)
            assert (new.domain, new.token > lease.token) == (lease.domain, True)


async def test_a_server_that_was_emptied_appoints_nobody_while_the_last_may_trust_its_term(
    server: Redis,
) -> None:
    async with held(server, LONG) as (coordinator, lease):
        asked = CLOCK.elapsed()
        assert await coordinator.leases.renew(lease) == lease
        server.kill()
        server.restart_empty()
        assert await until_it_answers(lambda: coordinator.leases.renew(lease)) is None
        assert await coordinator.leases.acquire("scheduler", BERT, LONG) is None
        new, granted = await win_in_the_end(coordinator, LONG)
        assert granted >= asked + LONG.total_seconds() - MOMENT.total_seconds()
        assert new.domain != lease.domain
        assert new.token > lease.token
        assert not await coordinator.leases.release(lease)


async def test_a_server_that_started_at_the_end_of_a_second_pauses_no_shorter(redis: Redis) -> None:
    """It tells its age by the seconds that have begun since."""
    begun = CLOCK.now().microsecond / 1_000_000
    await CLOCK.sleep((0.8 - begun) % 1)
    before = CLOCK.elapsed()
    with Redis.start() as server:
        async with connected(server.address, new_namespace()) as coordinator:
            while "uptime_in_seconds:0" in server.ask("INFO", "server"):
                await pass_time(MOMENT)
            _, granted = await win_in_the_end(coordinator)
    assert granted >= before + TTL.total_seconds()


async def test_those_who_wait_are_woken_at_the_end_of_the_pause(
    server: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "drumbeat.backends.redis.coordinator.coordinator.LOOK_AGAIN", timedelta(hours=1)
    )
    async with held(server) as (coordinator, lease):
        server.kill()
        server.restart_empty()
        async with asyncio.timeout(SOON):
            new = await until_it_answers(lambda: won(coordinator, candidate=BERT, ttl=TTL))
        assert new.domain != lease.domain


async def test_a_server_that_stands_still_is_unavailable_and_its_terms_run_out(
    server: Redis, in_production: Callable[[], AbstractContextManager[None]]
) -> None:
    async with held(server) as (coordinator, lease):
        server.pause()
        since = CLOCK.elapsed()
        async with asyncio.timeout(SOON):
            with in_production(), pytest.raises(Unavailable, match="it does not answer"):
                await coordinator.leases.renew(lease)
        assert CLOCK.elapsed() - since > 0.9 * ANSWER_WITHIN > TTL.total_seconds()
        server.resume()
        assert await until_it_answers(lambda: coordinator.leases.renew(lease)) is None
        new, _ = await win_in_the_end(coordinator)
        assert new.token > lease.token


async def test_what_was_not_answered_is_not_sent_again(
    server: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("drumbeat.backends.redis.connection.client.ANSWER_WITHIN", SOON)
    with FaultProxy.start(server.port) as proxy:
        address = f"redis://127.0.0.1:{proxy.port}"
        async with connected(address, new_namespace()) as coordinator:
            await coordinator.configuration.put("key", b"1")
            before = runs(server)
            proxy.stall("to_client")
            put = asyncio.create_task(coordinator.configuration.put("key", b"2"))
            async with asyncio.timeout(SOON):
                while runs(server) == before:  # it has run, and nobody was told
                    await pass_time(MOMENT)
            proxy.cut_all()
            proxy.heal()
            with pytest.raises(Unavailable, match="the connection failed"):
                await put
            assert runs(server) == before + 1
            entry = await until_it_answers(lambda: coordinator.configuration.get("key"))
            assert entry is not None
            assert entry.value == b"2"


def runs(server: Redis) -> int:
    """How many scripts the server was asked to run by their digest."""
    for line in server.ask("INFO", "commandstats").splitlines():
        if line.startswith("cmdstat_evalsha:calls="):
            return int(line.removeprefix("cmdstat_evalsha:calls=").partition(",")[0])
    return 0


async def test_a_call_can_be_cancelled_at_any_point(server: Redis) -> None:
    turns = 0
    while True:
        coordinator = RedisCoordinator(server.address, CLOCK, "cancelled")
        call = asyncio.create_task(coordinator.configuration.get("key"))
        for _ in range(turns):
            await let_others_run()
        if call.done():
            await coordinator.close()
            break
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await coordinator.close()
        turns = turns + 1 if turns < 60 else turns * 2  # however long the server takes


async def test_those_who_wait_hear_again_after_the_server_was_restarted(
    server: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "drumbeat.backends.redis.coordinator.coordinator.LOOK_AGAIN", timedelta(hours=1)
    )
    async with connected(server.address, "watched") as coordinator:
        watch = coordinator.configuration.watch("key")
        assert await anext(watch) is None
        async with asyncio.timeout(2 * SOON), asyncio.TaskGroup() as group:
            seen = group.create_task(until_it_answers(lambda: anext(watch)))
            await let_others_run()
            server.kill()
            server.start_again()
            entry = await until_it_answers(lambda: coordinator.configuration.put("key", b"1"))
        assert seen.result() == entry


async def test_a_channel_that_falls_silent_is_replaced(
    server: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("drumbeat.backends.redis.connection.listener.SILENCE", 0.5)
    with FaultProxy.start(server.port) as proxy:
        async with connected(f"redis://127.0.0.1:{proxy.port}", "silent") as coordinator:
            watch = coordinator.configuration.watch("key")
            assert await anext(watch) is None
            first = await channel_of(server, other_than="")
            proxy.stall("to_client")
            async with asyncio.timeout(SOON):
                while f"id={first} " in server.ask("CLIENT", "LIST", "TYPE", "pubsub"):
                    await pass_time(MOMENT)
            proxy.heal()
            assert await channel_of(server, other_than=first)


async def channel_of(server: Redis, other_than: str) -> str:
    """The number of the connection that listens, once there is one with another number."""
    async with asyncio.timeout(SOON):
        while True:
            found = re.search(r"id=(\d+)", server.ask("CLIENT", "LIST", "TYPE", "pubsub"))
            if found is not None and found.group(1) != other_than:
                return found.group(1)
            await pass_time(MOMENT)


async def test_a_promoted_replica_that_missed_a_term_does_not_give_it_to_another(
    server: Redis,
) -> None:
    namespace = new_namespace()
    with (
        FaultProxy.start(server.port) as proxy,
        Redis.start({"replicaof": f"127.0.0.1 {proxy.port}"}) as replica,
    ):
        async with connected(server.address, namespace) as coordinator:
            first = await won(coordinator, ttl=TTL)
            server.wait_for_replicas()
            await coordinator.leases.release(first)  # unless it has run out meanwhile
            proxy.stall("to_client")  # the replica will not hear of the next term
            asked = CLOCK.elapsed()
            lease = await coordinator.leases.acquire("scheduler", ANNE, TTL)
            assert lease is not None
        server.kill()
        proxy.reset()
        replica.ask("REPLICAOF", "NO", "ONE")
        async with connected(replica.address, namespace) as coordinator:
            assert await coordinator.leases.current("scheduler") != lease
            new, granted = await win_in_the_end(coordinator)
            assert granted >= asked + TTL.total_seconds()
            assert (new.domain, new.token > lease.token) == (lease.domain, True)
            assert await coordinator.leases.renew(lease) is None
        replica.kill()


async def test_a_term_outlives_a_failover(sentinel: Sentinel) -> None:
    """One of three tries must be in time; a term that is lost early fails at once.

    Sentinels of a busy machine may agree on a primary only after the term is over.
    """
    for _ in range(3):
        if await outlives_a_failover(2 * LONG):
            return
    raise AssertionError("in none of three tries the Sentinels agreed before the term was over")


async def outlives_a_failover(ttl: timedelta) -> bool:
    """False: the Sentinels agreed too late. One that stood still for 2 s does nothing for 30 s."""
    with Sentinel.start() as servers:
        async with connected(servers.address, "ours") as coordinator:
            await won(coordinator, "other")  # the servers were just started
            lease = await until_it_answers(lambda: won(coordinator, ttl=ttl))
            since = CLOCK.elapsed()
            servers.primary().wait_for_replicas()
            servers.primary().kill()
            renewed = await until_it_answers(
                lambda: coordinator.leases.renew(lease), patience=3 * SOON
            )
            if renewed is None and CLOCK.elapsed() - since >= ttl.total_seconds() / 2:
                return False
            assert renewed == lease
            assert await coordinator.leases.acquire("scheduler", BERT, TTL) is None
            return True
