"""Runs: attempts that are under way on this node."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, Any

from drumbeat.engine.context import Context
from drumbeat.engine.task import TaskDefinition
from drumbeat.model.ending import Ending, GivenBack, Lost, Stopped, TimedOut
from drumbeat.model.job import Attempt, Progress
from drumbeat.ports.clock import Alarm, Clock

if TYPE_CHECKING:
    from drumbeat.engine.processes import Child

CANCEL_GRACE = 5.0
"""Seconds that a handler has to end by itself once it was asked to."""


class Run:
    """One attempt under way: its context, its deadlines, and how to end it early.

    Ending a run early is done in two steps: its context says at once that it should end, and
    after a grace its task is cancelled. A handler in a thread cannot be ended; then the attempt is
    over for the store, and the slot stays taken until the thread returns.
    """

    __slots__ = (
        "_clock",
        "_context",
        "_ends_at",
        "_epoch",
        "_grace",
        "_heard_at",
        "_patience",
        "_task",
        "_timeout",
        "attempt",
        "child",
        "definition",
        "interruption",
        "left_behind",
        "on_interrupt",
        "progress",
        "started_at",
    )

    def __init__(
        self,
        attempt: Attempt,
        definition: TaskDefinition,
        clock: Clock,
        epoch: Callable[[], int | None],
    ) -> None:
        self._clock = clock
        self._task: asyncio.Task[Any] | None = None
        self._grace: Alarm | None = None
        self._ends_at = inf
        """When its task is cancelled, by elapsed time."""
        self._timeout, self._patience = attempt.spec.timeout, definition.heartbeat
        self._heard_at = self.started_at = clock.elapsed()
        self.attempt = attempt
        self.definition = definition
        self._epoch = epoch
        self._context: Context | None = None
        self.interruption: Ending | None = None
        self.on_interrupt: Callable[[str], None] | None = None
        """Called when the run should end: hands the request on to another process."""
        self.child: Child | None = None
        """The process that is ready to run the handler, if it runs in one."""
        self.progress: Progress | None = None
        self.left_behind: asyncio.Future[Any] | None = None
        """A thread that goes on although the attempt is over."""

    @property
    def context(self) -> Context:
        """What the handler may know of the run; made when it is first asked for."""
        if self._context is None:
            self._context = Context(self.attempt, self._report, self._beat, self._epoch())
            if self.interruption is not None:
                self._context.cancelled.set(_reason(self.interruption))
        return self._context

    @property
    def deadline(self) -> float | None:
        """When the run has taken too long, by elapsed time; None: never."""
        if self._timeout is None and self._patience is None:
            return None
        return min(
            inf if self._timeout is None else self.started_at + self._timeout,
            inf if self._patience is None else self._heard_at + self._patience,
        )

    @property
    def is_current(self) -> bool:
        """Whether the code that asks is being executed by the task of this run."""
        try:
            return self._task is not None and asyncio.current_task() is self._task
        except RuntimeError:  # no loop runs any more
            return False

    def begin(self, task: asyncio.Task[Any]) -> None:
        """This task runs the handler from here on."""
        self._task = task

    def end(self) -> None:
        """The handler has ended: nothing can interrupt it any more."""
        self._task = None
        if self._grace is not None:
            self._grace.cancel()
            self._grace = None

    def warn(self, reason: str) -> None:
        """Let the handler know that it should end soon, without ending it."""
        self.context.cancelled.set(reason)
        if self.on_interrupt is not None:
            self.on_interrupt(reason)

    def interrupt(self, ending: Ending, grace: float) -> None:
        """Ask the run to end, and end it after the grace. A second call can only hasten it."""
        if grace > 0 and not self.would_end_sooner(grace):
            return
        self._ends_at = self._clock.elapsed() + grace
        if self.interruption is None:
            self.interruption = ending
            reason = _reason(ending)
            if self._context is not None:
                self._context.cancelled.set(reason)
            if self.on_interrupt is not None:
                self.on_interrupt(reason)
        if self._grace is not None:
            self._grace.cancel()
        self._grace = self._clock.call_later(grace, self._cancel) if grace > 0 else None
        if grace <= 0:
            self._cancel()

    def would_end_sooner(self, grace: float) -> bool:
        """Whether an interruption with this grace would end it earlier than it ends anyway."""
        return self._clock.elapsed() + grace < self._ends_at

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _report(self, progress: Progress) -> None:
        self.progress = progress

    def _beat(self) -> None:
        self._heard_at = self._clock.elapsed()


def _reason(ending: Ending) -> str:
    match ending:
        case Stopped(reason) | GivenBack(reason):
            return reason
        case TimedOut(after):
            return f"timed out after {after:g} s"
        case Lost():
            return "another node has the job"
        case _:
            return "ended"
