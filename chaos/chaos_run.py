"""A chaos run: run a fleet on one pair under faults, heal it, and collect its history."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TypeVar

from chaos.client import Client, Work, clock, once_available
from chaos.fault_injector import FaultInjector, targets_of
from chaos.fault_plan import FaultTargets, PlannedFault, plan_faults
from chaos.history import Fault, History, Kind
from chaos.http_client import http_work
from chaos.journal import Journal, read_journals
from chaos.node import make_app
from chaos.node_processes import NodeProcesses, may_lead
from chaos.pairs import PairBackends
from chaos.records import read_journal_records, read_store
from drumbeat import Drumbeat
from drumbeat.demo.node import DemoSetting
from drumbeat.model.errors import WaitTimeout
from servers import Missing

LOOK_EVERY = 0.1
PATIENCE = 120.0
"""Seconds after the healing within which the fleet has to catch up."""
START_PATIENCE = 120.0
SCHEDULES = 2

T = TypeVar("T")


class NotStarted(Exception):
    """A node could not be started; the message has its last output."""


@dataclass(frozen=True, slots=True)
class RunSettings:
    """The length of a run, the size of its fleet, and its seed."""

    seconds: float = 120.0
    nodes: int = 5
    ttl: float = 2.0
    seed: int = 1
    tracks: Sequence[Sequence[PlannedFault]] = ()
    """Faults one after the other in each track, for as long as that takes; none: by the seed."""


class ChaosRun:
    """One run on one pair."""

    def __init__(self, pair: str, settings: RunSettings, report: Callable[[str], None]) -> None:
        self._pair = pair
        self._settings = settings
        self._report = report
        self._seed = f"{settings.seed}/{pair}"
        self._names = [f"beat-{number}" for number in range(SCHEDULES)]
        self._unsettled: list[str] = []

    async def run(self) -> History:
        """Start everything, inject the faults, heal, and collect the history."""
        folder = Path(tempfile.mkdtemp(prefix="drumbeat-chaos-"))
        try:
            with await asyncio.to_thread(PairBackends, self._pair) as backends:
                return await self._run_on(backends, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    async def _run_on(self, backends: PairBackends, folder: Path) -> History:
        settings = self._settings
        node_setting = DemoSetting(
            backends.store,
            backends.coordinator,
            "chaos",
            settings.ttl,
            SCHEDULES,
            folder,
            backends.queue,
        )
        app, work = make_app(node_setting, "client")
        processes = NodeProcesses(backends, node_setting, backends.parts.labels(settings.nodes))
        injector = FaultInjector(backends, processes, app, self._seed)
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(app.connected())
            submitting: Work = work
            if processes.urls:
                submitting = await stack.enter_async_context(http_work(work.name, processes.urls))
            client = Client(submitting, Journal(folder, "client"))
            for label in processes.labels:
                processes.start(label)
            supervising = asyncio.create_task(processes.supervise())
            try:
                await self._all_started(folder, processes)
                zero, began_at = clock.elapsed(), clock.now()
                async with client.submitting():
                    await self._inject(injector, targets_of(backends, processes))
                self._report(f"{self._pair}: healed; waiting for the last ticks and jobs")
                end = await self._settle(app)
                stored = await answered(lambda: read_store(app, self._names, end))
            finally:
                supervising.cancel()
                await processes.kill_all()
        recorded = read_journal_records(folder, zero, processes.ends, settings.ttl)
        return History(
            pair=self._pair,
            seed=settings.seed,
            ttl=settings.ttl,
            longest_term=backends.longest_term(settings.ttl),
            began_at=began_at,
            seconds=clock.elapsed() - zero,
            nodes=processes.labels,
            servers=(*backends.servers, *(["disk"] if backends.disk else [])),
            due=stored.due,
            ledger=stored.ledger,
            lives=recorded.lives,
            terms=recorded.terms,
            gains=recorded.gains,
            runs=recorded.runs,
            endings=recorded.endings,
            jobs=stored.jobs,
            submissions=client.submissions,
            faults=_in_seconds(injector.faults, zero, recorded.blocks),
            unsettled=[*self._unsettled, *stored.skipped],
            crashes=processes.crashes,
            candidates=[label for label in processes.labels if may_lead(label)],
            forgetful=backends.forgetful,
            left_out=_left_out(backends, processes),
        )

    async def _inject(self, injector: FaultInjector, targets: FaultTargets) -> None:
        """Inject all faults. When this returns, all are healed."""
        settings, began = self._settings, clock.elapsed()
        if settings.tracks:
            await injector.inject_in_turn(settings.tracks)
            return
        faults = plan_faults(self._seed, targets, settings.seconds, settings.ttl)
        self._report(f"{self._pair}: {len(targets.nodes)} nodes, {len(faults)} faults are planned")
        await injector.inject_all(faults)
        await clock.sleep(began + settings.seconds - clock.elapsed())

    async def _all_started(self, folder: Path, processes: NodeProcesses) -> None:
        async with asyncio.timeout(START_PATIENCE):
            while sum(each.kind == "started" for each in read_journals(folder)) < len(
                processes.labels
            ):
                if processes.crashes:
                    raise NotStarted(f"{self._pair}: {processes.crashes[0]}")
                await clock.sleep(LOOK_EVERY)

    async def _settle(self, app: Drumbeat) -> datetime:
        """Wait until the fleet has caught up; record what does not. Returns the last instant."""
        end = await answered(app.store.now)
        for name in self._names:
            if not await self._caught_up(app, name, end):
                self._unsettled.append(f"{name} was not caught up {PATIENCE:g} s after the healing")
            await answered(partial(app.schedules.pause, name))
        try:
            await answered(lambda: app.wait_until_idle(PATIENCE))
        except WaitTimeout as error:
            self._unsettled.append(str(error))
        return end

    async def _caught_up(self, app: Drumbeat, name: str, end: datetime) -> bool:
        give_up_at = clock.elapsed() + PATIENCE
        while (await answered(lambda: app.schedules.get(name))).cursor < end:
            if clock.elapsed() > give_up_at:
                return False
            await clock.sleep(LOOK_EVERY)
        return True


def _in_seconds(faults: list[Fault], zero: float, blocks: list[Fault]) -> list[Fault]:
    done = [
        Fault(each.kind, each.target, each.since - zero, each.until - zero, each.detail)
        for each in faults
        if each.kind is not Kind.BLOCK  # the journals of the handlers have the exact times
    ]
    return sorted([*done, *blocks], key=lambda fault: fault.since)


def _left_out(backends: PairBackends, processes: NodeProcesses) -> list[str]:
    missing: list[str] = []
    if not processes.can_skew and backends.disk is None:
        missing.append("no clock was skewed: `python -m servers install faketime`")
    if backends.disk is not None and not backends.disk.mounted:
        missing.append(
            "the disk was filled by a limit on file sizes, because only root can mount one"
        )
    return missing


async def answered(ask: Callable[[], Awaitable[T]]) -> T:
    """The answer of a store that may still recover."""
    return await once_available(ask, 2 * PATIENCE)


async def run_pairs(
    pairs: Sequence[str], settings: RunSettings, report: Callable[[str], None], at_once: int = 1
) -> dict[str, History | Missing]:
    """Do a run on each pair, several at once; `Missing` if its servers are not installed."""
    slots = asyncio.Semaphore(at_once)

    async def run(pair: str) -> History | Missing:
        async with slots:
            try:
                return await ChaosRun(pair, settings, report).run()
            except Missing as error:
                report(f"NOT RUN: {pair}: {error}")
                return error

    async with asyncio.TaskGroup() as group:
        runs = {pair: group.create_task(run(pair)) for pair in pairs}
    return {pair: task.result() for pair, task in runs.items()}
