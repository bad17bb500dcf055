"""Attempts: the attempts that are running on a node, and those that have ended unsettled.

All pools of a node share this. An attempt is here from the moment at which its handler begins until
the store knows how it ended.
"""

from __future__ import annotations

from math import inf

from drumbeat.engine.executing.run import Run
from drumbeat.engine.plumbing.service import ServiceContext
from drumbeat.engine.plumbing.wake_up import WakeUp
from drumbeat.engine.working.node_counts import NodeCounts
from drumbeat.engine.working.node_state import NodeState
from drumbeat.model.events import AttemptCompleted, AttemptEnded, AttemptStarted
from drumbeat.model.jobs.ending import Ending, GivenBack, Returned, TimedOut
from drumbeat.model.jobs.job import Attempt, Change, Hold, Settlement
from drumbeat.ports.clock import Alarm
from drumbeat.rules.jobs.retry_decision import settlement

NEVER_STARTED = GivenBack("it waited too long to be started")


class Attempts:
    """The attempts of a node that are running, and the endings that the store does not know."""

    def __init__(self, context: ServiceContext, state: NodeState | None = None) -> None:
        self.runtime = context.runtime
        self.bus = context.bus
        self.counts = NodeCounts()
        """What the node has done so far."""
        self._clock = context.runtime.clock
        self._state = state
        self._listened = (-1, False, False)
        """As of which change on the bus, and whether starts and completions have listeners."""
        self.running: dict[Run, None] = {}
        """In the order in which they began."""
        self._deadline_alarm: Alarm | None = None
        self._next_deadline = inf
        self.settled: list[Settlement] = []
        """Endings that the store does not know yet."""
        self.settled_since = 0.0
        """When the first of these ended, by elapsed time."""
        self.quiet = False
        """Whether the worker looks for endings by itself, so that nothing has to wake it."""
        self.changed = WakeUp(self._clock)
        """Set when there is something to settle, and when it is time for more work."""
        self.ended = WakeUp(self._clock)
        """Set whenever nothing runs any more."""

    def epoch(self) -> int | None:
        """The epoch of this node, if it leads."""
        return None if self._state is None else self._state.epoch

    @property
    def may_begin(self) -> bool:
        """Whether the node's claims still hold, so that a claimed attempt may begin."""
        return self._state is None or self._state.may_hold_jobs

    @property
    def runs(self) -> dict[Hold, Run]:
        """The running attempts, by their holds."""
        return {run.attempt.hold: run for run in self.running}

    def begin(self, run: Run) -> None:
        self.running[run] = None
        deadline = run.deadline
        if deadline is not None:
            self._end_overdue_at(deadline)
        if self._listened[0] != self.bus.changes:
            self.look_up_listeners()
        if self._listened[1]:
            self.bus.emit(AttemptStarted(run.attempt, self.epoch()))

    def settle(self, attempt: Attempt, ending: Ending, seconds: float = 0.0) -> None:
        """Keep how an attempt ended, for the store, and notify the listeners."""
        chance = 0.0 if type(ending) is Returned else self.runtime.random.random()
        settled = settlement(attempt, ending, chance)
        self._keep(settled)
        if settled.change is not Change.COMPLETE:
            self.bus.emit(AttemptEnded(attempt, ending, settled, seconds))
            return
        if self._listened[0] != self.bus.changes:
            self.look_up_listeners()
        if self._listened[2]:
            self.bus.emit(AttemptCompleted(attempt, seconds))

    def give_back_unstarted(self, attempt: Attempt) -> None:
        """Give back an attempt that waited too long. It never began, so no event is emitted."""
        self._keep(settlement(attempt, NEVER_STARTED, 0.0))

    def look_up_listeners(self) -> None:
        """Done once for many attempts: per attempt it costs more than emitting."""
        bus = self.bus
        self._listened = (bus.changes, bus.hears(AttemptStarted), bus.hears(AttemptCompleted))

    def _keep(self, settled: Settlement) -> None:
        self.settled.append(settled)
        if len(self.settled) == 1:  # the worker, woken by the first, finds the others too
            self.settled_since = self._clock.elapsed()
            if not self.quiet:
                self.changed.set()
        if not self.running:
            self.ended.set()

    def _end_overdue_at(self, deadline: float) -> None:
        """Check for overdue runs at this time at the latest. One alarm serves all runs."""
        if deadline >= self._next_deadline:
            return
        if self._deadline_alarm is not None:
            self._deadline_alarm.cancel()
        self._next_deadline = deadline
        wait = max(0.0, deadline - self._clock.elapsed())
        self._deadline_alarm = self._clock.call_later(wait, self._end_overdue)

    def _end_overdue(self) -> None:
        self._next_deadline, self._deadline_alarm = inf, None
        now, upcoming = self._clock.elapsed(), inf
        for run in tuple(self.running):
            deadline = inf if run.deadline is None else run.deadline
            if deadline > now:
                upcoming = min(upcoming, deadline)
            elif not isinstance(run.interruption, TimedOut):
                run.interrupt(TimedOut(now - run.started_at), grace=0.0)
        self._end_overdue_at(upcoming)
