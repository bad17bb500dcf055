"""Submitting with a trace span around each call. Used only while tracing is on."""

from __future__ import annotations

from collections.abc import Sequence

from drumbeat.engine.plumbing.bus import Bus
from drumbeat.engine.submitting.submitter import Submitter, Verdict
from drumbeat.model.jobs.job import Job, JobSpec
from drumbeat.ports.caller_transaction import Insertion, Joining
from drumbeat.ports.queue import Queue
from drumbeat.ports.store import Store
from drumbeat.ports.tracing import Tracing


class TracedSubmitter(Submitter):
    """Gives each job the trace of the span in which it was submitted."""

    def __init__(self, store: Store, queue: Queue, bus: Bus, tracing: Tracing) -> None:
        super().__init__(store, queue, bus)
        self._tracing = tracing

    async def judged(self, spec: JobSpec) -> Verdict:
        with self._tracing.submitting((spec,)) as (traced,):
            return await super().judged(traced)

    async def submit_many(self, specs: Sequence[JobSpec]) -> list[Job]:
        with self._tracing.submitting(specs) as traced:
            return await super().submit_many(traced)


class TracedJoining:
    """Traces jobs of a caller's transaction. The span ends before the statement is run."""

    def __init__(self, joining: Joining, tracing: Tracing) -> None:
        self._joining = joining
        self._tracing = tracing

    def insertion(self, specs: Sequence[JobSpec]) -> Insertion:
        with self._tracing.submitting(specs) as traced:
            return self._joining.insertion(traced)
