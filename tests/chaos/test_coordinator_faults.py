"""Fleets whose coordinator fails, or whose nodes cannot reach it.

Each node has its own proxies to every member of the coordinator. In each case no two nodes consider
themselves the leader at once, the epochs of the ledger never fall, and at the end every tick has
fired once and every job is done.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from itertools import count, product
from os import getpid
from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet

from chaos.beliefs import terms_in
from chaos.node import NodeOverrides
from chaos.pairs import STARTS, ProxiedServer, longest_term, proxied
from drumbeat.model.ids import label_of
from servers import Consul, Etcd, FaultProxy, Mongo, Postgres, Redis
from tests.chaos.fleet import TTL, Fleet, clock, drop, open_fleet

Server = Etcd | Redis | Consul | Mongo
COORDINATORS = ("etcd", "redis", "consul", "mongo")
LATE = 15.0
"""Seconds after the end of a term within which another node leads, also on a busy machine."""
LABELS = ("one", "two")
_serial = count(1)
pytestmark = pytest.mark.timeout(600)


@dataclass(frozen=True, slots=True)
class Scene:
    """A fleet, its coordinator, and the proxies between them."""

    fleet: Fleet
    server: Server
    proxied_servers: dict[str, ProxiedServer]
    longest_term: float

    async def another_leads(self, label: str) -> None:
        """Return when another node than this one leads."""
        async with asyncio.timeout(self.longest_term + LATE):
            lease = await self.fleet.leader()
            while label_of(lease.holder) == label:
                lease = await self.fleet.leader(other_than=lease)


Fault = Callable[[Scene], Awaitable[None]]


async def its_own_leader_killed(scene: Scene) -> None:
    server = scene.server
    doomed = server if isinstance(server, Redis | Mongo) else await asyncio.to_thread(server.leader)
    await asyncio.to_thread(doomed.kill)
    await clock.sleep(TTL)
    await asyncio.to_thread(doomed.start_again)


async def restarted_empty(scene: Scene) -> None:
    before = await scene.fleet.leader()
    await asyncio.to_thread(scene.server.kill)
    await asyncio.to_thread(scene.server.restart_empty)
    after = await scene.fleet.leader(other_than=before)
    assert after.domain != before.domain


async def paused(scene: Scene) -> None:
    await asyncio.to_thread(scene.server.pause)
    since = clock.elapsed()
    await clock.sleep(2 * TTL)
    until = clock.elapsed()
    await asyncio.to_thread(scene.server.resume)
    believed = terms_in(scene.fleet.setting.folder)
    assert believed
    assert [each for each in believed if each.until > since + TTL and each.since < until] == []


def leader_cut_off(cut: Callable[[FaultProxy], None]) -> Fault:
    async def cut_off(scene: Scene) -> None:
        label = label_of((await scene.fleet.leader()).holder)
        for proxy in scene.proxied_servers[label].proxies:
            cut(proxy)
        await scene.another_leads(label)
        await clock.sleep(TTL)
        for proxy in scene.proxied_servers[label].proxies:
            proxy.heal()

    return cut_off


def answers_take(seconds: float) -> Fault:
    async def slow(scene: Scene) -> None:
        proxies = [proxy for server_ in scene.proxied_servers.values() for proxy in server_.proxies]
        for proxy in proxies:
            proxy.delay(seconds / 2)
        await clock.sleep(2 * TTL)
        for proxy in proxies:
            proxy.heal()

    return slow


async def clock_of_the_leader_jumps(scene: Scene) -> None:
    label = label_of((await scene.fleet.leader()).holder)
    scene.fleet.jump(label)
    await scene.another_leads(label)


FAULTS: dict[str, Fault] = {
    "its own leader killed": its_own_leader_killed,
    "restarted empty": restarted_empty,
    "paused": paused,
    "leader cut off": leader_cut_off(FaultProxy.black_hole),
    "leader cannot ask": leader_cut_off(lambda proxy: proxy.stall("to_server")),
    "leader gets no answer": leader_cut_off(lambda proxy: proxy.stall("to_client")),
    "answers take 0.5 s": answers_take(0.5),
    "answers take 2 s": answers_take(2.0),
}
JUMPS = {"an hour ahead": 3600.0, "an hour back": -3600.0, "a day ahead": 86_400.0}
ALWAYS = {("consul", "paused")}
"""The cases of `make test`; `test_chaos` covers the other faults as well."""


def cases(faults: Iterable[str]) -> list[ParameterSet]:
    return [
        pytest.param(*case, id=": ".join(case), marks=() if case in ALWAYS else pytest.mark.chaos)
        for case in product(COORDINATORS, faults)
    ]


@asynccontextmanager
async def scene_on(
    coordinator: str, store: str, folder: Path, jump: float = 0.0
) -> AsyncGenerator[Scene]:
    """A fleet of two nodes, one of which leads, with jobs submitted until the end of the body."""
    with STARTS[coordinator]() as server, ExitStack() as proxies:
        assert not isinstance(server, Postgres)
        proxied_servers = {label: proxied(server, proxies) for label in LABELS}
        name = f"faults_{getpid()}_{next(_serial)}"
        fleet = Fleet(store, name, folder, server.address).unharmed()
        longest = longest_term(coordinator, TTL)
        async with open_fleet(fleet):
            for label, server_ in proxied_servers.items():
                fleet.start(label, NodeOverrides(None, server_.address, jump))
            for label in LABELS:
                await fleet.present(label)
            async with fleet.submitter.submitting():
                await fleet.acting_leader()
                yield Scene(fleet, server, proxied_servers, longest)
                await fleet.ran(20)
            await fleet.settle()
            assert terms_in(folder), "the nodes recorded no beliefs"


@pytest.mark.parametrize(("coordinator", "fault"), cases(FAULTS))
async def test_a_coordinator_that_fails_costs_time_and_nothing_else(
    request: pytest.FixtureRequest, coordinator: str, fault: str, tmp_path: Path
) -> None:
    request.getfixturevalue(coordinator)  # skips the test if it is not installed
    async with scene_on(coordinator, f"sqlite:///{tmp_path / 'fleet.db'}", tmp_path) as scene:
        await FAULTS[fault](scene)


@pytest.mark.parametrize(("coordinator", "jump"), cases(JUMPS))
async def test_a_leader_whose_clock_jumps_gives_way_and_nothing_is_fired_early(
    request: pytest.FixtureRequest,
    postgres: Postgres,
    coordinator: str,
    jump: str,
    tmp_path: Path,
) -> None:
    request.getfixturevalue(coordinator)
    async with scene_on(coordinator, postgres.address, tmp_path, JUMPS[jump]) as scene:
        await clock_of_the_leader_jumps(scene)
    drop(postgres.address, scene.fleet.setting.namespace)
