"""The submitter: many callers, few writes.

The natural batcher has no timer and no size threshold. While one batch is being written, further
submissions gather and become the next batch as soon as the store is free. A lone caller waits for
nobody, and batches grow with the load.

A store that can work on several writes at once gets several batches at once: what has gathered is
divided, so that one half is prepared here while the other is written there. Submissions of one
caller, each after the answer to the last, keep their order; concurrent callers have none.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from drumbeat.engine.plumbing.bus import Bus
from drumbeat.engine.submitting.submit_middleware import after_middleware
from drumbeat.engine.submitting.ticket_publisher import TicketPublisher
from drumbeat.engine.tasks.hooks import Hooks
from drumbeat.forks import leave_to_parent, renew_in_children
from drumbeat.model import events
from drumbeat.model.encoding.json_depth import refuse_deep_arguments
from drumbeat.model.errors import Unavailable
from drumbeat.model.jobs.dedupe import check_dedupe_for
from drumbeat.model.jobs.job import (
    Duplicate,
    Inserted,
    Job,
    JobSpec,
    Status,
    Ticket,
)
from drumbeat.model.jobs.retry import check_storable
from drumbeat.ports.queue import Queue
from drumbeat.ports.store import Store
from drumbeat.ports.tracing import Tracing

Verdict: TypeAlias = Inserted | Duplicate
Batch: TypeAlias = Sequence[tuple[JobSpec, asyncio.Future[Verdict]]]

LARGEST_BATCH = 1_000
WORTH_SHARING = 64
"""Divide a batch among the free writers once it has this many jobs."""


class Submitter:
    """Creates jobs, and publishes tickets for those that may run now."""

    def __init__(self, store: Store, queue: Queue, bus: Bus, *, hooks: Hooks | None = None) -> None:
        self._hooks = hooks or Hooks()
        self._jobs = store.jobs
        self._writers = store.writers
        self._publisher = TicketPublisher(queue) if queue.carries else None
        self._bus = bus
        self._begin()
        renew_in_children(self._renew)

    def _begin(self) -> None:
        self._waiting: deque[tuple[JobSpec, asyncio.Future[Verdict]]] = deque()
        self._flushing: set[asyncio.Task[None]] = set()
        self._writing = 0
        """How many of these wait for the store."""
        self._loop: asyncio.AbstractEventLoop | None = None
        """The one that all of these run on."""
        self._lock = threading.Lock()  # callers may be on the loops of several threads

    def _renew(self) -> None:
        leave_to_parent(self._waiting, self._flushing, self._loop)
        self._begin()

    def use(self, store: Store) -> None:
        """Write through this store from now on; it is the same store with its operations timed."""
        self._jobs = store.jobs

    async def submit(self, spec: JobSpec) -> Job:
        """Create one job, in one batch with what else is being submitted."""
        return (await self.judged(spec)).job

    async def judged(self, spec: JobSpec) -> Verdict:
        """The same, and whether the job was created or another has its dedupe key."""
        if self._hooks.submit_middleware:
            (spec,) = after_middleware((spec,), self._hooks)
        _check(spec)
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Verdict] = loop.create_future()
        if self._gather(spec, future, loop):
            return await future
        (verdict,) = await self._insert([spec])
        return verdict

    async def submit_many(self, specs: Sequence[JobSpec]) -> list[Job]:
        """Create many jobs, in batches; each batch as a whole or not at all."""
        specs = after_middleware(specs, self._hooks)
        for spec in specs:
            _check(spec)
        jobs: list[Job] = []
        for start in range(0, len(specs), LARGEST_BATCH):
            verdicts = await self._insert(specs[start : start + LARGEST_BATCH])
            jobs.extend(verdict.job for verdict in verdicts)
        return jobs

    async def close(self) -> None:
        """Return when everything that was submitted on this loop is written."""
        loop = asyncio.get_running_loop()
        while ours := [task for task in tuple(self._flushing) if task.get_loop() is loop]:
            await asyncio.wait(ours)
        if self._publisher is not None:
            await self._publisher.close()

    def _gather(
        self, spec: JobSpec, future: asyncio.Future[Verdict], loop: asyncio.AbstractEventLoop
    ) -> bool:
        """Add to the next batch. False: another loop's batches are being written."""
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
        """The next batch; if it is empty, the next caller starts a flush of its own."""
        with self._lock:
            size = len(self._waiting)
            if size >= WORTH_SHARING:
                free = len(self._flushing) - self._writing  # this one at least
                size = min(-(-size // free), LARGEST_BATCH)
            if not size:
                self._flushing.discard(task)
            return [self._waiting.popleft() for _ in range(size)]

    async def _flush(self) -> None:
        task = asyncio.current_task()
        assert task is not None, "a flush is a task"
        try:
            while batch := self._batch(task):
                self._writing += 1
                try:
                    await self._write(batch)
                finally:
                    self._writing -= 1
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
            verdicts = await self._insert([spec for spec, _ in batch])
        except Exception as error:  # noqa: BLE001 - belongs to the callers
            if len(batch) == 1 or isinstance(error, Unavailable):
                for _, future in batch:
                    _refuse(future, error)
                return
            for one in batch:  # one of them is faulty: write the others
                await self._write([one])
            return
        for (_, future), verdict in zip(batch, verdicts, strict=True):
            if not future.done():
                future.set_result(verdict)

    async def _insert(self, specs: Sequence[JobSpec]) -> Sequence[Verdict]:
        verdicts = await self._jobs.insert(specs)
        if self._publisher is not None:
            self._publisher.add(_tickets(verdicts))
        if self._bus.hears(events.JobSubmitted):
            for verdict in verdicts:
                self._bus.emit(events.JobSubmitted(verdict.job, isinstance(verdict, Duplicate)))
        return verdicts


class TracedSubmitter(Submitter):
    """Gives each job the trace of the span in which it was submitted."""

    def __init__(
        self, store: Store, queue: Queue, bus: Bus, *, hooks: Hooks, tracing: Tracing
    ) -> None:
        super().__init__(store, queue, bus, hooks=hooks)
        self._tracing = tracing

    async def judged(self, spec: JobSpec) -> Verdict:
        with self._tracing.submitting((spec,)) as (traced,):
            return await super().judged(traced)

    async def submit_many(self, specs: Sequence[JobSpec]) -> list[Job]:
        with self._tracing.submitting(specs) as traced:
            return await super().submit_many(traced)


def _tickets(verdicts: Sequence[Verdict]) -> Iterator[Ticket]:
    """A ticket for each job that was created and may run now."""
    for verdict in verdicts:
        if isinstance(verdict, Inserted) and verdict.job.status is Status.QUEUED:
            spec = verdict.job.spec
            yield Ticket(verdict.job.id, spec.queue, spec.priority)


def _refuse(future: asyncio.Future[Verdict], error: Exception) -> None:
    if not future.done():
        future.set_exception(error)


def _check(spec: JobSpec) -> None:
    refuse_deep_arguments(spec.task, spec.arguments)
    check_dedupe_for(spec.dedupe_for)
    check_storable(spec.retry)
