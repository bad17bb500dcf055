"""The reaper: takes jobs away from nodes that are dead by the store's clock."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from drumbeat.engine.maintenance.dead_nodes import DeadNodes
from drumbeat.engine.plumbing.service import Service, ServiceContext
from drumbeat.model.events import AttemptLost, AttemptSuperseded
from drumbeat.model.ids import NodeId, label_of
from drumbeat.model.jobs.ending import Lost
from drumbeat.model.jobs.job import Attempt, Settled, Superseded
from drumbeat.ports.store import JobStore
from drumbeat.rules.jobs.retry_decision import settlement

BATCH = 500


class Reaper(Service):
    """Ends lost attempts by their retry rules. The store protects live ones."""

    name = "reaper"

    def __init__(
        self,
        jobs: JobStore,
        every: float,
        context: ServiceContext,
        *,
        dead_nodes: DeadNodes | None = None,
    ) -> None:
        super().__init__(context)
        self._jobs = jobs
        self._every = every
        self._dead_nodes = dead_nodes
        """Finds dead nodes before their heartbeats expire; None: the store cannot tell."""
        self._reap_at = -inf

    async def once(self) -> float | None:
        """Reap when it is time to, or when a node was found dead."""
        now, dead_nodes = self._runtime.clock.elapsed(), self._dead_nodes
        declared = 0 if dead_nodes is None else await dead_nodes.declare_dead()
        if declared or now >= self._reap_at:
            self._reap_at = now + await self._reap_lost()
        pause = max(0.0, self._reap_at - self._runtime.clock.elapsed())
        return pause if dead_nodes is None else min(pause, dead_nodes.next_look())

    async def _reap_lost(self) -> float:
        """Reap a batch of lost attempts; return the seconds until the next."""
        attempts = await self._jobs.lost(BATCH)
        by_node: dict[NodeId, list[Attempt]] = {}
        for attempt in attempts:
            by_node.setdefault(attempt.node, []).append(attempt)
        for node, lost in by_node.items():
            await self._reap(node, lost)
        return 0.0 if len(attempts) == BATCH else self._every

    async def _reap(self, node: NodeId, attempts: Sequence[Attempt]) -> None:
        ending = Lost(label_of(node))
        settlements = [
            settlement(attempt, ending, self._runtime.random.random()) for attempt in attempts
        ]
        verdicts = await self._jobs.reap(settlements, node)
        for attempt, verdict in zip(attempts, verdicts, strict=True):
            match verdict:
                case Settled():
                    self._bus.emit(AttemptLost(attempt, verdict.status))
                case Superseded():
                    self._bus.emit(AttemptSuperseded(verdict.hold))
