"""A thread that runs an event loop for synchronous callers."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from drumbeat.forks import leave_to_parent, renew_in_children
from drumbeat.model.errors import NotRunning

T = TypeVar("T")


class LoopThread:
    """Runs coroutines for synchronous callers. The thread starts with the first call.

    It is a daemon: it keeps no process from exiting. `instead` says what code on an event loop
    should use.
    """

    def __init__(self, name: str, instead: str) -> None:
        self._name = name
        self._instead = instead
        self._closed = False
        self._begin()
        renew_in_children(self._renew)

    def _begin(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def _renew(self) -> None:
        leave_to_parent(self._loop)
        self._begin()

    def call(
        self,
        work: Callable[[], Coroutine[Any, Any, T]],
        on: asyncio.AbstractEventLoop | None = None,
    ) -> T:
        """Run the work, on this loop if one is given; block the calling thread until it ends."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            pass
        else:
            raise NotRunning(
                "this thread runs an event loop, which a synchronous call would block; "
                f"{self._instead}"
            )
        loop = on or self.loop()
        future = asyncio.run_coroutine_threadsafe(work(), loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def end(self) -> None:
        """Cancel what still runs, and end the thread; a later call starts another one."""
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is not None and thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()

    def close(self) -> None:
        """End the thread. Later calls raise `NotRunning`."""
        self._closed = True
        self.end()

    def loop(self) -> asyncio.AbstractEventLoop:
        """The loop on which calls run."""
        with self._lock:
            if self._closed:
                raise NotRunning("the client is closed; create a new one")
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=_run, args=(self._loop,), name=self._name, daemon=True
                )
                self._thread.start()
            return self._loop


def _run(loop: asyncio.AbstractEventLoop) -> None:
    """Run the loop until it is stopped, and end it as `asyncio.run` does."""
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.get_loop().run_forever()
