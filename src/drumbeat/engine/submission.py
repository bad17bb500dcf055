"""Submissions: how task handles reach the store, from any kind of code."""

from __future__ import annotations

from drumbeat.engine.portal import Portal
from drumbeat.engine.submitter import Submitter
from drumbeat.model.job import Job, JobSpec


class Submissions:
    """Submits on the running loop, or through the portal where there is none."""

    def __init__(self, submitter: Submitter, portal: Portal) -> None:
        self._submitter = submitter
        self._portal = portal

    async def submit(self, spec: JobSpec) -> Job:
        """Create one job."""
        return await self._submitter.submit(spec)

    async def submit_many(self, specs: list[JobSpec]) -> list[Job]:
        """Create many jobs."""
        return await self._submitter.submit_many(specs)

    def submit_sync(self, spec: JobSpec) -> Job:
        """Create one job, from code with no event loop."""
        return self._portal.call(lambda: self._submitter.submit(spec))
