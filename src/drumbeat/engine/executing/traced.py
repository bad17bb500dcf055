"""Executing with a trace span around each attempt. Used only while tracing is on."""

from __future__ import annotations

from drumbeat.engine.executing.executor import Executor
from drumbeat.engine.executing.run import Run
from drumbeat.engine.plumbing.bus import Bus
from drumbeat.model.jobs.ending import Ending
from drumbeat.ports.tracing import Tracing


class TracedExecutor(Executor):
    """Runs each attempt in a trace of its own."""

    def __init__(self, bus: Bus, tracing: Tracing) -> None:
        super().__init__(bus)
        self._tracing = tracing

    async def execute(self, run: Run) -> Ending:
        with self._tracing.running(run.attempt) as ended:
            ending = await super().execute(run)
            ended(ending)
            return ending
