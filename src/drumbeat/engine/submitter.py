"""The submitter: many callers, few writes.

The natural batcher has no timer and no size threshold. While one batch is being written, whatever
else is submitted gathers, and becomes the next batch as soon as the store is free. A lone caller
waits for nobody, and the busier it gets the larger the batches grow.

A store that can work on several writes at once gets several batches at once. What one caller
submits, each after the answer to the last, keeps its order; callers at the same time have none.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Sequence
from typing import TypeAlias

from drumbeat.engine.bus import Bus
from drumbeat.model.errors import Unavailable
from drumbeat.model.events import JobSubmitted
from drumbeat.model.job import Duplicate, Inserted, Job, JobSpec, Status, Ticket
from drumbeat.ports.queue import Queue
from drumbeat.ports.store import Store

Batch: TypeAlias = Sequence[tuple[JobSpec, asyncio.Future[Job]]]

LARGEST_BATCH = 1_000


class Submitter:
    """Creates jobs, and tells the queue of those that may run now."""

    def __init__(self, store: Store, queue: Queue, bus: Bus) -> None:
        self._jobs = store.jobs
        self._writers = store.writers
        self._queue = queue
        self._bus = bus
        self._waiting: deque[tuple[JobSpec, asyncio.Future[Job]]] = deque()
        self._flushing: set[asyncio.Task[None]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        """The one that all of these run on."""
        self._lock = threading.Lock()  # callers may be on the loops of several threads

    async def submit(self, spec: JobSpec) -> Job:
        """Create one job, together with whatever else is being submitted."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Job] = loop.create_future()
        if self._gather(spec, future, loop):
            return await future
        (job,) = await self._insert([spec])
        return job

    async def submit_many(self, specs: Sequence[JobSpec]) -> list[Job]:
        """Create many jobs, in batches; each batch as a whole or not at all."""
        jobs: list[Job] = []
        for start in range(0, len(specs), LARGEST_BATCH):
            jobs.extend(await self._insert(specs[start : start + LARGEST_BATCH]))
        return jobs

    async def close(self) -> None:
        """Return when everything that was submitted on this loop is written."""
        loop = asyncio.get_running_loop()
        while ours := [task for task in tuple(self._flushing) if task.get_loop() is loop]:
            await asyncio.wait(ours)

    def _gather(
        self, spec: JobSpec, future: asyncio.Future[Job], loop: asyncio.AbstractEventLoop
    ) -> bool:
        """Add to the next batch. False: another loop's batches are being written just now."""
        with self._lock:
            if self._flushing and self._loop is not loop:
                return False
            if len(self._flushing) < self._writers:
                self._loop = loop
                # Not the caller's own task: the caller may be cancelled, the batch must not be.
                self._flushing.add(loop.create_task(self._flush(), name="drumbeat-submitter"))
            self._waiting.append((spec, future))
            return True

    def _batch(self, task: asyncio.Task[None]) -> Batch:
        """The next batch; where there is none, the next caller starts a flush of its own."""
        with self._lock:
            size = min(len(self._waiting), LARGEST_BATCH)
            if not size:
                self._flushing.discard(task)
            return [self._waiting.popleft() for _ in range(size)]

    async def _flush(self) -> None:
        task = asyncio.current_task()
        assert task is not None, "a flush is a task"
        try:
            while batch := self._batch(task):
                await self._write(batch)
        finally:
            if task in self._flushing:  # cut short with its loop
                self._abandon(task)

    def _abandon(self, task: asyncio.Task[None]) -> None:
        with self._lock:
            self._flushing.discard(task)
            if not self._flushing:
                self._waiting.clear()

    async def _write(self, batch: Batch) -> None:
        try:
            jobs = await self._insert([spec for spec, _ in batch])
        except Exception as error:  # noqa: BLE001 - belongs to the callers
            if len(batch) == 1 or isinstance(error, Unavailable):
                for _, future in batch:
                    _refuse(future, error)
                return
            for one in batch:  # one of them is at fault: let the others through
                await self._write([one])
            return
        for (_, future), job in zip(batch, jobs, strict=True):
            if not future.done():
                future.set_result(job)

    async def _insert(self, specs: Sequence[JobSpec]) -> list[Job]:
        verdicts = await self._jobs.insert(specs)
        if self._queue.carries:
            await self._queue.publish(
                [
                    Ticket(verdict.job.id, verdict.job.spec.queue)
                    for verdict in verdicts
                    if isinstance(verdict, Inserted) and verdict.job.status is Status.QUEUED
                ]
            )
        if self._bus.hears(JobSubmitted):
            for verdict in verdicts:
                self._bus.emit(JobSubmitted(verdict.job, isinstance(verdict, Duplicate)))
        return [verdict.job for verdict in verdicts]


def _refuse(future: asyncio.Future[Job], error: Exception) -> None:
    if not future.done():
        future.set_exception(error)
