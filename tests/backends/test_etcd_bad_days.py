"""The etcd coordinator when members are killed, paused, cut off or emptied, with real electors.

While all of that happens no two electors may act at once, by their own deadlines.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from functools import partial

import pytest

from drumbeat.backends.etcd.coordinator import EtcdCoordinator
from drumbeat.engine.leading.candidacy import RESIGNED
from drumbeat.engine.plumbing.runtime import SystemRuntime
from drumbeat.model.ids import node_id
from drumbeat.testing.conformance.builders import ANNE, BERT, let_others_run
from servers import Etcd, FaultProxy, web

from .election import NEVER, PATIENCE, TTL, Election, clock, in_a_thread

WATCHES = re.compile(r"^etcd_debugging_mvcc_watcher_total (\d+)$", re.MULTILINE)


def election_at(*addresses: str, retry_every: float = 0.5) -> Election:
    runtime = SystemRuntime()
    connects = [partial(EtcdCoordinator, address, runtime) for address in addresses]
    return Election(*connects, retry_every=retry_every)


@pytest.fixture
def cluster(etcd_three: Etcd) -> Iterator[Etcd]:
    """One of our own, since we will break it; skipped where the shared one is."""
    with Etcd.start(nodes=3) as cluster:
        yield cluster


@pytest.fixture
def server(etcd: Etcd) -> Iterator[Etcd]:
    with Etcd.start() as server:
        yield server


async def test_when_the_leader_of_etcd_is_killed_there_is_one_leader_soon_and_never_two(
    cluster: Etcd,
) -> None:
    async with election_at(*[cluster.address] * 3).held() as election:
        await election.leader()
        for _ in range(2):
            doomed = await asyncio.to_thread(cluster.leader)
            await in_a_thread(doomed.kill)
            await clock.sleep(2 * TTL)
            await election.leader()
            await in_a_thread(doomed.start_again)
        tokens = [lease.token for lease in election.terms]
        assert tokens == sorted(set(tokens))


async def test_when_the_leader_of_etcd_is_paused_it_is_not_believed_after_it_wakes(
    cluster: Etcd,
) -> None:
    async with election_at(*[cluster.address] * 3).held() as election:
        await election.leader()
        paused = await asyncio.to_thread(cluster.leader)
        await in_a_thread(paused.pause)
        await clock.sleep(2 * TTL)
        await election.leader()
        await in_a_thread(paused.resume)
        await clock.sleep(TTL)
        await election.leader()


async def test_when_all_of_etcd_stands_still_nobody_leads_until_it_goes_on(cluster: Etcd) -> None:
    async with election_at(*[cluster.address] * 2).held() as election:
        await election.leader()
        await in_a_thread(cluster.pause)
        await election.nobody(within=TTL)  # by its own clock, and before the TTL is over
        await clock.sleep(TTL)
        assert election.acting() == []
        await in_a_thread(cluster.resume)
        await election.leader()


@pytest.mark.parametrize("fault", ["both ways", "to_server", "to_client"])
async def test_a_leader_that_is_cut_off_stops_by_itself_and_the_other_is_told(
    server: Etcd, fault: str
) -> None:
    with FaultProxy.start(server.port) as proxy:
        election = election_at(f"etcd://127.0.0.1:{proxy.port}", server.address, retry_every=NEVER)
        async with election.held():
            first = await election.leader()
            match fault:
                case "to_server" | "to_client":
                    proxy.stall(fault)
                case _:
                    proxy.black_hole()
            second = await election.leader(but=first)
            assert (first.holder, second.holder) == (node_id("anne", 0), node_id("bert", 0))
            assert second.token > first.token
            proxy.heal()
            await clock.sleep(TTL)
            assert election.nobody_acts_in_a_term_before(second)


async def test_a_leader_that_only_loses_one_of_its_endpoints_goes_on(cluster: Etcd) -> None:
    with FaultProxy.start(cluster.members[0].port) as proxy:
        healthy = ",".join(f"127.0.0.1:{member.port}" for member in cluster.members[1:])
        async with election_at(f"etcd://127.0.0.1:{proxy.port},{healthy}").held() as election:
            first = await election.leader()
            proxy.black_hole()
            await clock.sleep(2 * TTL)
            assert election.acting() == [first]


async def test_those_who_wait_are_told_although_the_member_that_they_listen_to_is_killed(
    cluster: Etcd,
) -> None:
    leader = await asyncio.to_thread(cluster.leader)  # so calls fail everywhere for a while
    members = [leader, *(member for member in cluster.members if member is not leader)]
    address = "etcd://" + ",".join(f"127.0.0.1:{member.port}" for member in members)
    async with election_at(address, address, retry_every=NEVER).held() as election:
        async with asyncio.timeout(PATIENCE):  # who fails at the first look waits to try again
            while await asyncio.to_thread(listeners_of, cluster) < 2:
                await clock.sleep(0.05)
        await in_a_thread(leader.kill)
        await clock.sleep(TTL)
        first = await election.leader()
        election.elector_of(first).resign(first, RESIGNED)
        second = await election.leader(but=first)
        assert second.holder != first.holder


def listeners_of(cluster: Etcd) -> int:
    """How many watches etcd serves, on all its members."""
    metrics = [web.get(member.port, "/metrics").text for member in cluster.members]
    return sum(int(found) for each in metrics for found in WATCHES.findall(each))


async def test_an_etcd_that_was_emptied_is_another_domain_in_which_old_terms_mean_nothing(
    server: Etcd,
) -> None:
    async with election_at(server.address, server.address).held() as election:
        old = await election.leader()
        await in_a_thread(server.kill)
        await in_a_thread(server.restart_empty)
        new = await election.leader(but=old)
        assert new.domain != old.domain
        assert new.token <= old.token + 10  # it counts from one again: only the domain tells
    coordinator = EtcdCoordinator(server.address, SystemRuntime())
    assert await coordinator.leases.renew(old) is None
    assert not await coordinator.leases.release(old)
    again = await coordinator.leases.acquire("scheduler", ANNE, timedelta(seconds=TTL))
    assert again is not None
    assert again.domain == new.domain
    await coordinator.close()


async def test_a_hint_comes_through_a_slow_wire(server: Etcd) -> None:
    with FaultProxy.start(server.port) as proxy:
        near = EtcdCoordinator(server.address, SystemRuntime())
        far = EtcdCoordinator(f"etcd://127.0.0.1:{proxy.port}", SystemRuntime())
        lease = await near.leases.acquire("lock", ANNE, timedelta(seconds=30))
        assert lease is not None
        proxy.delay(0.2)
        vacancies = far.leases.vacancies("lock")
        async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
            hint = group.create_task(_next(vacancies))
            await let_others_run()
            assert await near.leases.release(lease)
            await hint
        assert await far.leases.acquire("lock", BERT, timedelta(seconds=30)) is not None
        await near.close()
        await far.close()


async def _next(hints: AsyncIterator[None]) -> None:
    await anext(hints)
