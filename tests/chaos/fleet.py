"""A fleet of real processes on one server, with a client that submits jobs during the test.

The client records which jobs were acknowledged, the ledger which ticks fired, and the handlers what
they ran, independently of Drumbeat. `settle` waits for unfinished work and compares the three.
"""

from __future__ import annotations

import asyncio
import signal
import subprocess
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Self, TypeVar

import psycopg

from chaos.beliefs import clashes, terms_in
from chaos.client import Client, once_available
from chaos.journal import Journal
from chaos.node import ROOT, AppOverrides, NodeOverrides, command, make_app
from chaos.records import runs_in
from drumbeat import Drumbeat
from drumbeat.demo.node import DemoSetting
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.model.fleet.lease import Lease
from drumbeat.model.fleet.node import ListedNode
from drumbeat.model.ids import JobId, label_of
from drumbeat.model.jobs.job import Status
from drumbeat.model.page import PageRequest
from drumbeat.model.schedules.plan import Outcome, TickRecord
from drumbeat.ports.runtime import Runtime
from drumbeat.ports.store import Store
from tests.support.postgres_namespace import until as wait_until

TTL = 4.0
"""Seconds. A busy machine may delay a renewal by a second or two without a lost term."""
LONG = 120.0
"""A lifetime in seconds within which no live node counts as dead, however busy the machine is."""
SOON = 90.0
"""The longest wait for an expected event on a busy machine, in seconds."""
LOOK_EVERY = 0.05
BATCH = 10
SHORTEST_RUN = timedelta(seconds=3)
"""The minimum, so that several ticks are due."""
BEATS = ("beat-0", "beat-1")
DEFAULTS = NodeOverrides()

clock = SystemClock()
T = TypeVar("T")


class Fleet:
    """Nodes as processes, and the checks on what they did."""

    def __init__(
        self, address: str, namespace: str, folder: Path, coordinator: str | None = None
    ) -> None:
        self.setting = DemoSetting(address, coordinator, namespace, TTL, len(BEATS), folder)
        self.client, work = make_app(self.setting, "client")
        self.submitter = Client(work, Journal(folder, "client"), BATCH, LOOK_EVERY)
        self._nodes: dict[str, subprocess.Popen[bytes]] = {}
        self._harmed = False
        self._lifetime = TTL

    def unharmed(self) -> Self:
        """Declare that no node dies or counts as dead, so that no job may run twice."""
        self._lifetime = LONG
        return self

    def start(self, label: str, overrides: NodeOverrides = DEFAULTS) -> None:
        mine = replace(overrides, lifetime=self._lifetime)
        self._nodes[label] = subprocess.Popen(command(self.setting, label, mine), cwd=ROOT)

    def kill(self, label: str) -> None:
        self._harmed = True
        node = self._nodes.pop(label)
        node.kill()
        node.wait()

    def kill_all(self) -> None:
        for label in list(self._nodes):
            self.kill(label)

    def excuse_reruns(self) -> None:
        """Declare that live nodes may count as dead, so that jobs may run twice."""
        self._harmed = True

    def stop(self, label: str) -> subprocess.Popen[bytes]:
        """Ask a node to stop in an orderly way; returns at once."""
        node = self._nodes.pop(label)
        node.terminate()
        return node

    def jump(self, label: str) -> None:
        """Let the wall clock of a node jump by the amount given at its start."""
        self._nodes[label].send_signal(signal.SIGUSR1)

    def app_here(self, store: str | Store, runtime: Runtime | None = None) -> Drumbeat:
        """The app for a node in this process, with another store or runtime."""
        coordinator = self.setting.coordinator or self.setting.store
        place = AppOverrides(store, coordinator, runtime, self._lifetime)
        app, _ = make_app(self.setting, "here", place)
        return app

    async def leader(self, other_than: Lease | None = None) -> Lease:
        """The lease of the leader, of another term than the given one."""
        async with asyncio.timeout(SOON):
            while True:
                lease = await answered(self.client.leadership.leader)
                if lease is not None and (
                    other_than is None or term_of(lease) != term_of(other_than)
                ):
                    return lease
                await clock.sleep(LOOK_EVERY)

    async def acting_leader(self, other_than: Lease | None = None) -> Lease:
        """The lease of a leader that has fired a tick, of another node than the given one.

        On a busy machine a node may lead so briefly that it never fires.
        """
        async with asyncio.timeout(SOON):
            while True:
                lease = await self.leader()
                fired = {tick.leader for tick in await self.ticks()}
                if lease.holder in fired and (
                    other_than is None or lease.holder != other_than.holder
                ):
                    return lease
                await clock.sleep(LOOK_EVERY)

    async def another_leads(self, than: Lease) -> None:
        """Return when another node leads than the one that held this lease."""
        async with asyncio.timeout(SOON):
            while (await self.leader()).holder == than.holder:
                await clock.sleep(LOOK_EVERY)

    async def present(self, label: str) -> None:
        """Return when a node has sent a heartbeat."""
        async with asyncio.timeout(SOON):
            while not any(label_of(each.node.id) == label for each in await self._present()):
                assert self._nodes[label].poll() is None, f"{label} ended by itself"
                await clock.sleep(LOOK_EVERY)

    async def _present(self) -> Sequence[ListedNode]:
        return await answered(self.client.nodes)

    async def ended(self, node: subprocess.Popen[bytes]) -> None:
        """Return when a stopped node has exited with 0."""
        await until(lambda: node.poll() is not None)
        assert node.returncode == 0

    async def acknowledged(self, more: int) -> None:
        """Return when this many more jobs were acknowledged."""
        wanted = len(self.submitter.submissions.acknowledged) + more
        await until(lambda: len(self.submitter.submissions.acknowledged) >= wanted)

    async def ran(self, more: int) -> None:
        """Return when this many more handlers have run."""
        wanted = len(runs_in(self.setting.folder)) + more
        await until(lambda: len(runs_in(self.setting.folder)) >= wanted)

    async def settle(self) -> None:
        """Wait until all work is finished, and compare the records."""
        ends = [await self._pause_caught_up(name) for name in BEATS]
        await answered(lambda: self.client.wait_until_idle(SOON))
        fired = 0
        for name, end in zip(BEATS, ends, strict=True):
            ticks = await self.ticks(name)
            await self._compare_ticks(name, [tick for tick in ticks if tick.tick_at <= end], end)
            fired += sum(tick.outcome is Outcome.FIRED for tick in ticks)
        await self._compare_jobs(fired)
        terms = terms_in(self.setting.folder)
        assert list(clashes(terms)) == [], "two nodes would have acted at once"
        epochs = [term.epoch for term in terms]
        assert epochs == sorted(set(epochs)), "each term has a higher epoch than those before"

    async def ticks(self, name: str = BEATS[0]) -> list[TickRecord]:
        page = await answered(lambda: self.client.schedules.ticks(name, PageRequest(size=1000)))
        return list(reversed(page.items))

    async def _pause_caught_up(self, name: str) -> datetime:
        """Wait until a schedule has caught up, and pause it. Returns the end of its due ticks."""
        stored = await answered(lambda: self.client.schedules.get(name))
        end = max(await answered(self.client.store.now), stored.created_at + SHORTEST_RUN)
        async with asyncio.timeout(SOON):
            while (await answered(lambda: self.client.schedules.get(name))).cursor < end:
                await clock.sleep(LOOK_EVERY)
        await answered(lambda: self.client.schedules.pause(name))
        return end

    async def _compare_ticks(self, name: str, ticks: list[TickRecord], end: datetime) -> None:
        stored = await self.client.schedules.get(name)
        due = list(stored.schedule.trigger.between(stored.created_at, end))
        fired = [tick.tick_at for tick in ticks]
        assert fired == due, "every tick is fired once"
        assert {tick.outcome for tick in ticks} == {Outcome.FIRED}
        assert all(tick.recorded_at >= tick.tick_at for tick in ticks), "none is fired early"
        epochs = [tick.epoch or 0 for tick in ticks]
        assert epochs == sorted(epochs), "no leader writes after its term"
        record = runs_in(self.setting.folder)
        runs = Counter(run.tick_at for run in record if run.what == name)
        assert runs.keys() >= set(fired), "the job of every tick was run"
        if self._lifetime == LONG:
            assert not self._harmed
            assert set(runs.values()) == {1}, "no node died, so no job was run twice"

    async def _compare_jobs(self, ticks: int) -> None:
        ran = {run.what for run in runs_in(self.setting.folder)}
        numbers = {int(what.removeprefix("job-")) for what in ran if what.startswith("job-")}
        promised = self.submitter.submissions.acknowledged
        assert promised.keys() <= numbers, "every acknowledged job was run"
        written = [batch for batch in self.submitter.submissions.unsure if batch & numbers]
        assert all(batch <= numbers for batch in written), "a batch is written whole or not at all"
        jobs = await self.client.store.jobs.get([JobId(number) for number in promised.values()])
        assert {job.status if job else None for job in jobs} == {Status.COMPLETED}
        (counts,) = (await self.client.jobs.counts()).values()
        assert counts == {Status.COMPLETED: len(promised) + BATCH * len(written) + ticks}


@asynccontextmanager
async def fleet_on(
    address: str, namespace: str, folder: Path, coordinator: str | None = None
) -> AsyncGenerator[Fleet]:
    """A fleet of two nodes, one of which leads."""
    async with led(Fleet(address, namespace, folder, coordinator)) as fleet:
        yield fleet


@asynccontextmanager
async def unharmed_fleet_on(address: str, namespace: str, folder: Path) -> AsyncGenerator[Fleet]:
    """A fleet of two nodes, one of which leads, and none of which dies."""
    async with led(Fleet(address, namespace, folder).unharmed()) as fleet:
        yield fleet


@asynccontextmanager
async def led(fleet: Fleet) -> AsyncGenerator[Fleet]:
    """A fleet with two nodes, one of which leads."""
    async with open_fleet(fleet):
        fleet.start("one")
        fleet.start("two")
        await fleet.leader()
        yield fleet


@asynccontextmanager
async def open_fleet(fleet: Fleet) -> AsyncGenerator[Fleet]:
    """A fleet whose nodes are started in the body."""
    async with fleet.client.connected():
        try:
            yield fleet
        finally:
            fleet.kill_all()


def drop(address: str, namespace: str) -> None:
    """Drop the schema of a fleet whose processes were killed.

    The server may still execute a statement of a killed process, which can cause a deadlock.
    """
    with psycopg.connect(address, autocommit=True) as connection:
        while True:
            try:
                connection.execute(f'DROP SCHEMA IF EXISTS "{namespace}" CASCADE'.encode())
            except psycopg.errors.DeadlockDetected:
                continue
            return


def term_of(lease: Lease) -> tuple[str, int]:
    """The identity of a term, also across coordinators that were emptied."""
    return lease.domain, lease.token


async def answered(ask: Callable[[], Awaitable[T]]) -> T:
    """The answer of a store that may be away for a while."""
    return await once_available(ask, SOON)


async def until(true: Callable[[], bool]) -> None:
    """Wait for an event that sends no notification."""
    await wait_until(true, SOON)
