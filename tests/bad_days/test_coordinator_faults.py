"""Whole nodes while their coordinator fails, or one of them cannot reach it.

Each node has wires of its own to every member of the coordinator. Whatever happens: no two nodes
take themselves for the leader at once, the epochs of the ledger never fall, and when it is over
every tick was fired once and every job was done.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from itertools import count, product
from os import getpid
from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet

from chaos.beliefs import terms_in
from chaos.node import Peculiar
from drumbeat.model.ids import label_of
from servers import Consul, Etcd, FaultProxy, Postgres, Redis

from .fleet import TTL, Fleet, clock, drop, open_fleet

Server = Etcd | Redis | Consul
STARTS: dict[str, Callable[[], Server]] = {
    "etcd": lambda: Etcd.start(nodes=3),
    "redis": Redis.start,
    "consul": Consul.start,
}
LATE = 15.0
"""Seconds after the end of a term within which somebody leads again, on a busy machine, too."""
LABELS = ("one", "two")
_serial = count(1)
pytestmark = pytest.mark.timeout(600)


@dataclass(frozen=True, slots=True)
class Line:
    """The wires of one node to all members of the coordinator."""

    address: str
    wires: Sequence[FaultProxy]


@dataclass(frozen=True, slots=True)
class Day:
    """A fleet, its coordinator, and what is between them."""

    fleet: Fleet
    server: Server
    lines: dict[str, Line]
    longest_term: float

    async def another_leads(self, label: str) -> None:
        """Return when it is not this node that leads; it must not take long."""
        async with asyncio.timeout(self.longest_term + LATE):
            lease = await self.fleet.leader()
            while label_of(lease.holder) == label:
                lease = await self.fleet.leader(other_than=lease)


Fault = Callable[[Day], Awaitable[None]]


async def its_own_leader_killed(day: Day) -> None:
    server = day.server
    doomed = server if isinstance(server, Redis) else await asyncio.to_thread(server.leader)
    await asyncio.to_thread(doomed.kill)
    await clock.sleep(TTL)
    await asyncio.to_thread(doomed.start_again)


async def restarted_empty(day: Day) -> None:
    before = await day.fleet.leader()
    await asyncio.to_thread(day.server.kill)
    await asyncio.to_thread(day.server.restart_empty)
    after = await day.fleet.leader(other_than=before)
    assert after.domain != before.domain


async def paused(day: Day) -> None:
    await asyncio.to_thread(day.server.pause)
    since = clock.elapsed()
    await clock.sleep(2 * TTL)
    until = clock.elapsed()
    await asyncio.to_thread(day.server.resume)
    believed = terms_in(day.fleet.setting.folder)
    assert believed
    assert [each for each in believed if each.until > since + TTL and each.since < until] == []


def leader_cut_off(cut: Callable[[FaultProxy], None]) -> Fault:
    async def cut_off(day: Day) -> None:
        label = label_of((await day.fleet.leader()).holder)
        for wire in day.lines[label].wires:
            cut(wire)
        await day.another_leads(label)
        await clock.sleep(TTL)
        for wire in day.lines[label].wires:
            wire.heal()

    return cut_off


def answers_take(seconds: float) -> Fault:
    async def slow(day: Day) -> None:
        wires = [wire for line in day.lines.values() for wire in line.wires]
        for wire in wires:
            wire.delay(seconds / 2)
        await clock.sleep(2 * TTL)
        for wire in wires:
            wire.heal()

    return slow


async def clock_of_the_leader_jumps(day: Day) -> None:
    label = label_of((await day.fleet.leader()).holder)
    day.fleet.jump(label)
    await day.another_leads(label)


FAULTS: dict[str, Fault] = {
    "its own leader killed": its_own_leader_killed,
    "restarted empty": restarted_empty,
    "paused": paused,
    "leader cut off": leader_cut_off(FaultProxy.black_hole),
    "leader cannot ask": leader_cut_off(lambda wire: wire.stall("to_server")),
    "leader gets no answer": leader_cut_off(lambda wire: wire.stall("to_client")),
    "answers take 0.5 s": answers_take(0.5),
    "answers take 2 s": answers_take(2.0),
}
JUMPS = {"an hour ahead": 3600.0, "an hour back": -3600.0, "a day ahead": 86_400.0}
ALWAYS = {("consul", "paused")}
"""What `make test` runs of this; the other faults also meet it in `test_chaos`."""


def cases(faults: Iterable[str]) -> list[ParameterSet]:
    return [
        pytest.param(*case, id=": ".join(case), marks=() if case in ALWAYS else pytest.mark.chaos)
        for case in product(STARTS, faults)
    ]


@asynccontextmanager
async def day_on(
    coordinator: str, store: str, folder: Path, jump: float = 0.0
) -> AsyncGenerator[Day]:
    """A fleet of two nodes, one of which leads, and work for both until the body is over."""
    with STARTS[coordinator]() as server, ExitStack() as proxies:
        lines = {label: _line(server, proxies) for label in LABELS}
        name = f"faults_{getpid()}_{next(_serial)}"
        fleet = Fleet(store, name, folder, server.address).unharmed()
        longest = 2 * TTL if coordinator == "consul" else TTL
        async with open_fleet(fleet):
            for label, line in lines.items():
                fleet.start(label, Peculiar(None, line.address, jump))
            for label in LABELS:
                await fleet.present(label)
            async with fleet.under_load():
                await fleet.acting_leader()
                yield Day(fleet, server, lines, longest)
                await fleet.ran(20)
            await fleet.settle()
            assert terms_in(folder), "the nodes did not say what they believed"


def _line(server: Server, proxies: ExitStack) -> Line:
    members = [server] if isinstance(server, Redis) else server.members
    wires = [proxies.enter_context(FaultProxy.start(member.port)) for member in members]
    scheme = server.address.partition(":")[0]
    return Line(f"{scheme}://" + ",".join(f"127.0.0.1:{wire.port}" for wire in wires), wires)


@pytest.mark.parametrize(("coordinator", "fault"), cases(FAULTS))
async def test_a_coordinator_that_fails_costs_time_and_nothing_else(
    request: pytest.FixtureRequest, coordinator: str, fault: str, tmp_path: Path
) -> None:
    request.getfixturevalue(coordinator)  # where there is none, this is skipped and said
    async with day_on(coordinator, f"sqlite:///{tmp_path / 'fleet.db'}", tmp_path) as day:
        await FAULTS[fault](day)


@pytest.mark.parametrize(("coordinator", "jump"), cases(JUMPS))
async def test_a_leader_whose_clock_jumps_gives_way_and_nothing_is_fired_early(
    request: pytest.FixtureRequest,
    postgres: Postgres,
    coordinator: str,
    jump: str,
    tmp_path: Path,
) -> None:
    request.getfixturevalue(coordinator)
    async with day_on(coordinator, postgres.address, tmp_path, JUMPS[jump]) as day:
        await clock_of_the_leader_jumps(day)
    drop(postgres.address, day.fleet.setting.namespace)
