"""Deadlines: ends the runs that have taken too long. One alarm serves all runs of a node."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

from drumbeat.engine.executing.run import Run
from drumbeat.model.jobs.ending import TimedOut
from drumbeat.ports.clock import Alarm, Clock


class Deadlines:
    """Watches the deadlines of all runs that are under way."""

    def __init__(self, clock: Clock, runs: Mapping[Run, None]) -> None:
        self._clock = clock
        self._runs = runs
        self._alarm: Alarm | None = None
        self._rings_at = inf

    def watch(self, deadline: float) -> None:
        """Check for overdue runs at this time at the latest, by elapsed time."""
        if deadline >= self._rings_at:
            return
        if self._alarm is not None:
            self._alarm.cancel()
        self._rings_at = deadline
        wait = deadline - self._clock.elapsed()
        self._alarm = self._clock.call_later(max(0.0, wait), self._end_overdue)

    def _end_overdue(self) -> None:
        self._rings_at, self._alarm = inf, None
        now = self._clock.elapsed()
        upcoming = inf
        for run in tuple(self._runs):
            deadline = run.deadline
            if deadline is None:
                continue
            if deadline <= now:
                if not isinstance(run.interruption, TimedOut):
                    run.interrupt(TimedOut(now - run.started_at), grace=0.0)
            else:
                upcoming = min(upcoming, deadline)
        if upcoming < inf:
            self.watch(upcoming)
