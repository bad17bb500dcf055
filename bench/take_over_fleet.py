"""Measures take-overs: real processes whose leader is killed repeatedly."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from drumbeat import Drumbeat
from drumbeat.demo.node import DemoSetting, command, make_app
from drumbeat.model.fleet.lease import Lease
from drumbeat.model.ids import label_of
from drumbeat.model.page import PageRequest
from drumbeat.model.schedules.plan import TickRecord

NODES = 3
BEAT = "beat-0"
LOOK_EVERY = 0.02
LONGEST_WAIT = 90.0
ROLES = ("scheduler", "worker")


class Fleet:
    """Processes on one SQLite file that elect a leader at one coordinator."""

    def __init__(self, setting: DemoSetting) -> None:
        self._setting = setting
        self._nodes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, label: str) -> None:
        """Start a node, or restart a killed one."""
        arguments = command(self._setting, label, ROLES)
        self._nodes[label] = subprocess.Popen(
            [sys.executable, *arguments],
            stdin=subprocess.PIPE,  # a node ends when this pipe is closed
        )

    def kill(self, label: str) -> None:
        self._nodes[label].kill()
        self._nodes[label].communicate()

    def kill_all(self) -> None:
        for label in self._nodes:
            self.kill(label)


async def take_overs(address: str | None, ttl: float, rounds: int, namespace: str) -> list[float]:
    """Seconds from each kill of the leader to the first tick of the next one.

    The store is a SQLite file, and the coordinator too if no address is given.
    """
    with tempfile.TemporaryDirectory(prefix="drumbeat-bench-") as name:
        folder = Path(name)
        setting = DemoSetting(
            f"sqlite:///{folder / 'bench.db'}", address, namespace, ttl, 1, folder
        )
        client, _ = make_app(setting, "bench")
        async with client.connected():
            with _running(setting) as fleet:
                return [await _take_over(client, fleet) for _ in range(rounds)]


@contextmanager
def _running(setting: DemoSetting) -> Generator[Fleet]:
    fleet = Fleet(setting)
    try:
        for number in range(NODES):
            fleet.start(f"node-{number}")
        yield fleet
    finally:
        fleet.kill_all()


async def _take_over(client: Drumbeat, fleet: Fleet) -> float:
    lease, last = await _settled(client)
    killed_at = datetime.now(UTC)
    fleet.kill(label_of(lease.holder))
    after = await _first_tick(client, lambda tick: tick.leader != lease.holder, last)
    fleet.start(label_of(lease.holder))
    return (after.recorded_at - killed_at).total_seconds()


async def _settled(client: Drumbeat) -> tuple[Lease, TickRecord]:
    """The lease of a leader that has fired while all nodes are alive, and its last tick."""
    give_up_at = time.monotonic() + LONGEST_WAIT
    while time.monotonic() < give_up_at:
        lease = await client.leadership.leader()
        alive = [each for each in await client.nodes() if each.alive]
        if lease is not None and len(alive) >= NODES:
            ticks = (await client.schedules.ticks(BEAT, PageRequest(size=1))).items
            if ticks and ticks[0].leader == lease.holder:
                return lease, ticks[0]
        await asyncio.sleep(LOOK_EVERY)
    raise TimeoutError(f"no node led a complete fleet within {LONGEST_WAIT:g} s")


async def _first_tick(
    client: Drumbeat, wanted: Callable[[TickRecord], bool], last: TickRecord
) -> TickRecord:
    give_up_at = time.monotonic() + LONGEST_WAIT
    while time.monotonic() < give_up_at:
        ticks = (await client.schedules.ticks(BEAT, PageRequest(size=100))).items
        later = [tick for tick in ticks if tick.tick_at > last.tick_at and wanted(tick)]
        if later:
            return min(later, key=lambda tick: tick.recorded_at)
        await asyncio.sleep(LOOK_EVERY)
    raise TimeoutError(f"no node took over within {LONGEST_WAIT:g} s")
