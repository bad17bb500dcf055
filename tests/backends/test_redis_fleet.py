"""A whole fleet that keeps its schedules in SQLite and is led through Redis, on two bad days."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from datetime import datetime, timedelta
from pathlib import Path

from drumbeat.coordinators.redis import RedisCoordinator
from drumbeat.demo.node import Setting, command
from drumbeat.demo.record import Record
from drumbeat.model.errors import Unavailable
from drumbeat.model.ids import label_of
from drumbeat.model.lease import SCHEDULER, Lease
from drumbeat.model.page import PageRequest
from drumbeat.model.plan import Outcome, TickRecord
from drumbeat.stores.sqlite import SqliteStore
from servers import Redis

from .redis_cases import CLOCK, connected, new_namespace, pass_time

TTL = 2.0
FAILOVER = TTL + 3
LOOK = timedelta(milliseconds=50)
SECOND = timedelta(seconds=1)


class Fleet:
    """Two nodes, each a process, and a look at what they agreed on."""

    def __init__(self, setting: Setting, coordinator: RedisCoordinator, store: SqliteStore) -> None:
        self.setting = setting
        self.coordinator = coordinator
        self.store = store
        self.nodes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, label: str) -> None:
        arguments = command(self.setting, label, ("scheduler", "worker"))
        self.nodes[label] = subprocess.Popen([sys.executable, *arguments])

    def kill(self, label: str) -> None:
        node = self.nodes.pop(label)
        node.kill()
        node.wait()

    async def leader(self, wanted: Callable[[Lease], bool], within: float) -> Lease:
        """The first leader that is as it was wanted."""
        async with asyncio.timeout(within):
            while True:
                lease = await self._current()
                if lease is not None and wanted(lease):
                    return lease
                await pass_time(LOOK)

    async def ticks(self) -> list[TickRecord]:
        page = await self.store.schedules.ticks("beat-0", PageRequest(size=1000))
        return list(reversed(page.items))

    async def fired_after(self, instant: datetime, count: int) -> None:
        """Return when so many ticks after the instant are on record."""
        async with asyncio.timeout(FAILOVER + count):
            while sum(tick.tick_at > instant for tick in await self.ticks()) < count:
                await pass_time(LOOK)

    async def _current(self) -> Lease | None:
        try:
            return await self.coordinator.leases.current(SCHEDULER)
        except Unavailable:
            return None


@asynccontextmanager
async def fleet_on(server: Redis, folder: Path) -> AsyncGenerator[Fleet]:
    path, records, namespace = folder / "fleet.db", folder / "records", new_namespace()
    records.mkdir()
    setting = Setting(f"sqlite:///{path}", server.address, namespace, TTL, 1, records)
    store = SqliteStore(path, CLOCK, namespace)
    async with connected(server.address, namespace) as coordinator:
        await store.open()
        with running(Fleet(setting, coordinator, store)) as fleet:
            yield fleet
        await store.close()


@contextmanager
def running(fleet: Fleet) -> Generator[Fleet]:
    try:
        fleet.start("one")
        fleet.start("two")
        yield fleet
    finally:
        for label in list(fleet.nodes):
            fleet.kill(label)


def assert_each_once(ticks: list[TickRecord]) -> None:
    """Every second has one tick, and each of them fired."""
    instants = [tick.tick_at for tick in ticks]
    assert instants == [instants[0] + number * SECOND for number in range(len(instants))]
    assert {tick.outcome for tick in ticks} == {Outcome.FIRED}
    epochs = [tick.epoch or 0 for tick in ticks]
    assert epochs == sorted(epochs)


async def test_a_killed_leader_and_then_an_emptied_server_cost_no_tick(
    redis: Redis, tmp_path: Path
) -> None:
    with Redis.start() as server:
        async with fleet_on(server, tmp_path) as fleet:
            first = await fleet.leader(lambda _: True, within=20)
            await fleet.fired_after(CLOCK.now(), 2)

            fleet.kill(label_of(first.holder))
            second = await fleet.leader(lambda lease: lease.holder != first.holder, FAILOVER)
            assert (second.domain, second.token > first.token) == (first.domain, True)
            fleet.start("three")

            server.kill()
            server.restart_empty()
            third = await fleet.leader(lambda lease: lease.domain != first.domain, FAILOVER)
            assert third.token > second.token
            await fleet.fired_after(CLOCK.now(), 2)

            ticks = await fleet.ticks()
            assert_each_once(ticks)
            leaders = {tick.leader for tick in ticks}
            assert {first.holder, third.holder} <= leaders
            ran = {entry.tick_at for entry in Record(tmp_path / "records").read()}
            assert {tick.tick_at for tick in ticks[:-2]} <= ran
