"""An event loop in virtual time, without sockets, threads or a wall clock.

No time passes while any callback is ready; when none is, time jumps to the next timer. So a minute
of a fleet takes only as long as its callbacks, and the same seed gives the same run.

**Lanes.** Several processes share the loop. Each process is a lane, or two if it has a thread with
its own loop. Within a lane, callbacks run in the order in which they became ready, as asyncio
promises. The next lane is chosen at random. A callback belongs to the lane of the context in which
it was created; tasks inherit it. A paused lane keeps its ready callbacks until it is resumed, as a
stopped process does. A dead lane runs nothing any more: its memory is lost, and none of its
`finally` blocks run.

**Everything that would make two runs differ is rejected**: threads, executors, and calls from
another thread. Tasks are numbered and hash by their number, so that the order of a set of tasks
does not depend on memory addresses.
"""

# ruff: noqa: SLF001 - only event loops run handles
# pyright: reportPrivateUsage=false

from __future__ import annotations

import asyncio
import contextvars
import heapq
import math
import threading
from collections import deque
from collections.abc import Callable, Coroutine
from itertools import count
from typing import Any, NoReturn, TypeVar, TypeVarTuple

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

LANE: contextvars.ContextVar[Lane] = contextvars.ContextVar("lane")
"""The lane whose code runs."""


class NotSimulated(RuntimeError):
    """The simulated code did something that the seed does not determine, such as use a thread."""


class Lane:
    """The ready callbacks of one process, in order."""

    __slots__ = ("context", "dead", "listed", "name", "owner", "paused", "ready")

    def __init__(self, name: str, owner: object = None) -> None:
        self.name = name
        self.owner = owner
        """The object that the lane belongs to, such as a process."""
        self.ready: deque[asyncio.Handle] = deque()
        self.paused = False
        self.dead = False
        self.listed = False
        self.context = contextvars.Context()
        """The context of callbacks that are scheduled in this lane from outside."""
        self.context.run(LANE.set, self)

    def __repr__(self) -> str:
        return f"<Lane {self.name}>"


class _NumberedTask(asyncio.Task[Any]):
    """A task whose hash does not depend on its memory address."""

    def __init__(self, number: int, *args: Any, **kwargs: Any) -> None:
        self._number = number
        super().__init__(*args, **kwargs)

    def __hash__(self) -> int:
        return self._number


class VirtualLoop(asyncio.BaseEventLoop):
    """Runs lanes in virtual time, in a random order."""

    def __init__(self, draw: Callable[[], float]) -> None:
        super().__init__()
        self._draw = draw
        self._thread = threading.get_ident()
        self._passed = 0
        self._timers: list[tuple[int, int, asyncio.TimerHandle]] = []
        self._order = count()
        self._numbers = count()
        self._runnable: list[Lane] = []
        self.tasks: list[asyncio.Task[Any]] = []
        """All tasks ever created, so that those of a dead process are not garbage-collected."""
        self.world_lane = Lane("world")
        """The lane of callbacks that belong to no process."""
        self.steps = 0
        """The number of callbacks that have run."""
        self.after_turn: Callable[[Lane], None] = lambda _: None
        """Called after a lane has had its turn."""

    @property
    def microseconds(self) -> int:
        """Virtual time since the start."""
        return self._passed

    def time(self) -> float:
        return self._passed / 1e6

    def call_soon(
        self,
        callback: Callable[[*Ts], object],
        *args: *Ts,
        context: contextvars.Context | None = None,
    ) -> asyncio.Handle:
        """Call back in the lane of the context."""
        handle = asyncio.Handle(callback, args, self, context)
        self._make_ready(handle)
        return handle

    def call_soon_threadsafe(
        self,
        callback: Callable[[*Ts], object],
        *args: *Ts,
        context: contextvars.Context | None = None,
    ) -> asyncio.Handle:
        """Like `call_soon`; rejects calls from another thread."""
        if threading.get_ident() != self._thread:
            raise NotSimulated("another thread called into the simulated world")
        return self.call_soon(callback, *args, context=context)

    def call_later(
        self,
        delay: float,
        callback: Callable[[*Ts], object],
        *args: *Ts,
        context: contextvars.Context | None = None,
    ) -> asyncio.TimerHandle:
        """Call back after this many virtual seconds, and never earlier."""
        wait = 0 if delay <= 0 else max(1, math.ceil(delay * 1e6))
        return self._at(self._passed + wait, callback, args, context)

    def call_at(
        self,
        when: float,
        callback: Callable[[*Ts], object],
        *args: *Ts,
        context: contextvars.Context | None = None,
    ) -> asyncio.TimerHandle:
        """Call back at a virtual instant."""
        return self._at(max(self._passed, math.ceil(when * 1e6)), callback, args, context)

    def create_task(
        self,
        coro: Any,
        *,
        name: object = None,
        context: contextvars.Context | None = None,
    ) -> asyncio.Task[Any]:
        task = _NumberedTask(
            next(self._numbers), coro, loop=self, name=name and str(name), context=context
        )
        self.tasks.append(task)
        return task

    def start(self, lane: Lane, work: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
        """Start a task in the given lane."""
        return self.create_task(work, name=name, context=lane.context.copy())

    def run_in_executor(self, executor: Any, func: Callable[[*Ts], T], *args: *Ts) -> NoReturn:
        del executor, func, args
        raise NotSimulated("a thread was requested, whose timing the seed does not determine")

    def pause(self, lane: Lane) -> None:
        """Run nothing of this lane until it is resumed."""
        lane.paused = True
        self._unlist(lane)

    def resume(self, lane: Lane) -> None:
        """Continue with the callbacks that became ready during the pause."""
        lane.paused = False
        self._list(lane)

    def kill(self, lane: Lane) -> None:
        """Run nothing of this lane ever again."""
        lane.dead = True
        self._unlist(lane)

    def revive(self, lane: Lane) -> None:
        """Run a dead or paused lane at the end of a world, so that its tasks can be cancelled."""
        lane.dead = lane.paused = False
        self._list(lane)

    def _at(
        self,
        when: int,
        callback: Callable[..., object],
        args: tuple[Any, ...],
        context: contextvars.Context | None,
    ) -> asyncio.TimerHandle:
        handle = asyncio.TimerHandle(when / 1e6, callback, args, self, context)
        heapq.heappush(self._timers, (when, next(self._order), handle))
        return handle

    def _make_ready(self, handle: asyncio.Handle) -> None:
        context: contextvars.Context = handle._context  # type: ignore[attr-defined] # public only later
        lane = context.get(LANE, self.world_lane)
        lane.ready.append(handle)
        if not lane.listed and not lane.paused and not lane.dead:
            lane.listed = True
            self._runnable.append(lane)

    def _list(self, lane: Lane) -> None:
        if lane.ready and not lane.listed and not lane.paused and not lane.dead:
            lane.listed = True
            self._runnable.append(lane)

    def _unlist(self, lane: Lane) -> None:
        if lane.listed:
            lane.listed = False
            self._runnable.remove(lane)

    def _run_once(self) -> None:
        runnable = self._runnable
        if not runnable:
            self._jump()
            return
        lane = runnable[int(self._draw() * len(runnable))] if len(runnable) > 1 else runnable[0]
        ready = lane.ready
        for _ in range(len(ready)):
            if not ready or lane.paused or lane.dead:  # a callback may kill its own process
                break
            handle = ready.popleft()
            if not handle._cancelled:
                self.steps += 1
                handle._run()
        if not ready:
            self._unlist(lane)
        self.after_turn(lane)

    def _jump(self) -> None:
        timers = self._timers
        if not timers:
            raise NotSimulated("deadlock: nothing is ready and no timer is set")
        self._passed = max(self._passed, timers[0][0])
        while timers and timers[0][0] <= self._passed:
            handle = heapq.heappop(timers)[2]
            if not handle._cancelled:
                self._make_ready(handle)

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """Nothing to do: `_jump` skips cancelled timers."""
