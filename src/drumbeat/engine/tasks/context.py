"""The context: what a handler can know and report about its own run."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable
from contextvars import ContextVar
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from drumbeat.engine.plumbing.log import Log
from drumbeat.model.errors import NotRunning
from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import Attempt, Progress
from drumbeat.model.time.duration import Duration, seconds_of

_CREATING = threading.Lock()


class Cancellation:
    """Set once, when the run should end: cancelled, timed out, node stopping, lease lost.

    Asynchronous handlers await `wait()`, synchronous ones call `block()`; both may poll.
    """

    __slots__ = ("_event", "_futures", "_reason", "seen")

    def __init__(self) -> None:
        self.seen = False
        """Whether the handler has found out that the run should end."""
        self._reason: str | None = None
        self._event: threading.Event | None = None
        self._futures: list[asyncio.Future[None]] = []

    @property
    def reason(self) -> str | None:
        """Why the run should end; None while it should not."""
        return self._reason if self.is_set() else None

    def is_set(self) -> bool:
        """Whether the run should end."""
        if self._reason is None:
            return False
        self.seen = True
        return True

    def __bool__(self) -> bool:
        return self.is_set()

    if not TYPE_CHECKING:  # a type checker refuses the call by itself

        def __call__(self):
            raise TypeError("ctx.cancelled is no method: write `if ctx.cancelled:`")

    def set(self, reason: str) -> None:
        """Ask the run to end. The first reason stays."""
        with _CREATING:
            if self._reason is not None:
                return
            self._reason = reason
            event, futures = self._event, self._futures
        if event is not None:
            event.set()
        for future in futures:
            with contextlib.suppress(RuntimeError):  # its loop has ended
                future.get_loop().call_soon_threadsafe(_resolve, future)

    async def wait(self) -> None:
        """Return when the run should end."""
        with _CREATING:
            if self.is_set():
                return
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._futures.append(future)
        try:
            await future
        finally:
            self._futures.remove(future)
        self.seen = True

    def block(self, seconds: Duration | None = None) -> bool:
        """Block the thread until the run should end, or for this long. True: it should end."""
        with _CREATING:
            if self._reason is None and self._event is None:
                self._event = threading.Event()
            event = self._event
        if event is not None:
            event.wait(seconds_of(seconds))
        return self.is_set()


def _resolve(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


class Context:
    """Passed to a handler whose first parameter asks for it; `current()` returns it elsewhere."""

    __slots__ = (
        "_beat",
        "_cancellation",
        "_log",
        "_report",
        "attempt",
        "epoch",
        "is_finished",
        "watches_cancellation",
    )

    def __init__(
        self,
        attempt: Attempt,
        report: Callable[[Progress], None],
        beat: Callable[[], None],
        epoch: int | None = None,
    ) -> None:
        self.attempt = attempt
        self.epoch = epoch
        """The epoch of the node that runs it, if that node leads."""
        self._cancellation = Cancellation()
        self._report = report
        self._beat = beat
        self._log: Log | None = None
        self.watches_cancellation = False
        """Whether the handler has asked for `cancelled`, so that it can end by itself."""
        self.is_finished = False
        """Whether the handler has called `finished`."""

    @property
    def cancelled(self) -> Cancellation:
        """True once the run should end. A handler that finds this out and then returns or raises
        has not done its work: a stopping node gives the job back, with the attempt unspent. If the
        work is done all the same, call `finished()`.
        """
        self.watches_cancellation = True
        return self._cancellation

    @property
    def has_seen_cancellation(self) -> bool:
        """Whether the handler knows that the run should end."""
        return self._cancellation.seen

    @property
    def job_id(self) -> JobId:
        return self.attempt.hold.job_id

    @property
    def task(self) -> str:
        return self.attempt.spec.task

    @property
    def number(self) -> int:
        """Which attempt this is: 1 for the first."""
        return self.attempt.number

    @property
    def schedule(self) -> str | None:
        """The schedule that submitted the job, if one did."""
        return self.attempt.spec.schedule

    @property
    def tick_at(self) -> datetime | None:
        """The tick that submitted the job, if one did."""
        return self.attempt.spec.tick_at

    @property
    def fence(self) -> int:
        """The number of this hold: pass it to other systems, and let them refuse lower ones."""
        return self.attempt.hold.fence

    @property
    def log(self) -> Log:
        """A log whose lines name the task, the job and the tick."""
        if self._log is None:
            facts: dict[str, object] = {
                "task": self.task,
                "job_id": self.job_id,
                "attempt": self.number,
            }
            if self.schedule is not None:
                facts["schedule"] = self.schedule
            if self.tick_at is not None:
                facts["tick_at"] = self.tick_at.isoformat()
            self._log = Log(logging.getLogger(f"drumbeat.task.{self.task}"), **facts)
        return self._log

    def progress(self, done: float, total: float | None = None, message: str = "") -> None:
        """Report how far the run has come. Counts as a heartbeat, and is stored with the next."""
        self._report(Progress(done, total, message))
        self._beat()

    def heartbeat(self) -> None:
        """Report that the run goes on: postpones the time-out of a task with `heartbeat=`."""
        self._beat()

    def finished(self) -> None:
        """The work is done although `cancelled` is set: what the handler returns counts."""
        self.is_finished = True

    def ask_to_end(self, reason: str) -> None:
        """Set `cancelled`. The first reason stays."""
        self._cancellation.set(reason)


class Running(Protocol):
    """What has the context of a handler that runs."""

    @property
    def context(self) -> Context: ...


CURRENT: ContextVar[Running] = ContextVar("drumbeat_current")


def current() -> Context:
    """The context of the handler that called this code, on its event loop or thread.

    Raises `NotRunning` outside of handlers.
    """
    running = CURRENT.get(None)
    if running is None:
        raise NotRunning("current() is only known to code that a handler calls")
    return running.context
