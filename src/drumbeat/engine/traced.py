"""Traced: submitting and running jobs, with a span around each. Used only while tracing is on."""

from __future__ import annotations

from collections.abc import Sequence

from drumbeat.engine.bus import Bus
from drumbeat.engine.executor import Executor
from drumbeat.engine.run import Run
from drumbeat.engine.submitter import Submitter, Verdict
from drumbeat.model.ending import Ending
from drumbeat.model.job import Job, JobSpec
from drumbeat.ports.joining import Insertion, Joining
from drumbeat.ports.queue import Queue
from drumbeat.ports.store import Store
from drumbeat.ports.tracing import Tracing


class TracedSubmitter(Submitter):
    """Gives each job the trace of the span in which it was submitted."""

    def __init__(self, store: Store, queue: Queue, bus: Bus, tracing: Tracing) -> None:
        super().__init__(store, queue, bus)
        self._tracing = tracing

    async def judged(self, spec: JobSpec) -> Verdict:
        """Create one job."""
        with self._tracing.submitting((spec,)) as (traced,):
            return await super().judged(traced)

    async def submit_many(self, specs: Sequence[JobSpec]) -> list[Job]:
        """Create many jobs, in one span."""
        with self._tracing.submitting(specs) as traced:
            return await super().submit_many(traced)


class TracedJoining:
    """The same for jobs of a caller's transaction: the span ends before the statement is run."""

    def __init__(self, joining: Joining, tracing: Tracing) -> None:
        self._joining = joining
        self._tracing = tracing

    def insertion(self, specs: Sequence[JobSpec]) -> Insertion:
        """The statement that creates these jobs."""
        with self._tracing.submitting(specs) as traced:
            return self._joining.insertion(traced)


class TracedExecutor(Executor):
    """Runs each attempt in a trace of its own."""

    def __init__(self, bus: Bus, tracing: Tracing) -> None:
        super().__init__(bus)
        self._tracing = tracing

    async def execute(self, run: Run) -> Ending:
        """Run the handler until it ends, or until the run is interrupted."""
        with self._tracing.running(run.attempt) as ended:
            ending = await super().execute(run)
            ended(ending)
            return ending
