"""A burst: a worker that drains once nothing is left that it could run."""

from __future__ import annotations

import asyncio
import os
import signal
from collections import Counter

from drumbeat.app import Drumbeat
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.model.errors import Unavailable
from drumbeat.model.events import JobSettled, NodeStarted
from drumbeat.model.jobs.job import Job, JobFilter, Status
from drumbeat.model.page import LARGEST_PAGE, PageRequest
from drumbeat.model.text import counted

LOOK_EVERY = 0.2
"""Seconds between two looks at what is left."""
_UNFINISHED = JobFilter(frozenset({Status.QUEUED, Status.RUNNING}))


class Burst:
    """Stops the node of an app, as a SIGTERM does, once it has no job and none waits for it."""

    def __init__(self, app: Drumbeat) -> None:
        self._app = app
        self._settled: Counter[Status] = Counter()
        self._watching: asyncio.Task[None] | None = None
        app.on(JobSettled)(self._count)
        app.on(NodeStarted)(self._begin)

    @property
    def failed(self) -> int:
        """How many jobs have failed for good."""
        return self._settled[Status.FAILED]

    @property
    def summary(self) -> str:
        """How many jobs ended, and how."""
        retried = self._settled[Status.PENDING]
        later = f", {counted(retried, 'attempt')} to be repeated later" if retried else ""
        completed = self._settled[Status.COMPLETED]
        return f"{counted(completed, 'job')} completed, {self.failed} failed{later}."

    def _count(self, event: JobSettled) -> None:
        self._settled[event.status] += 1

    def _begin(self, _: NodeStarted) -> None:
        self._watching = asyncio.get_running_loop().create_task(self._watch())

    async def _watch(self) -> None:
        clock = SystemClock()
        while await self._is_left():
            await clock.sleep(LOOK_EVERY)
        os.kill(os.getpid(), signal.SIGTERM)

    async def _is_left(self) -> bool:
        try:
            paused = {
                queue.name for queue in (await self._app.store.queues.list()).queues if queue.paused
            }
            page: PageRequest | None = PageRequest(LARGEST_PAGE)
            while page is not None:
                found = await self._app.jobs.list(_UNFINISHED, page)
                if any(self._concerns(job, paused) for job in found.items):
                    return True
                page = None if found.next is None else PageRequest(LARGEST_PAGE, found.next)
        except Unavailable:
            return True
        return False

    def _concerns(self, job: Job, paused: set[str]) -> bool:
        """Whether this node runs the job or could run it."""
        if job.status is Status.RUNNING:
            return job.node == self._app.id
        queue, served = job.spec.queue, self._app.settings.queues
        known = self._app.fleet.services.registry.runnable
        return job.spec.task in known and queue in served and queue not in paused
