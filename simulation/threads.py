"""Virtual threads, in which the synchronous handlers of a simulated process run; each is a lane.

A handler in a thread continues when its attempt is over and while the event loop is blocked; it is
paused and killed with its process. To take virtual time, a simulated synchronous handler returns a
coroutine, which the virtual thread runs to its end.
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
        """Run the function in a separate lane; cancelling the future does not stop it."""
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
            except Exception as raised:  # noqa: BLE001 - passed to the loop
                error = raised
            self._lanes.append(lane)
            self._loop.call_soon(_resolve, answer, result, error, context=home.context.copy())

        self._loop.start(lane, serve(), lane.name)
        return answer

    def close(self) -> None:
        """Nothing to do: the lanes end with their process."""


def _resolve(answer: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if answer.done():
        return
    if error is None:
        answer.set_result(result)
    else:
        answer.set_exception(error)
