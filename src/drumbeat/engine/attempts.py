"""Attempts: what the handlers of a node do now, and how attempts ended.

All rooms of a node share this. An attempt is here from the moment at which its handler begins
until the store is told how it ended.
"""

from __future__ import annotations

from collections.abc import Callable

from drumbeat.engine.bus import Bus
from drumbeat.engine.deadlines import Deadlines
from drumbeat.engine.run import Run
from drumbeat.engine.signal import Signal
from drumbeat.model.ending import Ending, GivenBack, Returned
from drumbeat.model.events import AttemptCompleted, AttemptEnded, AttemptStarted
from drumbeat.model.job import Attempt, Change, Hold, Settlement
from drumbeat.ports.runtime import Runtime
from drumbeat.rules.retrying import settlement

NEVER_STARTED = GivenBack("it waited too long to be started")


class Attempts:
    """The attempts of a node that are under way, and the endings that the store does not know."""

    def __init__(self, runtime: Runtime, bus: Bus) -> None:
        self._runtime = runtime
        self._clock = runtime.clock
        self._bus = bus
        self._heard = (-1, False, False)
        """Whether anybody hears of starts and of completions, as of that change on the bus."""
        self.running: dict[Run, None] = {}
        """The runs under way, in the order in which they began."""
        self._deadlines = Deadlines(runtime.clock, self.running)
        self.settled: list[Settlement] = []
        """Endings that the store does not know yet."""
        self.settled_since = 0.0
        """When the first of these came about, by elapsed time."""
        self.quiet = False
        """Whether the worker looks for endings by itself, so that nothing has to wake it."""
        self.on_change: Callable[[], None] = lambda: None
        """Called when there is something to settle, and when it is time for more work."""
        self.ended = Signal(runtime.clock)
        """Set whenever nothing runs any more."""
        self.epoch: Callable[[], int | None] = lambda: None
        """The epoch of this node, if it leads."""
        self.in_touch: Callable[[], bool] = lambda: True
        """Whether the store hears this node's heartbeats, so that its claims still hold."""

    @property
    def runtime(self) -> Runtime:
        """The clock and the chance that all rooms use."""
        return self._runtime

    @property
    def bus(self) -> Bus:
        """Where events are told."""
        return self._bus

    @property
    def runs(self) -> dict[Hold, Run]:
        """The runs under way, by their holds."""
        return {run.attempt.hold: run for run in self.running}

    def begin(self, run: Run) -> None:
        """The handler of this run begins now."""
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
        """An attempt waited too long. It never began, so nobody is told that it ended."""
        self._keep(settlement(attempt, NEVER_STARTED, 0.0))

    def listen(self) -> None:
        """Ask who hears, once for many attempts: asking for each costs more than telling nobody."""
        bus = self._bus
        self._heard = (bus.changes, bus.hears(AttemptStarted), bus.hears(AttemptCompleted))

    def _keep(self, settled: Settlement) -> None:
        self.settled.append(settled)
        if len(self.settled) == 1:  # whoever is woken by the first finds the others too
            self.settled_since = self._clock.elapsed()
            if not self.quiet:
                self.on_change()
        if not self.running:
            self.ended.set()
