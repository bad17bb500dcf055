"""The Redis queue when the server is wrong, gone, emptied, paused or full."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from drumbeat.backends.redis.queue import RedisQueue, StreamNames
from drumbeat.backends.redis.queue import queue as module
from drumbeat.engine.plumbing.bus import Bus
from drumbeat.engine.plumbing.watched_queue import WatchedQueue
from drumbeat.model.errors import ConfigurationError, Unavailable
from drumbeat.model.events import Event, QueueAnswered, QueueFailed
from drumbeat.model.jobs.job import Ticket
from drumbeat.testing.conformance.builders import ANNE, BERT
from drumbeat.testing.conformance.queue import collect, ticket
from servers import Redis

from .redis_cases import CLOCK, PASSWORD, new_namespace, pass_time

OURS = "{ours}:jobs:default:normal"
SOON = 30.0


@pytest.fixture
def server(redis: Redis) -> Iterator[Redis]:
    """One of our own, since we will break it; skipped where the shared one is."""
    with Redis.start() as server:
        yield server


@asynccontextmanager
async def opened(address: str, namespace: str = "ours") -> AsyncGenerator[RedisQueue]:
    queue = RedisQueue(address, CLOCK, StreamNames(namespace))
    try:
        await queue.open()
        yield queue
    finally:
        await queue.close()


async def refusal_of(address: str) -> Exception:
    queue = RedisQueue(address, CLOCK, StreamNames(new_namespace()))
    with pytest.raises((ConfigurationError, Unavailable)) as refused:
        await queue.open()
    await queue.close()
    assert PASSWORD not in str(refused.value)
    return refused.value


async def received(queue: RedisQueue, count: int = 1) -> list[Ticket]:
    async with asyncio.timeout(SOON):
        while True:
            try:
                return await collect(queue, count)
            except Unavailable:
                await pass_time(timedelta(milliseconds=50))


async def test_a_wrong_password_is_an_error_of_the_settings(server: Redis) -> None:
    server.ask("CONFIG", "SET", "requirepass", "right")
    refusal = await refusal_of(f"redis://:{PASSWORD}@127.0.0.1:{server.port}")
    assert isinstance(refusal, ConfigurationError)
    assert "rejects the user name or the password of the address" in str(refusal)


@pytest.mark.parametrize("command", ["xadd", "xreadgroup", "xautoclaim", "xgroup", "xdel"])
async def test_a_right_that_is_missing_is_named_at_the_start(server: Redis, command: str) -> None:
    server.ask("ACL", "SETUSER", "anna", "on", ">" + PASSWORD, "~*", "+@all", f"-{command}")
    refusal = await refusal_of(f"redis://anna:{PASSWORD}@127.0.0.1:{server.port}")
    assert isinstance(refusal, ConfigurationError)
    assert "its access rules deny the user a command or key" in str(refusal)
    assert command.upper() in str(refusal)


async def test_a_user_with_access_to_our_keys_alone_is_enough(server: Redis) -> None:
    rules = "on >secret ~{ours}:* +@read +@write +@connection +@scripting +info +xinfo +xgroup"
    server.ask("ACL", "SETUSER", "anna", *rules.split())
    async with opened(f"redis://anna:secret@127.0.0.1:{server.port}") as queue:
        await queue.publish([ticket(1)])
        assert await received(queue) == [ticket(1)]
        assert await queue.reclaim(timedelta(0), 10) == 1


async def test_a_node_of_a_cluster_is_refused(redis: Redis) -> None:
    with Redis.start({"cluster-enabled": "yes"}) as server:
        refusal = await refusal_of(f"redis://127.0.0.1:{server.port}")
    assert isinstance(refusal, ConfigurationError)
    assert "is a node of a Redis Cluster; name a single primary" in str(refusal)


async def test_an_old_version_is_refused(redis: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("drumbeat.backends.redis.queue.server_check.OLDEST", (99, 0))
    refusal = await refusal_of(redis.address)
    assert isinstance(refusal, ConfigurationError)
    assert "as a queue it must be 6.2 or later" in str(refusal)


async def test_a_server_that_may_drop_keys_is_warned_of_and_used(
    server: Redis, caplog: pytest.LogCaptureFixture
) -> None:
    server.ask("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
    async with opened(server.address) as queue:
        await queue.publish([ticket(1)])
        assert await received(queue) == [ticket(1)]
    assert "has maxmemory-policy allkeys-lru" in caplog.text
    assert "No job is lost" in caplog.text


async def test_a_key_of_another_type_is_named(server: Redis) -> None:
    server.ask("SET", OURS, "mine")
    async with opened(server.address) as queue:
        calls = queue.publish([ticket(1)]), collect(queue, 1), queue.count()
        for call in (*calls, queue.reclaim(timedelta(0), 10)):
            with pytest.raises(Unavailable) as failed:
                await call
            assert OURS in str(failed.value)
            assert "another redis_stream_name" in str(failed.value)
    assert "mine" in server.ask("GET", OURS)


async def test_a_key_of_another_type_does_not_keep_the_other_streams_from_being_reclaimed(
    server: Redis,
) -> None:
    async with opened(server.address) as queue:
        await queue.publish([ticket(1), ticket(2, "mail")])
        assert await collect(queue, 1, queues=("mail",)) == [ticket(2, "mail")]
        server.ask("DEL", OURS)
        server.ask("SET", OURS, "mine")
        with pytest.raises(Unavailable):
            await queue.reclaim(timedelta(0), 10)
        assert await collect(queue, 1, queues=("mail",)) == [ticket(2, "mail")]


async def test_a_key_of_another_type_is_one_outage_that_ends_with_it(server: Redis) -> None:
    server.ask("SET", OURS, "mine")
    bus, told = Bus(CLOCK), list[Event]()
    bus.on(Event, told.append)
    async with opened(server.address) as queue:
        watched = WatchedQueue(queue, bus, CLOCK)
        await watched.publish([ticket(1)])
        for _ in range(2):
            with pytest.raises(Unavailable):
                await watched.receive(("default",), ANNE, 1)
            assert await watched.reclaim(timedelta(0), 10) == 0
        assert {type(each) for each in told} == {QueueFailed}
        server.ask("DEL", OURS)
        assert await watched.reclaim(timedelta(0), 10) == 0
        assert isinstance(told[-1], QueueAnswered)


async def test_a_set_of_streams_of_another_type_is_refused_at_the_start(server: Redis) -> None:
    server.ask("SET", "{ours}:jobs:streams", "mine")
    queue = RedisQueue(server.address, CLOCK, StreamNames("ours"))
    with pytest.raises(ConfigurationError, match=r"holds a string.*jobs:streams"):
        await queue.open()
    await queue.close()


async def test_foreign_entries_are_left_alone_and_hide_no_ticket(
    server: Redis, caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(30):
        server.ask("XADD", OURS, "*", "order", str(number))
    server.ask("XADD", OURS, "*", "job", "twelve", "priority", "0")
    async with opened(server.address) as queue:
        await queue.publish([ticket(1)])
        async with asyncio.timeout(SOON):
            tickets: list[Ticket] = []
            while not tickets:
                tickets += await queue.receive(["default"], ANNE, 10)
        assert tickets == [ticket(1)]
        await queue.acknowledge(tickets, ANNE)
        assert await queue.reclaim(timedelta(0), 100) == 0
    assert caplog.text.count("entries that are no tickets") == 1
    assert ":31" in server.ask("XLEN", OURS)


async def until_someone_waits(server: Redis) -> None:
    async with asyncio.timeout(SOON):
        while "blocked_clients:1" not in server.ask("INFO", "clients"):
            await pass_time(timedelta(milliseconds=10))


async def test_an_emptied_server_is_used_as_a_new_one(server: Redis) -> None:
    async with opened(server.address) as queue:
        await queue.publish([ticket(1), ticket(2)])
        old = await received(queue, 2)
        async with asyncio.timeout(SOON), asyncio.TaskGroup() as group:
            waiting = group.create_task(collect(queue, 1))
            await until_someone_waits(server)
            server.ask("FLUSHALL")
            await queue.acknowledge(old, ANNE)
            await queue.publish([ticket(3)])
        assert waiting.result() == [ticket(3)]


async def test_a_restarted_server_is_used_again(server: Redis) -> None:
    async with opened(server.address) as queue:
        await queue.publish([ticket(1)])
        server.kill()
        with pytest.raises(Unavailable):
            await queue.publish([ticket(2)])
        server.start_again()
        async with asyncio.timeout(SOON):
            while True:
                try:
                    await queue.publish([ticket(3)])
                    break
                except Unavailable:
                    await pass_time(timedelta(milliseconds=50))
        async with asyncio.timeout(SOON):
            while ticket(3) not in await received(queue):  # the first may have been saved
                pass


async def test_a_stream_that_nobody_reads_is_bounded(
    server: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_TICKETS", 200)
    async with opened(server.address) as queue:
        await queue.publish([ticket(number) for number in range(3000)])
        assert 200 <= await queue.count() <= 400
        assert (await received(queue, 1))[0].job_id > 2000


async def test_what_was_acknowledged_leaves_no_entry(server: Redis) -> None:
    async with opened(server.address) as queue:
        await queue.publish([ticket(number) for number in range(2000)])
        async with asyncio.timeout(SOON):
            first = await queue.receive(["default"], ANNE, 1000)
            second = await queue.receive(["default"], ANNE, 1000, first)
            assert await queue.count() == 1000
            await queue.acknowledge(second, ANNE)
        assert await queue.count() == 0


async def test_urgent_tickets_come_first(server: Redis) -> None:
    async with opened(server.address) as queue:
        await queue.publish([ticket(1), Ticket(ticket(2).job_id, "default", 90), ticket(3)])
        assert [each.job_id for each in await received(queue, 3)] == [2, 1, 3]


async def test_a_receiver_that_is_gone_is_forgotten_and_its_stream_too(
    server: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(server.address) as queue:
        await queue.publish([ticket(1)])
        await queue.acknowledge(await received(queue), ANNE)
        await queue.reclaim(timedelta(0), 10)
        assert ANNE in server.ask("XINFO", "CONSUMERS", OURS, "workers")
        monkeypatch.setattr(module, "GONE", timedelta(0))
        await pass_time(timedelta(milliseconds=20))
        await queue.reclaim(timedelta(0), 10)
        assert ":0" in server.ask("EXISTS", OURS)
        await queue.publish([ticket(2)])
        assert await received(queue) == [ticket(2)]


async def test_a_receiver_that_stops_leaves_nothing_behind(server: Redis) -> None:
    async with opened(server.address) as other:
        async with opened(server.address) as queue:
            await queue.publish([ticket(1), ticket(2)])
            await received(queue, 2)
        async with asyncio.timeout(SOON):
            assert {each.job_id for each in await collect(other, 2, by=BERT)} == {1, 2}
        assert ANNE not in server.ask("XINFO", "CONSUMERS", OURS, "workers")


async def test_a_blocked_receiver_occupies_no_connection_of_the_others(server: Redis) -> None:
    async with opened(server.address) as queue, asyncio.timeout(SOON), asyncio.TaskGroup() as group:
        receivers = [
            group.create_task(queue.receive([f"queue-{number}"], ANNE, 1)) for number in range(40)
        ]
        await pass_time(timedelta(milliseconds=50))
        await queue.publish([ticket(number, f"queue-{number}") for number in range(40)])
        assert [(await each)[0].job_id for each in receivers] == list(range(40))
