"""A fleet: real processes on one server, a client that submits all the while, and the accounts.

The client knows which jobs were acknowledged, the ledger knows which ticks were fired, and the
handlers wrote down what they ran, outside of Drumbeat. `settle` waits for the rest and compares.
"""

from __future__ import annotations

import asyncio
import signal
import subprocess
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Self, TypeVar

import psycopg

from chaos.beliefs import clashes, terms_in
from chaos.gathering import runs_in
from chaos.node import ROOT, Peculiar, Place, command, make_app
from drumbeat import Drumbeat
from drumbeat.demo.node import DemoSetting
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.model.errors import Unavailable
from drumbeat.model.fleet.lease import Lease
from drumbeat.model.fleet.node import NodeRecord
from drumbeat.model.ids import JobId, label_of
from drumbeat.model.jobs.job import Status
from drumbeat.model.page import PageRequest
from drumbeat.model.schedules.plan import Outcome, TickRecord
from drumbeat.ports.runtime import Runtime
from drumbeat.ports.store import Store

TTL = 4.0
"""Seconds. A busy machine may keep a node from renewing for a second or two, and nobody loses."""
LONG = 120.0
"""Seconds of silence in which no node is taken for dead, however busy the machine is."""
SOON = 90.0
"""Seconds that a busy machine may take for what comes by itself."""
LOOK_EVERY = 0.05
BATCH = 10
SHORTEST_DAY = timedelta(seconds=3)
"""A shorter one would not tell much of the ticks."""
BEATS = ("beat-0", "beat-1")
ORDINARY = Peculiar()

clock = SystemClock()
T = TypeVar("T")


@dataclass(slots=True)
class Submissions:
    """What the client knows of the jobs that it has submitted."""

    acknowledged: dict[int, JobId] = field(default_factory=dict[int, JobId])
    """By their numbers; the store has promised to run them."""
    unsure: list[frozenset[int]] = field(default_factory=list[frozenset[int]])
    """Batches of numbers that were not answered: each is in the store as a whole, or not at all."""
    errors: list[Unavailable] = field(default_factory=list[Unavailable])


class Fleet:
    """Nodes as processes, and an eye on what they do."""

    def __init__(
        self, address: str, namespace: str, folder: Path, coordinator: str | None = None
    ) -> None:
        self.setting = DemoSetting(address, coordinator, namespace, TTL, len(BEATS), folder)
        self.submissions = Submissions()
        self.client, self._work = make_app(self.setting, "client")
        self._nodes: dict[str, subprocess.Popen[bytes]] = {}
        self._number = 0
        self._harmed = False
        self._lifetime = TTL

    def unharmed(self) -> Self:
        """No node dies here, and none is taken for dead: so no job may be run twice."""
        self._lifetime = LONG
        return self

    def start(self, label: str, peculiar: Peculiar = ORDINARY) -> None:
        mine = replace(peculiar, lifetime=self._lifetime)
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
        """The store is away for so long that live nodes may be taken for dead."""
        self._harmed = True

    def stop(self, label: str) -> subprocess.Popen[bytes]:
        """Ask a node to stop gracefully; returns at once."""
        node = self._nodes.pop(label)
        node.terminate()
        return node

    def jump(self, label: str) -> None:
        """Let the wall clock of a node jump, as was said when it was started."""
        self._nodes[label].send_signal(signal.SIGUSR1)

    def app_here(self, store: str | Store, runtime: Runtime | None = None) -> Drumbeat:
        """The same app for a node in this process, on a store or a machine that is special."""
        coordinator = self.setting.coordinator or self.setting.store
        place = Place(store, coordinator, runtime, self._lifetime)
        app, _ = make_app(self.setting, "here", place)
        return app

    async def submit(self) -> None:
        """One batch of jobs; the outcome is written down, whatever it is."""
        numbers = range(self._number, self._number + BATCH)
        self._number += BATCH
        try:
            jobs = await self._work.submit_many([(number,) for number in numbers])
        except Unavailable as error:
            self.submissions.unsure.append(frozenset(numbers))
            self.submissions.errors.append(error)
        else:
            self.submissions.acknowledged |= {
                number: job.id for number, job in zip(numbers, jobs, strict=True)
            }

    @asynccontextmanager
    async def under_load(self) -> AsyncGenerator[None]:
        """Submit batches for as long as the body takes, and beyond any error."""

        async def submit() -> None:
            while not over.is_set():
                await self.submit()
                await clock.sleep(LOOK_EVERY)

        over = asyncio.Event()
        submitting = asyncio.create_task(submit())
        try:
            yield
        finally:
            over.set()
            await submitting

    async def leader(self, other_than: Lease | None = None) -> Lease:
        """Whoever leads, in another term than that."""
        async with asyncio.timeout(SOON):
            while True:
                lease = await answered(self.client.leadership.leader)
                if lease is not None and (
                    other_than is None or term_of(lease) != term_of(other_than)
                ):
                    return lease
                await clock.sleep(LOOK_EVERY)

    async def acting_leader(self, other_than: Lease | None = None) -> Lease:
        """Whoever leads, is another node than that, and has fired a tick.

        Who leads for a moment only, since the machine is busy, may never fire one.
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
        """Return when a node has shown that it is alive."""
        async with asyncio.timeout(SOON):
            while not any(label_of(each.node.id) == label for each in await self._present()):
                assert self._nodes[label].poll() is None, f"{label} ended by itself"
                await clock.sleep(LOOK_EVERY)

    async def _present(self) -> Sequence[NodeRecord]:
        return await answered(self.client.nodes)

    async def ended(self, node: subprocess.Popen[bytes]) -> None:
        """Return when a node that was stopped has ended, and ended well."""
        await until(lambda: node.poll() is not None)
        assert node.returncode == 0

    async def acknowledged(self, more: int) -> None:
        """Return when so many more jobs were acknowledged."""
        wanted = len(self.submissions.acknowledged) + more
        await until(lambda: len(self.submissions.acknowledged) >= wanted)

    async def ran(self, more: int) -> None:
        """Return when so many more handlers have run."""
        wanted = len(runs_in(self.setting.folder)) + more
        await until(lambda: len(runs_in(self.setting.folder)) >= wanted)

    async def settle(self) -> None:
        """Let everything come to its end, and compare the accounts."""
        ends = [await self._bring_to_its_end(name) for name in BEATS]
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

    async def _bring_to_its_end(self, name: str) -> datetime:
        """Wait until a schedule has caught up with the present, and pause it. Its last tick."""
        stored = await answered(lambda: self.client.schedules.get(name))
        end = max(await answered(self.client.store.now), stored.created_at + SHORTEST_DAY)
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
        promised = self.submissions.acknowledged
        assert promised.keys() <= numbers, "every acknowledged job was run"
        written = [batch for batch in self.submissions.unsure if batch & numbers]
        assert all(batch <= numbers for batch in written), "a batch is written whole or not at all"
        jobs = await self.client.store.jobs.get(list(promised.values()))
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

    What a killed process has asked for may still be under way in the server, and may want the
    tables in another order.
    """
    with psycopg.connect(address, autocommit=True) as connection:
        while True:
            try:
                connection.execute(f'DROP SCHEMA IF EXISTS "{namespace}" CASCADE'.encode())
            except psycopg.errors.DeadlockDetected:
                continue
            return


def term_of(lease: Lease) -> tuple[str, int]:
    """What tells one term from all others, also from those of a coordinator that was emptied."""
    return lease.domain, lease.token


async def answered(ask: Callable[[], Awaitable[T]]) -> T:
    """The answer of a store that may be away for a while."""
    async with asyncio.timeout(SOON):
        while True:
            try:
                return await ask()
            except Unavailable:
                await clock.sleep(LOOK_EVERY)


async def until(true: Callable[[], bool]) -> None:
    """Wait for what must come soon, but is told to nobody."""
    async with asyncio.timeout(SOON):
        while not true():
            await clock.sleep(LOOK_EVERY)
