"""Threads: where the synchronous handlers of a simulated process run. Each is a lane of its own.

A handler in a thread goes on when its attempt is over, and while the event loop is blocked; it
stands still and dies with its process. Here such a handler gives back a coroutine, which the
virtual thread runs to its end: that is how it can take virtual time.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from contextvars import Context
from typing import Any

from drumbeat.engine.executing.threads import Threads
from simulation.loop import LANE, Lane, VirtualLoop
from simulation.runtime import ProcessRuntime


class VirtualThreads(Threads):
    """A pool of lanes that grows as needed, as the real one does."""

    def __init__(self, loop: VirtualLoop, runtime: ProcessRuntime) -> None:
        super().__init__()
        self._loop = loop
        self._runtime = runtime
        self._lanes: list[Lane] = []

    def call(
        self, function: Callable[[], Any], context: Context | None = None
    ) -> asyncio.Future[Any]:
        """Run the function in a lane of its own; cancelling the future does not end it."""
        home = LANE.get()
        answer: asyncio.Future[Any] = self._loop.create_future()
        lane = self._lanes.pop() if self._lanes else self._runtime.new_lane("handler")

        async def serve() -> None:
            result: Any = None
            error: BaseException | None = None
            try:
                result = function() if context is None else context.run(function)
                if inspect.iscoroutine(result):
                    result = await result
            except Exception as raised:  # noqa: BLE001 - carried over to the loop
                error = raised
            self._lanes.append(lane)
            self._loop.call_soon(_resolve, answer, result, error, context=home.context.copy())

        self._loop.start(lane, serve(), lane.name)
        return answer

    def close(self) -> None:
        """Nothing: the lanes end with their process."""


def _resolve(answer: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if answer.done():
        return
    if error is None:
        answer.set_result(result)
    else:
        answer.set_exception(error)
