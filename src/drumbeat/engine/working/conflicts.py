"""ConflictReporter: reports which job found its exclusive name taken, and which name that was."""

from __future__ import annotations

from drumbeat.engine.plumbing.bus import Bus
from drumbeat.model.errors import Unavailable
from drumbeat.model.events import JobConflicted, JobExcluded
from drumbeat.model.jobs.job import OnConflict
from drumbeat.ports.store import JobStore


class ConflictReporter:
    """Looks up what a claim does not return: it gives only the id of a cancelled job."""

    def __init__(self, jobs: JobStore, bus: Bus) -> None:
        self._jobs = jobs
        self._bus = bus

    async def explain(self, event: JobConflicted) -> None:
        """Look the job up and report it. Skipped while the store does not answer."""
        try:
            (job,) = await self._jobs.get([event.job_id])
        except Unavailable:  # the services report that; the job has the reason
            return
        if job is None:  # its retention is over already
            return
        keys = [each.key for each in job.spec.limits if each.on_conflict is OnConflict.CANCEL]
        self._bus.emit(JobExcluded(job, ", ".join(key.partition(":")[2] for key in keys)))
