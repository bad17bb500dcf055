"""Foreign leaders: detects a leader that does nothing for this node.

Two apps with one namespace at one coordinator share an election by accident, and the ticks of the
app that does not lead never fire. A follower can detect that: on a shared store, the leader is one
of its nodes; without a shared store, a leader that runs the same code publishes the same schedules
at the coordinator.

This only warns, and only after it has seen the same leader twice.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Sequence
from contextlib import suppress

from drumbeat.engine.leading.leadership import Term
from drumbeat.engine.plumbing.service import PeriodicCheck, Service, ServiceContext
from drumbeat.model.errors import Unavailable
from drumbeat.model.events import LeaderForeign
from drumbeat.model.fleet.lease import SCHEDULER, Lease
from drumbeat.model.ids import NodeId
from drumbeat.model.page import PageRequest
from drumbeat.ports.coordinator import Coordinator
from drumbeat.ports.store import NodeStore, ScheduleStore

LOOK_EVERY = 30.0
KEY = "in-process/schedules"
MOST_NAMES = 1_000
"""Schedules beyond this many are not compared: the coordinator keeps small values only."""


class ForeignLeaderCheck(PeriodicCheck):
    """Warns once of each leader that does nothing for this node."""

    name = "foreign-leader"

    def __init__(self, node: NodeId, coordinator: Coordinator, context: ServiceContext) -> None:
        super().__init__(LOOK_EVERY, context)
        self._node = node
        self._coordinator = coordinator
        self._suspect: NodeId | None = None
        self._reported: set[NodeId] = set()

    async def _look(self) -> None:
        with suppress(Unavailable):  # services that need an answer report the outage
            await self._check()

    async def _check(self) -> None:
        await self._coordinator.open()  # the node may have started while it was out of reach
        lease = await self._coordinator.leases.current(SCHEDULER)
        if lease is None or lease.holder == self._node or lease.holder in self._reported:
            self._suspect = None
            return
        event = await self._judge(lease)
        before, self._suspect = self._suspect, lease.holder if event is not None else None
        if event is not None and before == lease.holder:
            self._reported.add(lease.holder)
            self._bus.emit(event)

    @abstractmethod
    async def _judge(self, lease: Lease) -> LeaderForeign | None:
        """The warning about this leader; None: it works for this node."""


class StoreCheck(ForeignLeaderCheck):
    """For nodes on one store: the leader is one of its nodes."""

    def __init__(
        self, node: NodeId, coordinator: Coordinator, nodes: NodeStore, context: ServiceContext
    ) -> None:
        super().__init__(node, coordinator, context)
        self._nodes = nodes

    async def _judge(self, lease: Lease) -> LeaderForeign | None:
        known = {record.node.id for record in await self._nodes.list()}
        return None if lease.holder in known else LeaderForeign(self._node, lease.holder)


class ScheduleCheck(ForeignLeaderCheck):
    """For instances with a store each: the leader knows the schedules of this one."""

    def __init__(
        self,
        node: NodeId,
        coordinator: Coordinator,
        schedules: ScheduleStore,
        context: ServiceContext,
    ) -> None:
        super().__init__(node, coordinator, context)
        self._schedules = schedules

    async def _judge(self, lease: Lease) -> LeaderForeign | None:
        entry = await self._coordinator.configuration.get(KEY)
        published = None if entry is None else json.loads(entry.value)
        if published is None or published["holder"] != lease.holder:
            return None  # of an earlier leader, or of one that does not publish
        known = published["schedules"]
        ours = await names_of(self._schedules)
        if known is None or ours is None:
            return None
        unknown = tuple(name for name in ours if name not in set(known))
        return LeaderForeign(self._node, lease.holder, unknown) if unknown else None


class SchedulePublisher(Service):
    """Publishes, during one term, which schedules its leader knows."""

    name = "schedule-publisher"

    def __init__(
        self,
        term: Term,
        coordinator: Coordinator,
        schedules: ScheduleStore,
        context: ServiceContext,
    ) -> None:
        super().__init__(context)
        self._term = term
        self._coordinator = coordinator
        self._schedules = schedules
        self._published: bytes | None = None

    async def once(self) -> float | None:
        """Publish the names, if they have changed."""
        facts = {"holder": self._term.lease.holder, "schedules": await names_of(self._schedules)}
        text = json.dumps(facts, separators=(",", ":")).encode()
        if text != self._published and self._term.may_act():
            with suppress(Unavailable):
                await self._coordinator.configuration.put(KEY, text)
                self._published = text
        return LOOK_EVERY


async def names_of(schedules: ScheduleStore) -> Sequence[str] | None:
    """The names of all schedules; None: there are too many to compare."""
    page = await schedules.list(PageRequest(MOST_NAMES))
    return None if page.next is not None else [stored.name for stored in page.items]
