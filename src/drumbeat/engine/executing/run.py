"""Runs: attempts that are running on this node."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, Any

from drumbeat.engine.tasks.context import Context
from drumbeat.engine.tasks.task import Place, TaskDefinition
from drumbeat.model.jobs.ending import Ending, GivenBack, Lost, Raised, Returned, Stopped, TimedOut
from drumbeat.model.jobs.job import Attempt, Progress
from drumbeat.ports.clock import Alarm, Clock

if TYPE_CHECKING:
    from drumbeat.engine.executing.processes import HandlerProcess

CANCEL_GRACE = 5.0
"""Seconds that a handler has to end by itself once it was asked to."""
CANCELLED = -inf


class Run:
    """One running attempt: its context, its deadlines, and how to end it early.

    Ending a run early takes two steps: its context says at once that it should end, and after a
    grace its task is cancelled. A handler in a thread cannot be cancelled; then the attempt is over
    for the store, and the slot stays busy until the thread returns.
    """

    __slots__ = (
        "_clock",
        "_context",
        "_ends_at",
        "_epoch",
        "_grace",
        "_last_beat_at",
        "_silence_limit",
        "_task",
        "_timeout",
        "attempt",
        "child",
        "definition",
        "interruption",
        "left_behind",
        "on_interrupt",
        "progress",
        "request",
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
        """When its task is cancelled, by elapsed time; `CANCELLED` once it was."""
        self._timeout, self._silence_limit = attempt.spec.timeout, definition.heartbeat
        self._last_beat_at = self.started_at = clock.elapsed()
        self.attempt = attempt
        self.definition = definition
        self._epoch = epoch
        self._context: Context | None = None
        self.interruption: Ending | None = None
        self.request: Ending | None = None
        """How the attempt ends if the handler ends because it was asked to; None: it was not."""
        self.on_interrupt: Callable[[str], None] | None = None
        """Called when the run should end; passes the request to the handler's process."""
        self.child: HandlerProcess | None = None
        """The process that is ready to run the handler, if it runs in one."""
        self.progress: Progress | None = None
        self.left_behind: asyncio.Future[Any] | None = None
        """A thread that still runs although the attempt is over."""

    @property
    def context(self) -> Context:
        """What the handler may know of the run; created on first use."""
        if self._context is None:
            self._context = Context(self.attempt, self._report, self._beat, self._epoch())
            if self.interruption is not None:
                self._context.ask_to_end(_reason(self.interruption))
        return self._context

    @property
    def deadline(self) -> float | None:
        """When the run has taken too long, by elapsed time; None: never."""
        if self._timeout is None and self._silence_limit is None:
            return None
        return min(
            inf if self._timeout is None else self.started_at + self._timeout,
            inf if self._silence_limit is None else self._last_beat_at + self._silence_limit,
        )

    @property
    def is_current(self) -> bool:
        """Whether the calling code runs in the task of this run."""
        try:
            return self._task is not None and asyncio.current_task() is self._task
        except RuntimeError:  # no loop runs any more
            return False

    def begin(self, task: asyncio.Task[Any]) -> None:
        self._task = task

    def end(self) -> None:
        """The handler has ended: nothing can interrupt it any more."""
        self._task = None
        if self._grace is not None:
            self._grace.cancel()
            self._grace = None

    def warn(self, reason: str) -> None:
        """Ask the handler to end soon, without ending it."""
        self.context.ask_to_end(reason)
        if self.on_interrupt is not None:
            self.on_interrupt(reason)

    def ask_to_give_back(self, reason: str) -> None:
        """Ask the handler to end soon; if it ends because of that, the job is given back."""
        self.request = self.request or GivenBack(reason)
        self.warn(reason)

    def answer(self, ending: Ending) -> Ending:
        """How the attempt ends whose handler ended like this after it was asked to end."""
        if isinstance(ending, Raised) and self.interruption is not None:
            return self.interruption
        if self.request is None or not isinstance(ending, Raised | Returned):
            return ending
        return self.request if self.has_given_up else ending

    @property
    def has_given_up(self) -> bool:
        """Whether the handler, if it ends now, ends because it knows that the run should end.

        It knows from its context, or by a cancellation because the node stops.
        """
        context = self._context
        if context is not None and context.is_finished:
            return False
        stopped = self._ends_at == CANCELLED and isinstance(self.interruption, GivenBack)
        return stopped or (context is not None and context.has_seen_cancellation)

    def interrupt(self, ending: Ending, grace: float) -> None:
        """Ask the run to end, and end it after the grace. A second call can only hasten it."""
        if self.definition.place is Place.LOOP and not self._is_watched:
            grace = 0.0  # a cancellation reaches the handler at once
        if grace > 0 and not self.would_end_sooner(grace):
            return
        self._ends_at = self._clock.elapsed() + grace
        if self.interruption is None:
            self.interruption = self.request = ending
            reason = _reason(ending)
            if self._context is not None:
                self._context.ask_to_end(reason)
            if self.on_interrupt is not None:
                self.on_interrupt(reason)
        if self._grace is not None:
            self._grace.cancel()
        self._grace = self._clock.call_later(grace, self._cancel) if grace > 0 else None
        if grace <= 0:
            self._cancel()

    def would_end_sooner(self, grace: float) -> bool:
        """Whether an interruption with this grace would end the run earlier than planned."""
        return self._clock.elapsed() + grace < self._ends_at

    @property
    def _is_watched(self) -> bool:
        return self._context is not None and self._context.watches_cancellation

    def _cancel(self) -> None:
        if self._task is not None:
            self._ends_at = CANCELLED
            self._task.cancel()

    def _report(self, progress: Progress) -> None:
        self.progress = progress

    def _beat(self) -> None:
        self._last_beat_at = self._clock.elapsed()


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
