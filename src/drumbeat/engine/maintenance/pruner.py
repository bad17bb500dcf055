"""The pruner: deletes what has outlived its retention, in small batches."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from drumbeat.engine.plumbing.service import Service, ServiceContext
from drumbeat.ports.store import Retention

BATCH = 1_000


@dataclass(frozen=True, slots=True)
class RetentionSettings:
    """How long finished jobs, ledger rows, dead nodes and audit entries are kept."""

    jobs: timedelta = timedelta(days=7)
    ticks: timedelta = timedelta(days=90)
    nodes: timedelta = timedelta(days=1)
    audit: timedelta = timedelta(days=365)
    every: float = 300.0


class Pruner(Service):
    """Prunes in bounded steps, so that it never blocks the store for long."""

    name = "pruner"

    def __init__(
        self, retention: Retention, settings: RetentionSettings, context: ServiceContext
    ) -> None:
        super().__init__(context)
        self._retention = retention
        self._settings = settings

    async def once(self) -> float | None:
        pruned = (
            await self._retention.prune_jobs(self._settings.jobs, BATCH),
            await self._retention.prune_ticks(self._settings.ticks, BATCH),
            await self._retention.prune_nodes(self._settings.nodes, BATCH),
            await self._retention.prune_audit(self._settings.audit, BATCH),
        )
        return 0.0 if max(pruned) == BATCH else self._settings.every
