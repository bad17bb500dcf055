"""The Consul coordinator against the suite of all coordinators, on real servers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial

import aiohttp
import pytest

from drumbeat.backends.consul.coordinator import ConsulCoordinator
from drumbeat.engine.plumbing.runtime import SystemRuntime
from drumbeat.model.errors import ConfigurationError, Unavailable
from drumbeat.ports.coordinator import Coordinator
from drumbeat.testing.conformance import CoordinatorConformance, CoordinatorTraits
from drumbeat.testing.conformance.builders import ANNE, BERT, node
from servers import Consul, FaultProxy, Missing, web
from servers.ports import free_port

from .election import NEVER, PATIENCE, Election, in_a_thread
from .election import TTL as ELECTION_TTL

TTL = timedelta(seconds=1)
"""The servers of the tests take it; a usual Consul takes ten seconds at least."""
EXPIRES_WITHIN = timedelta(seconds=2.5)
"""Consul ends a session after twice its TTL."""
OVERDUE = timedelta(seconds=20)
"""On a busy machine that may take longer; and a new leader of Consul counts from the beginning."""


@asynccontextmanager
async def opened(address: str) -> AsyncGenerator[ConsulCoordinator]:
    coordinator = ConsulCoordinator(address, SystemRuntime())
    try:
        await coordinator.open()
        yield coordinator
    finally:
        await coordinator.close()


@pytest.mark.usefixtures("patient_exchange")
class ConsulConformance(CoordinatorConformance):
    @pytest.fixture
    def address(self, cluster: Consul) -> str:
        """Each test has a prefix of its own in the cluster that all share."""
        return f"{cluster.address}/{SystemRuntime().random.getrandbits(64):x}"

    @pytest.fixture
    async def coordinator(self, address: str) -> AsyncIterator[Coordinator]:
        async with opened(address) as coordinator:
            yield coordinator

    @pytest.fixture
    def traits(self, address: str) -> CoordinatorTraits:
        clock = SystemRuntime().clock
        return CoordinatorTraits(
            lambda: opened(address),
            lambda length: clock.sleep(length.total_seconds()),
            TTL,
            EXPIRES_WITHIN,
            overdue=OVERDUE,
        )


class TestConsulCoordinator(ConsulConformance):
    @pytest.fixture
    def cluster(self, consul: Consul) -> Consul:
        return consul


class TestThreeConsulCoordinator(ConsulConformance):
    @pytest.fixture
    def cluster(self, consul_three: Consul) -> Consul:
        return consul_three


RUNTIME = SystemRuntime()


def started(nodes: int = 1, settings: Mapping[str, object] | None = None) -> Consul:
    try:
        return Consul.start(nodes, settings)
    except Missing as missing:
        pytest.skip(str(missing))


@pytest.mark.usefixtures("patient_exchange")
async def test_an_unusual_name_is_a_name_like_any_other(consul: Consul) -> None:
    names = ["a/b", "a//b", "..", ".", "a/../b", "a%2Fb", "a b?c=d#e", "/", "\u00fc\N{SNOWMAN}"]
    async with opened(f"{consul.address}/names") as coordinator:
        for name in names:
            lease = await coordinator.leases.acquire(name, ANNE, timedelta(seconds=30))
            assert lease is not None, name
            entry = await coordinator.configuration.put(name, name.encode())
            assert await coordinator.configuration.get(name) == entry
            assert await anext(coordinator.configuration.watch(name)) == entry
        for name in names:
            assert await coordinator.leases.current(name) is not None
            assert await coordinator.leases.acquire(name, ANNE, timedelta(seconds=30)) is None


@pytest.mark.usefixtures("patient_exchange")
async def test_a_consul_that_takes_only_long_sessions_gets_ten_seconds() -> None:
    with started(settings={"session_ttl_min": "10s"}) as server:
        async with opened(server.address) as coordinator:
            for name in ("one", "two"):
                lease = await coordinator.leases.acquire(name, ANNE, TTL)
                assert lease is not None
                assert lease.ttl == TTL
            sessions = web.get(server.port, "/v1/session/list").document
            assert [session["TTL"] for session in sessions] == ["10000ms", "10000ms"]


@pytest.mark.usefixtures("patient_exchange")
async def test_no_key_and_no_session_stays_behind(consul: Consul) -> None:
    before = sessions_of(consul)
    async with opened(f"{consul.address}/tidy") as coordinator:
        lease = await coordinator.leases.acquire("lock", ANNE, timedelta(seconds=30))
        assert lease is not None
        assert await coordinator.leases.acquire("lock", BERT, timedelta(seconds=30)) is None
        assert await coordinator.leases.release(lease)
        await coordinator.registry.register(node(), timedelta(seconds=30))
        await coordinator.registry.deregister(node().id)
    assert web.get(consul.port, "/v1/kv/tidy?keys").document == ["tidy/drumbeat/domain"]
    assert sessions_of(consul) <= before  # those of other tests may have run out


def sessions_of(server: Consul) -> set[str]:
    return {session["ID"] for session in web.get(server.port, "/v1/session/list").document}


MASTER = "11111111-2222-3333-4444-555555555555"
RULES = 'key_prefix "ours/" { policy = "write" } session_prefix "" { policy = "write" }'


@pytest.fixture(scope="module")
def guarded() -> Iterator[Consul]:
    """A Consul that lets nobody in without a token."""
    rules = {"enabled": True, "default_policy": "deny", "tokens": {"master": MASTER}}
    with started(settings={"acl": rules}) as server:
        yield server


async def made(server: Consul, path: str, document: object) -> dict[str, str]:
    """Ask for a rule or a token, also in the first moments, when Consul knows no token itself."""
    async with aiohttp.ClientSession(headers={"X-Consul-Token": MASTER}) as session:
        async with asyncio.timeout(PATIENCE):
            while True:
                url = f"http://127.0.0.1:{server.port}/v1/acl/{path}"
                async with session.put(url, json=document) as response:
                    if response.status == 200:
                        answer: dict[str, str] = await response.json()
                        return answer
                await RUNTIME.clock.sleep(0.1)


@pytest.mark.usefixtures("patient_exchange")
async def test_a_token_for_our_keys_and_for_sessions_is_enough(guarded: Consul) -> None:
    await made(guarded, "policy", {"Name": "ours", "Rules": RULES})
    token = (await made(guarded, "token", {"Policies": [{"Name": "ours"}]}))["SecretID"]
    place = f"127.0.0.1:{guarded.port}"
    async with opened(f"consul://{token}@{place}/ours") as coordinator:
        lease = await coordinator.leases.acquire("lock", ANNE, timedelta(seconds=30))
        assert lease is not None
        assert await coordinator.leases.renew(lease) == lease
        await coordinator.registry.register(node(), timedelta(seconds=30))
        assert list(await coordinator.registry.nodes()) == [node()]
        entry = await coordinator.configuration.put("key", b"1")
        assert await anext(coordinator.configuration.watch("key")) == entry
        assert await coordinator.leases.release(lease)
    with pytest.raises(ConfigurationError, match="Consul rejects the token") as refused:
        async with opened(f"consul://{token}@{place}/theirs"):
            pass
    assert token not in str(refused.value)


@pytest.mark.usefixtures("patient_exchange")
async def test_who_shows_no_token_or_a_wrong_one_is_told_so_without_it(guarded: Consul) -> None:
    place = f"127.0.0.1:{guarded.port}"
    for address, sentence in (
        (f"consul://{place}", "Consul requires a token"),
        (f"consul://hunter2@{place}", "Consul rejects the token"),
        (f"consul://{place}?token=hunter2", "Consul rejects the token"),
    ):
        with pytest.raises(ConfigurationError, match=sentence) as refused:
            async with opened(address):
                pass
        assert "hunter2" not in str(refused.value)


async def test_a_consul_that_is_not_there_is_named() -> None:
    port = free_port()
    with pytest.raises(Unavailable, match=f"tried http://127.0.0.1:{port} .connection refused"):
        async with opened(f"consul://127.0.0.1:{port}"):
            pass


async def test_an_emptied_consul_is_another_domain_in_which_old_terms_mean_nothing() -> None:
    with started() as server:
        connect = partial(ConsulCoordinator, server.address, RUNTIME)
        async with Election(connect, connect).held() as election:
            old = await election.leader()
            await in_a_thread(server.kill)
            await in_a_thread(server.restart_empty)
            new = await election.leader(but=old)
            assert new.domain != old.domain
        async with opened(server.address) as coordinator:
            assert await coordinator.leases.renew(old) is None
            assert not await coordinator.leases.release(old)


async def test_when_the_leader_of_consul_is_killed_there_is_one_leader_soon_and_never_two() -> None:
    with started(nodes=3) as cluster:
        connect = partial(ConsulCoordinator, cluster.address, RUNTIME)
        async with Election(connect, connect, connect).held() as election:
            doomed = await asyncio.to_thread(cluster.leader)
            await in_a_thread(doomed.kill)
            await RUNTIME.clock.sleep(2 * ELECTION_TTL)
            await election.leader()
            tokens = [lease.token for lease in election.terms]
            assert tokens == sorted(set(tokens))


@pytest.mark.parametrize("fault", ["both ways", "to_server", "to_client"])
async def test_a_leader_that_is_cut_off_stops_by_itself_and_the_other_is_told(
    consul: Consul, fault: str
) -> None:
    prefix = f"{RUNTIME.random.getrandbits(64):x}"
    with FaultProxy.start(consul.port) as proxy:
        election = Election(
            partial(ConsulCoordinator, f"consul://127.0.0.1:{proxy.port}/{prefix}", RUNTIME),
            partial(ConsulCoordinator, f"{consul.address}/{prefix}", RUNTIME),
            retry_every=NEVER,
        )
        async with election.held():
            first = await election.leader()
            match fault:
                case "to_server" | "to_client":
                    proxy.stall(fault)
                case _:
                    proxy.black_hole()
            second = await election.leader(but=first)
            assert second.token > first.token
            proxy.heal()
            await RUNTIME.clock.sleep(ELECTION_TTL)
            assert election.nobody_acts_in_a_term_before(second)
