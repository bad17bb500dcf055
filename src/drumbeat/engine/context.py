"""The context: what a handler may know and say about its own run."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable
from datetime import datetime

from drumbeat.engine.log import Log
from drumbeat.model.ids import JobId
from drumbeat.model.job import Attempt, Progress

_CREATING = threading.Lock()


class Cancellation:
    """Set once, when the run should end: cancelled, timed out, node stopping, lease lost.

    Asynchronous handlers await `wait()`, synchronous ones call `block()`; both may poll.
    """

    __slots__ = ("_event", "_futures", "_reason")

    def __init__(self) -> None:
        self._reason: str | None = None
        self._event: threading.Event | None = None
        self._futures: list[asyncio.Future[None]] = []

    @property
    def reason(self) -> str | None:
        """Why the run should end; None while it should not."""
        return self._reason

    def is_set(self) -> bool:
        """Whether the run should end."""
        return self._reason is not None

    def __bool__(self) -> bool:
        return self.is_set()

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
            if self._reason is not None:
                return
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._futures.append(future)
        try:
            await future
        finally:
            self._futures.remove(future)

    def block(self, seconds: float | None = None) -> bool:
        """Hold a thread until the run should end, or for so long. True: it should end."""
        with _CREATING:
            if self._reason is not None:
                return True
            if self._event is None:
                self._event = threading.Event()
        return self._event.wait(seconds)


def _resolve(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


class Context:
    """Handed to a handler whose first parameter asks for it."""

    __slots__ = ("_beat", "_log", "_report", "attempt", "cancelled", "epoch")

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
        self.cancelled = Cancellation()
        self._report = report
        self._beat = beat
        self._log: Log | None = None

    @property
    def job_id(self) -> JobId:
        """The job."""
        return self.attempt.hold.job_id

    @property
    def task(self) -> str:
        """The task's name."""
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
            facts: dict[str, object] = {"task": self.task, "job_id": self.job_id}
            if self.tick_at is not None:
                facts["tick_at"] = self.tick_at.isoformat()
            self._log = Log(logging.getLogger(f"drumbeat.task.{self.task}"), **facts)
        return self._log

    def progress(self, done: float, total: float | None = None, message: str = "") -> None:
        """Say how far the run has come. It counts as a heartbeat, and is stored with the next."""
        self._report(Progress(done, total, message))
        self._beat()

    def heartbeat(self) -> None:
        """Say that the run goes on: puts off the time-out of a task with `heartbeat=`."""
        self._beat()
