"""The client of etcd: endpoints that fail, watches that end, history that is gone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta

import pytest

from drumbeat.backends.etcd.connection.client import SILENCE, Change, EtcdClient
from drumbeat.backends.etcd.connection.transaction import (
    Keys,
    Transaction,
    created_at,
    delete,
    get,
    put,
)
from drumbeat.backends.http.failover_client import CALL_TIMEOUT, ENDPOINT_TIMEOUT
from drumbeat.backends.http.terms import encode_term
from drumbeat.engine.plumbing.runtime import SystemRuntime
from drumbeat.engine.plumbing.time_outs import timeout_after
from drumbeat.model.errors import Unavailable
from drumbeat.testing.conformance.builders import ANNE, let_others_run
from servers import Etcd, FaultProxy, web
from servers.ports import free_port

from .etcd_cases import calling, opened

TTL = timedelta(seconds=30)
SOON = 30.0
"""Seconds that a busy machine may take for what comes by itself."""
FOREVER = 3600.0
clock = SystemRuntime().clock


@pytest.fixture
def proxy(etcd: Etcd) -> Iterator[FaultProxy]:
    with FaultProxy.start(etcd.port) as proxy:
        yield proxy


@pytest.fixture
async def client(etcd: Etcd) -> AsyncIterator[EtcdClient]:
    async with calling(etcd.address) as client:
        yield client


async def write(client: EtcdClient, key: str, value: bytes) -> int:
    done = await client.transact_once(Transaction(then=(put(key, value),)))
    return done.header.revision


async def versions(client: EtcdClient, key: str) -> int:
    """How often the key was written since it exists."""
    return (await client.range(Keys.only(key))).kvs[0].version


async def bond(client: EtcdClient, key: str) -> int:
    """The lease that the key is bound to."""
    return (await client.range(Keys.only(key))).kvs[0].lease


class TestEndpoints:
    async def test_an_endpoint_that_refuses_is_passed_over(self, etcd: Etcd, key: str) -> None:
        gone = free_port()
        async with calling(f"etcd://127.0.0.1:{gone},127.0.0.1:{etcd.port}") as client:
            assert await write(client, key, b"1")  # it never left, so even this may go elsewhere
            assert await versions(client, key) == 1

    async def test_an_endpoint_that_says_nothing_is_passed_over_in_time_and_not_asked_again(
        self, etcd: Etcd, proxy: FaultProxy, key: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("drumbeat.backends.http.failover_client.CALL_TIMEOUT", FOREVER)
        proxy.black_hole()
        async with (
            asyncio.timeout(SOON),
            calling(f"etcd://127.0.0.1:{proxy.port},127.0.0.1:{etcd.port}") as client,
        ):
            began = clock.elapsed()
            await client.range(Keys.only(key))
            assert clock.elapsed() - began >= ENDPOINT_TIMEOUT
            monkeypatch.setattr("drumbeat.backends.http.failover_client.ENDPOINT_TIMEOUT", FOREVER)
            await client.range(Keys.only(key))

    async def test_a_caller_that_gives_up_begins_elsewhere_next_time(
        self, etcd: Etcd, proxy: FaultProxy, key: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("drumbeat.backends.http.failover_client.CALL_TIMEOUT", FOREVER)
        monkeypatch.setattr("drumbeat.backends.http.failover_client.ENDPOINT_TIMEOUT", FOREVER)
        proxy.black_hole()
        async with calling(f"etcd://127.0.0.1:{proxy.port},127.0.0.1:{etcd.port}") as client:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.25):
                    await client.range(Keys.only(key))
            async with asyncio.timeout(SOON):
                await client.range(Keys.only(key))

    async def test_a_caller_that_gives_up_at_the_time_out_of_an_endpoint_is_obeyed(
        self, etcd: Etcd, proxy: FaultProxy, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Both time-outs end in one turn of the event loop, which one of thirty tries will hit."""
        same = 0.02
        monkeypatch.setattr("drumbeat.backends.http.failover_client.CALL_TIMEOUT", 10 * same)
        monkeypatch.setattr("drumbeat.backends.http.failover_client.ENDPOINT_TIMEOUT", same)
        proxy.black_hole()
        async with (
            asyncio.timeout(SOON),
            calling(f"etcd://127.0.0.1:{proxy.port},127.0.0.1:{proxy.port}") as client,
        ):
            for _ in range(30):
                with pytest.raises(TimeoutError):
                    async with timeout_after(clock, same):
                        await client.range(Keys.only("any"))

    async def test_a_write_whose_answer_got_lost_is_not_repeated(
        self, etcd: Etcd, proxy: FaultProxy, client: EtcdClient, key: str
    ) -> None:
        async with calling(f"etcd://127.0.0.1:{proxy.port},127.0.0.1:{etcd.port}") as cut:
            proxy.stall("to_client")
            with pytest.raises(Unavailable, match=f"tried http://127.0.0.1:{proxy.port} "):
                await write(cut, key, b"1")
        assert await versions(client, key) == 1

    async def test_a_claim_whose_answer_got_lost_is_recognised_when_it_is_repeated(
        self, etcd: Etcd, client: EtcdClient, key: str
    ) -> None:
        async with opened(f"{etcd.address}/{key}") as coordinator:
            leases = coordinator.leases
            number = await client.make_bond(TTL)
            value = encode_term(ANNE, TTL)
            first = await leases.claim("scheduler", value, number)
            assert first is not None
            assert await leases.claim("scheduler", value, number) == first
            assert await leases.claim("scheduler", value, await client.make_bond(TTL)) is None

    async def test_a_claim_whose_lease_ended_before_it_began_is_no_term(
        self, etcd: Etcd, client: EtcdClient, key: str
    ) -> None:
        async with opened(f"{etcd.address}/{key}") as coordinator:
            leases = coordinator.leases
            number = await client.make_bond(TTL)
            assert await client.end_bond(number)
            assert await leases.claim("scheduler", encode_term(ANNE, TTL), number) is None
            assert await leases.current("scheduler") is None

    async def test_a_server_that_was_restarted_is_found_again_at_the_first_call(
        self, proxy: FaultProxy, key: str
    ) -> None:
        async with calling(f"etcd://127.0.0.1:{proxy.port}") as client:
            await client.range(Keys.only(key))
            proxy.cut_all()
            await client.range(Keys.only(key))

    async def test_the_endpoints_that_were_tried_are_named(self, proxy: FaultProxy) -> None:
        refusing, silent = free_port(), proxy.port
        proxy.black_hole()
        began = clock.elapsed()
        with pytest.raises(Unavailable) as failed:
            async with opened(f"etcd://anna:hunter2@127.0.0.1:{refusing},127.0.0.1:{silent}"):
                pass
        assert f"tried http://127.0.0.1:{refusing} (connection refused)" in str(failed.value)
        assert f"http://127.0.0.1:{silent} (no answer within" in str(failed.value)
        assert "hunter2" not in str(failed.value)
        assert clock.elapsed() - began < CALL_TIMEOUT + SOON

    async def test_what_is_not_etcd_is_told_from_it(self, consul_like: int) -> None:
        with pytest.raises(Unavailable, match="etcd"):
            async with opened(f"etcd://127.0.0.1:{consul_like}"):
                pass

    @pytest.fixture
    async def consul_like(self) -> AsyncIterator[int]:
        async def greet(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
            await writer.drain()
            writer.close()

        server = await asyncio.start_server(greet, "127.0.0.1", 0)
        async with server:
            yield server.sockets[0].getsockname()[1]


class TestLeases:
    async def test_a_lease_that_is_over_is_neither_kept_nor_revoked(
        self, client: EtcdClient
    ) -> None:
        lease = await client.make_bond(TTL)
        assert await client.renew_bond(lease)
        assert await client.end_bond(lease)
        assert not await client.renew_bond(lease)
        assert not await client.end_bond(lease)

    async def test_a_term_whose_key_was_deleted_by_hand_is_over_although_its_lease_lives(
        self, etcd: Etcd, client: EtcdClient, key: str
    ) -> None:
        async with opened(f"{etcd.address}/{key}") as coordinator:
            lease = await coordinator.leases.acquire("scheduler", ANNE, TTL)
            assert lease is not None
            place = f"{key}/drumbeat/leases/scheduler"
            deleted = Transaction((created_at(place, lease.token),), (delete(place),))
            assert (await client.transact(deleted)).succeeded
            assert await coordinator.leases.renew(lease) is None

    async def test_the_end_of_an_earlier_lease_does_not_end_a_term_that_was_renewed(
        self, etcd: Etcd, client: EtcdClient, key: str
    ) -> None:
        """A member that was paused while it led may end all leases that it knows."""
        async with opened(f"{etcd.address}/{key}") as coordinator:
            lease = await coordinator.leases.acquire("scheduler", ANNE, TTL)
            assert lease is not None
            for _ in range(2):
                known = await bond(client, f"{key}/drumbeat/leases/scheduler")
                assert await coordinator.leases.renew(lease) == lease
                assert await client.end_bond(known)
                assert await coordinator.leases.current("scheduler") == lease

    async def test_a_renewal_that_was_held_up_does_not_undo_a_later_one(
        self, etcd: Etcd, client: EtcdClient, key: str
    ) -> None:
        async with opened(f"{etcd.address}/{key}") as coordinator:
            leases = coordinator.leases
            number = await client.make_bond(TTL)
            early = await leases.claim("scheduler", encode_term(ANNE, TTL), number)
            assert early is not None
            assert await leases.renew(early.lease)
            later = await bond(client, f"{key}/drumbeat/leases/scheduler")
            found = await leases.rebind(early, await client.make_bond(TTL))
            assert found == early._replace(bond=later)
            assert await bond(client, f"{key}/drumbeat/leases/scheduler") == later

    async def test_another_handle_can_renew_and_release_a_term(self, etcd: Etcd, key: str) -> None:
        address = f"{etcd.address}/{key}"
        async with opened(address) as one, opened(address) as two:
            lease = await one.leases.acquire("scheduler", ANNE, TTL)
            assert lease is not None
            assert await two.leases.renew(lease) == lease
            assert await two.leases.release(lease)
            assert await one.leases.renew(lease) is None

    async def test_what_somebody_else_wrote_at_our_key_is_no_term_and_no_error(
        self, etcd: Etcd, client: EtcdClient, key: str
    ) -> None:
        await write(client, f"{key}/drumbeat/leases/scheduler", b"\xff not ours")
        async with opened(f"{etcd.address}/{key}") as coordinator:
            assert await coordinator.leases.current("scheduler") is None
            assert await coordinator.leases.acquire("scheduler", ANNE, TTL) is None


class TestWatches:
    async def test_a_change_after_the_revision_is_seen_at_once(
        self, client: EtcdClient, key: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("drumbeat.backends.etcd.connection.client.SILENCE", FOREVER)
        revision = await write(client, key, b"1")
        async with asyncio.timeout(SOON), asyncio.TaskGroup() as group:
            watch = group.create_task(client.watch(Keys.only(key), revision + 1))
            await let_others_run()
            await write(client, key, b"2")
        assert watch.result()

    async def test_a_change_that_was_made_before_the_watch_began_is_seen(
        self, client: EtcdClient, key: str
    ) -> None:
        revision = await write(client, key, b"1")
        assert await client.watch(Keys.only(key), revision)

    async def test_a_watch_for_the_end_of_a_key_does_not_wake_for_a_write(
        self, client: EtcdClient, key: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        revision = await write(client, key, b"1")
        assert not await client.watch(Keys.only(key), revision, Change.END)
        monkeypatch.setattr("drumbeat.backends.etcd.connection.client.SILENCE", FOREVER)
        await client.transact_once(Transaction(then=(delete(key),)))
        async with asyncio.timeout(SOON):
            assert await client.watch(Keys.only(key), revision, Change.END)

    async def test_a_watch_without_news_comes_back_after_a_while(
        self, client: EtcdClient, key: str
    ) -> None:
        revision = await write(client, key, b"1")
        began = clock.elapsed()
        assert not await client.watch(Keys.only(key), revision + 1)
        assert SILENCE <= clock.elapsed() - began < SILENCE + SOON

    async def test_a_value_that_is_longer_than_a_line_may_be_is_seen(
        self, client: EtcdClient, key: str
    ) -> None:
        revision = await write(client, key, bytes(300_000))
        assert await client.watch(Keys.only(key), revision)

    async def test_a_history_that_was_compacted_counts_as_a_change(
        self, etcd: Etcd, client: EtcdClient, key: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        first = await write(client, key, b"1")
        last = await write(client, key, b"2")
        assert web.post(etcd.port, "/v3/kv/compaction", {"revision": str(last)}).status == 200
        monkeypatch.setattr("drumbeat.backends.etcd.connection.client.SILENCE", FOREVER)
        async with asyncio.timeout(SOON):
            assert await client.watch(Keys.only(key), first)

    async def test_a_watcher_lives_on_over_a_compaction(self, etcd: Etcd, key: str) -> None:
        async with asyncio.timeout(SOON), opened(f"{etcd.address}/{key}") as coordinator:
            watch = coordinator.configuration.watch("key")
            assert await anext(watch) is None
            for value in (b"1", b"2", b"3"):
                entry = await coordinator.configuration.put("key", value)
            compacted = {"revision": str(entry.revision)}
            assert web.post(etcd.port, "/v3/kv/compaction", compacted).status == 200
            assert await anext(watch) == entry

    async def test_a_watcher_goes_on_elsewhere_when_its_endpoint_falls_silent(
        self, etcd: Etcd, proxy: FaultProxy, key: str
    ) -> None:
        address = f"etcd://127.0.0.1:{proxy.port},127.0.0.1:{etcd.port}/{key}"
        async with asyncio.timeout(SOON), opened(address) as cut, opened(etcd.address) as other:
            watch = cut.configuration.watch("key")
            assert await anext(watch) is None
            proxy.black_hole()
            async with calling(etcd.address) as client:
                await write(client, f"{key}/drumbeat/configuration/key", b"1")
            entry = await anext(watch)
            assert entry is not None
            assert entry.value == b"1"
            assert await other.configuration.get("key") is None

    async def test_a_watcher_lives_on_when_etcd_is_killed_and_started_again(self, key: str) -> None:
        with Etcd.start() as server:
            async with asyncio.timeout(2 * SOON), opened(server.address) as coordinator:
                watch = coordinator.configuration.watch("key")
                assert await anext(watch) is None
                await asyncio.to_thread(server.kill)
                await asyncio.to_thread(server.start_again)
                entry = await coordinator.configuration.put("key", b"1")
                assert await anext(watch) == entry

    async def test_nothing_is_left_open_by_a_watcher_that_nobody_asks_any_more(
        self, etcd: Etcd, key: str
    ) -> None:
        async with opened(f"{etcd.address}/{key}") as coordinator:
            tasks = asyncio.all_tasks()
            watch = coordinator.configuration.watch("key")
            assert await anext(watch) is None
            waiting = asyncio.ensure_future(anext(watch))
            await let_others_run()
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            assert asyncio.all_tasks() == tasks


async def test_a_transaction_reads_what_it_is_asked_for(client: EtcdClient, key: str) -> None:
    look = Transaction((created_at(key, 0),), (put(key, b"1"), get(key)), (get(key),))
    made = await client.transact(look)
    again = await client.transact(look)
    assert (made.succeeded, again.succeeded) == (True, False)
    assert made.found(1) == again.found(0)
