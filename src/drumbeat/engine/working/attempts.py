"""Attempts: the attempts that are running on a node, and those that have ended unsettled.

All pools of a node share this. An attempt is here from the moment at which its handler begins until
the store knows how it ended.
"""

from __future__ import annotations

from drumbeat.engine.executing.deadlines import Deadlines
from drumbeat.engine.executing.run import Run
from drumbeat.engine.plumbing.bus import Bus
from drumbeat.engine.plumbing.service import ServiceContext
from drumbeat.engine.plumbing.wake_up import WakeUp
from drumbeat.engine.working.node_state import NodeState
from drumbeat.model.events import AttemptCompleted, AttemptEnded, AttemptStarted
from drumbeat.model.jobs.ending import Ending, GivenBack, Returned
from drumbeat.model.jobs.job import Attempt, Change, Hold, Settlement
from drumbeat.ports.runtime import Runtime
from drumbeat.rules.jobs.retry_decision import settlement

NEVER_STARTED = GivenBack("it waited too long to be started")


class Attempts:
    """The attempts of a node that are under way, and the endings that the store does not know."""

    def __init__(self, context: ServiceContext, state: NodeState | None = None) -> None:
        self._runtime = runtime = context.runtime
        self._clock = runtime.clock
        self._bus = context.bus
        self._state = state
        self._heard = (-1, False, False)
        """Whether anybody listens to starts and to completions, as of that change on the bus."""
        self.running: dict[Run, None] = {}
        """The runs under way, in the order in which they began."""
        self._deadlines = Deadlines(runtime.clock, self.running)
        self.settled: list[Settlement] = []
        """Endings that the store does not know yet."""
        self.settled_since = 0.0
        """When the first of these ended, by elapsed time."""
        self.quiet = False
        """Whether the worker looks for endings by itself, so that nothing has to wake it."""
        self.changed = WakeUp(runtime.clock)
        """Set when there is something to settle, and when it is time for more work."""
        self.ended = WakeUp(runtime.clock)
        """Set whenever nothing runs any more."""

    @property
    def runtime(self) -> Runtime:
        return self._runtime

    @property
    def bus(self) -> Bus:
        return self._bus

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
            self._deadlines.watch(deadline)
        if self._heard[0] != self._bus.changes:
            self.listen()
        if self._heard[1]:
            self._bus.emit(AttemptStarted(run.attempt, self.epoch()))

    def settle(self, attempt: Attempt, ending: Ending, seconds: float = 0.0) -> None:
        """Keep how an attempt ended, for the store, and tell the listeners."""
        chance = 0.0 if type(ending) is Returned else self._runtime.random.random()
        settled = settlement(attempt, ending, chance)
        self._keep(settled)
        if settled.change is not Change.COMPLETE:
            self._bus.emit(AttemptEnded(attempt, ending, settled, seconds))
            return
        if self._heard[0] != self._bus.changes:
            self.listen()
        if self._heard[2]:
            self._bus.emit(AttemptCompleted(attempt, seconds))

    def hand_back(self, attempt: Attempt) -> None:
        """Give back an attempt that waited too long. It never began, so no event is emitted."""
        self._keep(settlement(attempt, NEVER_STARTED, 0.0))

    def listen(self) -> None:
        """Look up who listens, once for many attempts: per attempt it costs more than emitting."""
        bus = self._bus
        self._heard = (bus.changes, bus.hears(AttemptStarted), bus.hears(AttemptCompleted))

    def _keep(self, settled: Settlement) -> None:
        self.settled.append(settled)
        if len(self.settled) == 1:  # the worker, woken by the first, finds the others too
            self.settled_since = self._clock.elapsed()
            if not self.quiet:
                self.changed.set()
        if not self.running:
            self.ended.set()
