"""Explaining: gathers from the store all that says why a schedule did or did not run."""

from __future__ import annotations

from drumbeat.engine.schedules import Schedules
from drumbeat.engine.standing import Standing
from drumbeat.model.page import PageRequest
from drumbeat.model.queue import PausedQueue
from drumbeat.ports.store import Store
from drumbeat.rules.explaining import Evidence

NEXT = 3
"""Ticks to come that are told."""


class Explaining:
    """Gathers the evidence; `rules.explaining` makes sentences of it."""

    def __init__(self, store: Store, schedules: Schedules, standing: Standing) -> None:
        self._store = store
        self._schedules = schedules
        self._standing = standing

    async def gather(self, name: str, count: int) -> Evidence:
        """All that explains a schedule and its last so many rows of the ledger.

        `UnknownSchedule` if there is none of that name.
        """
        stored = await self._schedules.get(name)
        ticks = (await self._schedules.ticks(name, PageRequest(count))).items
        lease = await self._standing.leader()
        ids = [tick.job_id for tick in ticks if tick.job_id is not None]
        if stored.last_job is not None:
            ids.append(stored.last_job)
        found = await self._store.jobs.get(ids) if ids else ()
        jobs = {job.id: job for job in found if job is not None}
        return Evidence(
            stored,
            await self._store.now(),
            ticks,
            await self._schedules.preview(name, NEXT),
            None if stored.last_job is None else jobs.get(stored.last_job),
            lease.holder if lease else None,
            [record for record in await self._store.nodes.list() if record.alive],
            jobs,
            await self._paused(stored.schedule.job.queue),
        )

    async def _paused(self, queue: str) -> PausedQueue | None:
        seen = await self._store.queues.list()
        return next((record.paused for record in seen.queues if record.name == queue), None)
