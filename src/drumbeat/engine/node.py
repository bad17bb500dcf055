"""The node: all services of one process, started and stopped together.

Stopping is done in the order that loses nothing: take no more work, resign so that another leads
at once, let what runs finish within the grace, give the rest back unharmed, tell the store, leave.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from math import inf
from typing import Any

from drumbeat.engine.bus import Bus
from drumbeat.engine.conflicts import Conflicts
from drumbeat.engine.elector import Elector
from drumbeat.engine.executor import Executor
from drumbeat.engine.keeper import Keeper
from drumbeat.engine.leadership import Leadership
from drumbeat.engine.patience import within
from drumbeat.engine.rooms import Rooms
from drumbeat.engine.run import CANCEL_GRACE
from drumbeat.engine.service import Service, serving
from drumbeat.engine.store_outage import StoreOutage
from drumbeat.engine.worker import Worker
from drumbeat.model.ending import GivenBack
from drumbeat.model.events import (
    JobConflicted,
    LeadershipGained,
    LeadershipLost,
    NodeDraining,
    NodeStarted,
    NodeStopped,
    ServiceFailed,
)
from drumbeat.model.ids import NodeId
from drumbeat.model.node import Role
from drumbeat.ports.runtime import Runtime
from drumbeat.ports.store import Store

LOST = "leadership was lost"
LAST_WORDS = 5.0
"""Seconds for interrupted handlers to end, and for the store to hear of it."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What a node is made of; wiring puts them together. None: the node lacks that role."""

    id: NodeId
    roles: frozenset[Role]
    keeper: Keeper
    rooms: Rooms
    executor: Executor
    worker: Worker | None
    elector: Elector | None
    leadership: Leadership | None
    others: tuple[Service, ...] = ()
    """Services that run whether the node leads or not."""
    followers_idle: bool = False
    """Whether the node takes jobs only while it leads."""
    in_process: bool = False
    """Whether no store is shared, so that the jobs of ticks run here because this node led."""


class RunningNode:
    """One process of the fleet, from its start to its end."""

    def __init__(self, parts: Parts, store: Store, runtime: Runtime, bus: Bus) -> None:
        self._parts = parts
        self._store = store
        self._runtime = runtime
        self._bus = bus
        self._services: asyncio.Task[None] | None = None
        self._unsubscribe: list[Callable[[], object]] = []
        self._draining = False
        self._hurried = False
        self.drain_requested = asyncio.Event()
        """Set when a person has asked for this node to be drained."""

    @property
    def leadership(self) -> Leadership | None:
        """Whether and how this node leads; None if it never does."""
        return self._parts.leadership

    @property
    def draining(self) -> bool:
        """Whether it takes no more work."""
        return self._draining

    @property
    def load(self) -> tuple[int, int]:
        """How many jobs this node may run at once, and how many it runs now."""
        parts = self._parts
        return (parts.rooms.count if Role.WORKER in parts.roles else 0), parts.rooms.busy

    async def start(self) -> None:
        """Show the first sign of life, then start every service."""
        parts = self._parts
        await parts.keeper.once()
        parts.keeper.on_drain = self._drain_on_request
        if parts.worker is not None:
            parts.worker.in_touch = parts.keeper.in_touch
        conflicts = Conflicts(self._store.jobs, self._bus)
        self._unsubscribe.append(self._bus.on(JobConflicted, conflicts.explain))
        self._unsubscribe += StoreOutage(self._bus, self._runtime.clock).attach()
        self._connect()
        self._services = asyncio.create_task(self._serve(), name="drumbeat-node")
        if parts.elector is not None:
            parts.elector.start()
        self._bus.emit(NodeStarted(parts.id, tuple(sorted(parts.roles))))

    async def stop(self, grace: float, reason: str = "the node is stopping") -> None:
        """Drain within so many seconds, and stop."""
        parts = self._parts
        self._drain(reason)
        try:
            if parts.elector is not None:
                await parts.elector.stop()
            if parts.worker is not None:
                await self._finish(parts.worker, grace, reason)
        finally:
            await self._end_services()
        if parts.worker is not None:
            await self._bounded(parts.worker.flush())
        await self._bounded(self._store.nodes.leave(parts.id))
        parts.executor.close()
        self._bus.emit(NodeStopped(parts.id))
        await self._bounded(self._bus.flush())

    async def crash(self) -> None:
        """End as a killed process does: nothing is drained, given back or told. For tests."""
        await self._end_services()
        self._parts.executor.close()

    async def wait(self) -> None:
        """Return when the services have ended, which they do not by themselves."""
        if self._services is not None:
            await asyncio.wait([self._services])

    def hurry(self) -> None:
        """End the grace of a stop that is under way."""
        self._hurried = True
        self._parts.rooms.attempts.ended.set()

    def _drain_on_request(self) -> None:
        self.drain_requested.set()
        self._drain("the node is draining")
        if self._parts.elector is not None:
            self._parts.elector.withdraw()

    def _drain(self, reason: str) -> None:
        if self._draining:
            return
        self._draining = True
        self._bus.emit(NodeDraining(self._parts.id, reason))
        if self._parts.worker is not None:
            self._parts.worker.stop_taking(reason)

    def _connect(self) -> None:
        parts = self._parts
        if parts.worker is None or parts.leadership is None:
            return
        worker, leadership = parts.worker, parts.leadership
        worker.leads = lambda: leadership.term is not None
        parts.rooms.attempts.epoch = lambda: (
            term.epoch.number if (term := leadership.term) else None
        )
        self._unsubscribe += (
            self._bus.on(LeadershipGained, lambda _: worker.wake()),
            self._bus.on(LeadershipLost, lambda _: worker.interrupt_leader_jobs(LOST)),
        )
        if parts.in_process:
            self._unsubscribe.append(
                self._bus.on(LeadershipLost, lambda _: worker.warn_tick_jobs(LOST))
            )
        if parts.followers_idle:
            in_touch = worker.in_touch
            worker.in_touch = lambda: leadership.term is not None and in_touch()
            self._unsubscribe.append(self._bus.on(LeadershipLost, lambda _: self._idle()))

    def _idle(self) -> None:
        """Give back all that was taken while this node led."""
        self._parts.rooms.give_back_waiting(LOST)
        for run in tuple(self._parts.rooms.runs.values()):
            run.interrupt(GivenBack(LOST), CANCEL_GRACE)

    async def _serve(self) -> None:
        parts = self._parts
        services = (parts.keeper, parts.worker, parts.leadership, *parts.others)
        async with serving([service for service in services if service], self._store):
            await self._bus.run()

    async def _finish(self, worker: Worker, grace: float, reason: str) -> None:
        rooms, clock = self._parts.rooms, self._runtime.clock
        until = clock.elapsed() + grace
        while not rooms.idle and clock.elapsed() < until and not self._hurried:
            await rooms.attempts.ended.wait(None if until == inf else until - clock.elapsed())
        worker.interrupt_all(reason)
        until = clock.elapsed() + LAST_WORDS
        while not rooms.idle and clock.elapsed() < until:
            await rooms.attempts.ended.wait(until - clock.elapsed())

    async def _end_services(self) -> None:
        for unsubscribe in self._unsubscribe:
            unsubscribe()
        self._unsubscribe.clear()
        if self._services is not None:
            self._services.cancel()
            await self._bounded(self._ended(self._services))

    async def _ended(self, services: asyncio.Task[None]) -> None:
        await asyncio.wait([services])

    async def _bounded(self, last: Coroutine[Any, Any, None]) -> None:
        try:
            async with within(self._runtime.clock, LAST_WORDS):
                await last
        except Exception as error:  # noqa: BLE001 - the store will find out by itself
            self._bus.emit(ServiceFailed("node", error, 1))
