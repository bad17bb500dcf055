"""Threads: where synchronous handlers run.

They are daemons, so that a handler which never returns cannot keep the process from exiting.
"""

from __future__ import annotations

import asyncio
import contextvars
import queue
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

Work: TypeAlias = tuple[Callable[[], Any], asyncio.Future[Any]]

_CALLS: set[asyncio.Future[Any]] = set()


def under_way(loop: asyncio.AbstractEventLoop) -> Sequence[asyncio.Future[Any]]:
    """The calls of all pools that this loop still waits for; used by fake clocks."""
    if not _CALLS:
        return ()
    return [call for call in tuple(_CALLS) if call.get_loop() is loop and not call.done()]


class Threads:
    """A pool that grows as needed and keeps its idle threads."""

    def __init__(self) -> None:
        self._work: queue.SimpleQueue[Work | None] = queue.SimpleQueue()
        self._idle = 0
        self._count = 0
        self._closed = False
        self._lock = threading.Lock()

    def call(
        self, function: Callable[[], Any], context: contextvars.Context | None = None
    ) -> asyncio.Future[Any]:
        """Run the function in a thread, in this context or else in a copy of the caller's.

        The future belongs to the calling loop. Cancelling it does not end the function.
        """
        future = asyncio.get_running_loop().create_future()
        _CALLS.add(future)
        with self._lock:
            if self._idle > 0:
                self._idle -= 1
            else:
                self._count += 1
                name = f"drumbeat-handler-{self._count}"
                threading.Thread(target=self._serve, name=name, daemon=True).start()
        self._work.put((partial((context or contextvars.copy_context()).run, function), future))
        return future

    def close(self) -> None:
        """End the idle threads now, and the others as soon as they are idle."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, 0
        for _ in range(idle):
            self._work.put(None)

    def _serve(self) -> None:
        while (work := self._work.get()) is not None:
            function, future = work
            try:
                result, error = function(), None
            except BaseException as raised:  # noqa: BLE001 - carried over to the loop
                result, error = None, raised
            with self._lock:
                closed = self._closed
                self._idle += not closed
            try:
                future.get_loop().call_soon_threadsafe(_resolve, future, result, error)
            except RuntimeError:  # the loop has ended meanwhile
                _CALLS.discard(future)
            if closed:
                return
            del work, function, future, result, error  # hold nothing while idle


def _resolve(future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    _CALLS.discard(future)
    if future.done():
        return
    if error is None:
        future.set_result(result)
    elif isinstance(error, StopIteration | GeneratorExit | KeyboardInterrupt):
        # A future refuses the first, and on the loop the others would mean something else.
        future.set_exception(RuntimeError(f"the handler raised {type(error).__name__}"))
    else:
        future.set_exception(error)
