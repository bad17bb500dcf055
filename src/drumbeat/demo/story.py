"""Runs the demo: what happens to the fleet, and when."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from drumbeat.demo.file_lock import is_stuck
from drumbeat.demo.fleet import DemoFleet
from drumbeat.demo.node import DemoSetting, make_app
from drumbeat.demo.proof import ComparedAccounts, Proof, prove
from drumbeat.demo.record import HandlerRecord
from drumbeat.engine.plumbing.runtime import SystemRuntime
from drumbeat.model.errors import ConfigurationError, WaitTimeout
from drumbeat.model.ids import label_of
from drumbeat.model.jobs.job import Status
from drumbeat.model.page import LARGEST_PAGE, PageRequest
from drumbeat.model.schedules.plan import Outcome, TickRecord

LOOK_EVERY = 0.1
LONGEST_WAIT = 60.0
SCHEDULES = 5
JOBS_PER_SECOND = 100


@dataclass(frozen=True, slots=True)
class DemoScript:
    """How large the fleet is, where it stores its data, and how long the demo takes."""

    nodes: int = 3
    workers: int = 2
    seconds: float = 30.0
    ttl: float = 3.0
    store: str | None = None
    """None: a SQLite file in a temporary folder."""
    coordinator: str | None = None
    queue: str | None = None


@dataclass(frozen=True, slots=True)
class Glimpse:
    """The state of the fleet, for display."""

    elapsed: float
    leader: str | None
    alive: tuple[str, ...]
    jobs: dict[Status, int]


class Story:
    """Plays a script, reports its steps, and proves how it ended."""

    def __init__(
        self, script: DemoScript, say: Callable[[str], None], show: Callable[[Glimpse], None]
    ) -> None:
        self._script = script
        self._say = say
        self._show = show
        runtime = SystemRuntime()
        self._clock = runtime.clock
        self._namespace = f"demo_{runtime.random.getrandbits(32):08x}"
        self._submitted = 0
        self._started = self._clock.elapsed()

    async def play(self) -> Proof:
        """Run the fleet to the end of the script, and compare the accounts."""
        for what, address in (
            ("store", self._script.store),
            ("coordinator", self._script.coordinator),
            ("queue", self._script.queue),
        ):
            if address is not None and address.startswith("memory:"):
                raise ConfigurationError(
                    f"the demo starts several processes, which cannot share the {what} {address}; "
                    f"name one that they can, or leave it out"
                )
        with tempfile.TemporaryDirectory(prefix="drumbeat-demo-") as folder:
            setting = self._setting(Path(folder))
            self._client, self._work = make_app(setting, "demo")
            self._record = HandlerRecord(setting.folder)
            self._addresses = {setting.store, setting.coordinator or setting.store}
            fleet = DemoFleet(setting, self._script.nodes, self._script.workers)
            async with self._client.connected(), fleet:
                self._fleet = fleet
                proof = await self._act()
                await fleet.stop()
            return proof

    def _setting(self, folder: Path) -> DemoSetting:
        store = self._script.store or f"sqlite:///{folder}/demo.db"
        runs = folder / "runs"
        runs.mkdir()
        if self._script.store or self._script.coordinator or self._script.queue:
            self._say(f"everything is kept under the namespace {self._namespace}")
        script = self._script
        return DemoSetting(
            store, script.coordinator, self._namespace, script.ttl, SCHEDULES, runs, script.queue
        )

    async def _act(self) -> Proof:
        script = self._script
        first = await self._leader()
        self._say(f"{len(self._fleet.alive)} processes; {first} leads")
        self._started = self._clock.elapsed()
        await self._until(script.seconds * 0.4)

        killed_at, epoch = self._clock.now(), await self._epoch()
        await self._fleet.kill(first)
        self._say(f"{first} was killed with kill -9 while it led")
        second = await self._leader(other_than=first)
        self._say(f"{second} leads now")
        await self._until(script.seconds * 0.6)

        await self._pause(second)
        self._say(f"{second} was paused with SIGSTOP while it led")
        third = await self._leader(other_than=second)
        self._say(f"{third} leads now")
        await self._until(script.seconds * 0.8)
        self._fleet.resume(second)
        await self._fleet.start(first)
        self._say(f"{second} continues, and {first} was started again")
        await self._until(script.seconds)
        return await self._compare(killed_at, epoch)

    async def _pause(self, label: str) -> None:
        """Pause a process at a moment when it does not hold the lock of a SQLite file."""
        self._fleet.pause(label)
        while any([await asyncio.to_thread(is_stuck, address) for address in self._addresses]):
            self._fleet.resume(label)
            await self._clock.sleep(LOOK_EVERY)
            self._fleet.pause(label)

    async def _until(self, seconds: float) -> None:
        """Submit jobs until this second of the demo."""
        while (elapsed := self._clock.elapsed() - self._started) < seconds:
            due = int(elapsed * JOBS_PER_SECOND)
            if due > self._submitted:
                await self._work.submit_many([(n,) for n in range(self._submitted, due)])
                self._submitted = due
            await self._glimpse(elapsed)
            await self._clock.sleep(LOOK_EVERY)

    async def _glimpse(self, elapsed: float) -> None:
        lease = await self._client.leadership.leader()
        jobs = dict.fromkeys(Status, 0)
        for counts in (await self._client.jobs.counts()).values():
            for status, count in counts.items():
                jobs[status] += count
        leader = label_of(lease.holder) if lease else None
        self._show(Glimpse(elapsed, leader, self._fleet.alive, jobs))

    async def _leader(self, other_than: str = "") -> str:
        give_up_at = self._clock.elapsed() + LONGEST_WAIT
        while self._clock.elapsed() < give_up_at:
            lease = await self._client.leadership.leader()
            if lease is not None and (label := label_of(lease.holder)) != other_than:
                return label
            await self._clock.sleep(LOOK_EVERY)
        raise WaitTimeout(f"no node began to lead within {LONGEST_WAIT:g} s")

    async def _epoch(self) -> int:
        return max((row.epoch or 0 for row in await self._rows("beat-0")), default=0)

    async def _compare(self, killed_at: datetime, epoch: int) -> Proof:
        self._say("waiting for the last ticks and jobs")
        end = self._clock.now()
        names = [f"beat-{number}" for number in range(SCHEDULES)]
        for name in names:
            await self._accounted(name, end)
            await self._client.schedules.pause(name, "the demo is over")
        await self._client.wait_until_idle(LONGEST_WAIT)
        due: dict[str, list[datetime]] = {}
        ledger: dict[str, list[datetime]] = {}
        takeovers: list[float] = []
        for name in names:
            stored = await self._client.schedules.get(name)
            rows = [row for row in await self._rows(name) if row.outcome is Outcome.FIRED]
            due[name] = list(stored.schedule.trigger.between(stored.created_at, end))
            ledger[name] = [row.tick_at for row in rows if row.tick_at <= end]
            takeovers += [
                (row.recorded_at - killed_at).total_seconds()
                for row in rows
                if (row.epoch or 0) > epoch
            ]
        completed = await self._completed()
        accounts = ComparedAccounts(due, ledger, self._record.read(), self._submitted, completed)
        return prove(accounts, min(takeovers, default=None))

    async def _accounted(self, name: str, until: datetime) -> None:
        give_up_at = self._clock.elapsed() + LONGEST_WAIT
        while (await self._client.schedules.get(name)).cursor < until:
            if self._clock.elapsed() > give_up_at:
                raise WaitTimeout(f"schedule {name!r} did not catch up in {LONGEST_WAIT:g} s")
            await self._clock.sleep(LOOK_EVERY)

    async def _completed(self) -> int:
        counts = (await self._client.jobs.counts()).values()
        every = sum(queue.get(Status.COMPLETED, 0) for queue in counts)
        ticks = 0
        for number in range(SCHEDULES):
            rows = await self._rows(f"beat-{number}")
            ticks += sum(row.outcome is Outcome.FIRED for row in rows)
        return every - ticks

    async def _rows(self, name: str) -> list[TickRecord]:
        rows: list[TickRecord] = []
        after: str | None = None
        while True:
            page = await self._client.schedules.ticks(name, PageRequest(LARGEST_PAGE, after))
            rows += page.items
            after = page.next
            if after is None:
                return rows
