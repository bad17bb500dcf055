"""Conflicts: says which job found its exclusive name taken, and which name that was."""

from __future__ import annotations

from drumbeat.engine.bus import Bus
from drumbeat.model.errors import Unavailable
from drumbeat.model.events import JobConflicted, JobExcluded
from drumbeat.model.job import OnConflict
from drumbeat.ports.store import JobStore


class Conflicts:
    """A claim tells only the number of a job that it cancelled; people want to know more."""

    def __init__(self, jobs: JobStore, bus: Bus) -> None:
        self._jobs = jobs
        self._bus = bus

    async def explain(self, event: JobConflicted) -> None:
        """Look the job up, and tell of it. While the store is away that is left out."""
        try:
            (job,) = await self._jobs.get([event.job_id])
        except Unavailable:  # the services tell of that; the job itself says why it was cancelled
            return
        if job is None:  # its retention is over already
            return
        keys = [each.key for each in job.spec.limits if each.on_conflict is OnConflict.CANCEL]
        self._bus.emit(JobExcluded(job, ", ".join(key.partition(":")[2] for key in keys)))
