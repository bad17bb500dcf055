"""The node: all services of one process, started and stopped together.

The order of stopping loses nothing: take no more work, resign so that another leads at once, let
running jobs finish within the grace, give the rest back unharmed, settle with the store, leave.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from math import inf
from typing import Any

from drumbeat.engine.executing.executor import Executor
from drumbeat.engine.leading.elector import LeaderElector
from drumbeat.engine.leading.leadership import Leadership
from drumbeat.engine.lifecycle.registration import Registration
from drumbeat.engine.lifecycle.store_outage import StoreOutage
from drumbeat.engine.plumbing.bus import Bus
from drumbeat.engine.plumbing.service import Service, ServiceContext, serving
from drumbeat.engine.plumbing.time_outs import timeout_after
from drumbeat.engine.working.heartbeat import Heartbeat
from drumbeat.engine.working.node_state import NodeState
from drumbeat.engine.working.pools import ExecutionPools
from drumbeat.engine.working.worker import Worker
from drumbeat.model.errors import Unavailable
from drumbeat.model.events import (
    JobConflicted,
    JobExcluded,
    JobExpired,
    JobsExpired,
    JobSkipped,
    LeadershipGained,
    LeadershipLost,
    NodeDraining,
    NodeStarted,
    NodeStopped,
    ServiceFailed,
    TickFired,
    WitnessLost,
    WitnessTaken,
)
from drumbeat.model.fleet.node import Role
from drumbeat.model.ids import NodeId
from drumbeat.model.jobs.job import LEADER_QUEUE, OnConflict
from drumbeat.ports.store import JobStore, Store

LOST = "leadership was lost"
STOP_TIMEOUT = 5.0
"""Seconds for interrupted handlers to end, and for the store to be told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeParts:
    """What a node is made of. None: the node lacks that role."""

    id: NodeId
    roles: frozenset[Role]
    state: NodeState
    heartbeat: Heartbeat
    registration: Registration
    pools: ExecutionPools
    executor: Executor
    worker: Worker | None
    elector: LeaderElector | None
    others: tuple[Service, ...] = ()
    """Services that run whether the node leads or not."""
    in_process: bool = False
    """Whether no store is shared, so that the jobs of ticks run here because this node led."""


class RunningNode:
    """One process of the fleet, from its start to its end."""

    def __init__(self, parts: NodeParts, store: Store, context: ServiceContext) -> None:
        self._parts = parts
        self._store = store
        self._runtime = context.runtime
        self._bus = context.bus
        self._services: asyncio.Task[None] | None = None
        self._unsubscribe: list[Callable[[], object]] = []
        self.drain_requested = parts.state.drain_requested
        self.leadership: Leadership | None = parts.state.leadership
        self.draining = False
        self._hurried = False

    @property
    def load(self) -> tuple[int, int]:
        """How many jobs this node may run at once, and how many it runs now."""
        parts = self._parts
        return (parts.pools.count if Role.WORKER in parts.roles else 0), parts.pools.busy

    async def start(self) -> None:
        """Send the first heartbeat, then start every service."""
        parts = self._parts
        if parts.state.witness is not None:
            self._unsubscribe += (  # before it is taken, which may be while the first is sent
                self._bus.on(WitnessTaken, lambda _: parts.heartbeat.wake()),
                self._bus.on(WitnessLost, lambda _: parts.heartbeat.wake()),
            )
            await parts.state.witness.start()  # before its number is in the row of this node
        await parts.heartbeat.once()
        conflicts = ConflictReporter(self._store.jobs, self._bus)
        self._unsubscribe += (
            self._bus.on(JobConflicted, conflicts.explain),
            self._bus.on(JobsExpired, ExpiryReporter(self._store.jobs, self._bus).report),
            *StoreOutage(self._bus, self._runtime.clock).attach(),
        )
        counts = parts.pools.attempts.counts
        self._unsubscribe.append(self._bus.on(TickFired, lambda _: counts.fired()))
        self._follow_leadership()
        self._services = asyncio.create_task(self._serve(), name="drumbeat-node")
        if parts.elector is not None:
            parts.elector.start()
        self._bus.emit(NodeStarted(parts.id, tuple(sorted(parts.roles))))

    def describe_anew(self) -> None:
        """Say at once what has changed: the store and the coordinator are told at intervals."""
        self._parts.heartbeat.wake()
        self._parts.registration.wake()

    async def stop(self, grace: float, reason: str = "the node is stopping") -> None:
        """Drain within this many seconds, and stop."""
        parts = self._parts
        self._drain(reason)
        try:
            if parts.elector is not None:
                await parts.elector.stop()
            if parts.worker is not None:
                await self._finish(grace, reason)
        finally:
            await self._end_services()
        if parts.worker is not None:
            await self._bounded(parts.worker.flush())
        await self._bounded(self._store.nodes.leave(parts.id))
        await parts.registration.leave(parts.id)
        await self._free_witness()
        parts.executor.close()
        self._bus.emit(NodeStopped(parts.id))
        await self._bounded(self._bus.flush())

    async def crash(self) -> None:
        """End like a killed process: nothing is drained, given back or reported. For tests."""
        await self._end_services()
        await self._free_witness()
        self._parts.executor.close()

    async def wait(self) -> None:
        """Return when the services have ended, which they do not by themselves."""
        if self._services is not None:
            await asyncio.wait([self._services])

    def hurry(self) -> None:
        """End the grace of a stop that is under way."""
        self._hurried = True
        self._parts.pools.attempts.ended.set()

    async def _drain_on_request(self) -> None:
        await self.drain_requested.wait()
        self._drain("the node is draining")
        if self._parts.elector is not None:
            self._parts.elector.withdraw()

    def _drain(self, reason: str) -> None:
        if self.draining:
            return
        self.draining = True
        self._parts.registration.wake()
        self._bus.emit(NodeDraining(self._parts.id, reason))
        if self._parts.worker is not None:
            self._parts.worker.stop_taking(reason)

    def _follow_leadership(self) -> None:
        worker = self._parts.worker
        if worker is None or self._parts.state.leadership is None:
            return
        self._unsubscribe += (
            self._bus.on(LeadershipGained, lambda _: worker.wake()),
            self._bus.on(LeadershipLost, lambda _: self._give_up_leader_jobs()),
        )

    def _give_up_leader_jobs(self) -> None:
        """Give back what was taken because this node led."""
        parts = self._parts
        parts.pools.give_back(LOST, LEADER_QUEUE)
        if parts.in_process:  # no other node has the ticks: the jobs would run here again
            for run in parts.pools.attempts.runs.values():
                if run.attempt.spec.tick_at is not None:
                    run.warn(LOST)
        if parts.state.followers_idle:
            parts.pools.give_back(LOST)

    async def _serve(self) -> None:
        parts = self._parts
        services = (
            parts.heartbeat,
            parts.registration,
            parts.worker,
            parts.state.leadership,
            *parts.others,
        )
        async with (
            asyncio.TaskGroup() as group,
            serving([service for service in services if service], self._store),
        ):
            group.create_task(self._drain_on_request(), name="drumbeat-drain")
            await self._bus.run()

    async def _finish(self, grace: float, reason: str) -> None:
        pools, clock = self._parts.pools, self._runtime.clock
        until = clock.elapsed() + grace
        while not pools.idle and clock.elapsed() < until and not self._hurried:
            await pools.attempts.ended.wait(None if until == inf else until - clock.elapsed())
        pools.give_back(reason, grace=0.0)
        until = clock.elapsed() + STOP_TIMEOUT
        while not pools.idle and clock.elapsed() < until:
            await pools.attempts.ended.wait(until - clock.elapsed())

    async def _end_services(self) -> None:
        for unsubscribe in self._unsubscribe:
            unsubscribe()
        self._unsubscribe.clear()
        if self._services is not None:
            self._services.cancel()
            await self._bounded(self.wait())

    async def _free_witness(self) -> None:
        if self._parts.state.witness is not None:
            await self._parts.state.witness.stop()

    async def _bounded(self, last: Coroutine[Any, Any, None]) -> None:
        try:
            async with timeout_after(self._runtime.clock, STOP_TIMEOUT):
                await last
        except Exception as error:  # noqa: BLE001 - the store notices by itself
            self._bus.emit(ServiceFailed("node", error, 1))


class ConflictReporter:
    """Reports which job found its limit reached, and which limit that was."""

    def __init__(self, jobs: JobStore, bus: Bus) -> None:
        self._jobs = jobs
        self._bus = bus

    async def explain(self, event: JobConflicted) -> None:
        """Look up the job, since a claim returns only its id, and report it."""
        try:
            (job,) = await self._jobs.get([event.job_id])
        except Unavailable:  # the services report that; the job has the reason
            return
        if job is None:  # its retention is over already
            return
        keys = [each.key for each in job.spec.limits if each.on_conflict is not OnConflict.WAIT]
        name = ", ".join(key.partition(":")[2] for key in keys)
        if job.was_skipped:
            self._bus.emit(JobSkipped(job, name))
        else:
            self._bus.emit(JobExcluded(job, name))


class ExpiryReporter:
    """Reports the jobs that have expired."""

    def __init__(self, jobs: JobStore, bus: Bus) -> None:
        self._jobs = jobs
        self._bus = bus

    async def report(self, event: JobsExpired) -> None:
        """Look the jobs up, since the store returns only their ids, and report each."""
        try:
            found = await self._jobs.get(event.job_ids)
        except Unavailable:  # the services report that; the jobs have the reason
            return
        for job in found:
            if job is not None:
                self._bus.emit(JobExpired(job))
