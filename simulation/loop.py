"""The loop: an event loop without sockets, threads or a wall clock.

Time is virtual. While any callback is ready, no time passes; when none is, time jumps to the next
timer. So a minute of a fleet takes as long as its callbacks take, and a second run with the same
seed is the same run.

**Lanes.** Several processes share the loop, and each of them is a lane (two, where a process has
a thread with a loop of its own). Within a lane callbacks run in the order in which they were
made ready, as asyncio promises. Which lane goes next is drawn by chance. A callback belongs to the
lane of the context in which it was made; tasks inherit it. A lane that is paused keeps what becomes
ready until it is resumed, as a stopped process does. A lane that is dead runs nothing any more:
whatever its tasks held in memory is never seen again, and no `finally` of theirs runs.

**What would make two runs differ is refused**: threads, executors, and calls from another thread.
Tasks are numbered, and hash by their number, so that sets of tasks have an order that does not
depend on where in memory they lie.
"""

# ruff: noqa: SLF001 - handles are run by whoever is a loop, and only by that
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
"""Whose code runs."""


class NotSimulated(RuntimeError):
    """The code under simulation did something whose outcome no seed decides, such as a thread."""


class Lane:
    """The callbacks of one process, in their order."""

    __slots__ = ("context", "dead", "listed", "name", "owner", "paused", "ready")

    def __init__(self, name: str, owner: object = None) -> None:
        self.name = name
        self.owner = owner
        """Whatever the lane belongs to, for those who look at it."""
        self.ready: deque[asyncio.Handle] = deque()
        self.paused = False
        self.dead = False
        self.listed = False
        self.context = contextvars.Context()
        """The context of whatever is called in this lane from outside."""
        self.context.run(LANE.set, self)

    def __repr__(self) -> str:
        return f"<Lane {self.name}>"


class _NumberedTask(asyncio.Task[Any]):
    """A task whose hash does not depend on its address."""

    def __init__(self, number: int, *args: Any, **kwargs: Any) -> None:
        self._number = number
        super().__init__(*args, **kwargs)

    def __hash__(self) -> int:
        return self._number


class VirtualLoop(asyncio.BaseEventLoop):
    """Runs lanes in virtual time, in an order that a source of chance decides."""

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
        """All tasks ever made: what a dead process left is not to be collected halfway."""
        self.home = Lane("world")
        """The lane of whatever belongs to no process."""
        self.steps = 0
        """Callbacks that have run."""
        self.after_turn: Callable[[Lane], None] = lambda _: None
        """Called after a lane has had its turn."""

    @property
    def microseconds(self) -> int:
        """Virtual time since the start."""
        return self._passed

    def time(self) -> float:
        """Virtual seconds since the start."""
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
        """The same: there is but one thread."""
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
        """Call back after so many virtual seconds, and never before."""
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
        """A task, in the lane of the context."""
        task = _NumberedTask(
            next(self._numbers), coro, loop=self, name=name and str(name), context=context
        )
        self.tasks.append(task)
        return task

    def start(self, lane: Lane, work: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
        """A task in a lane of one's choice."""
        return self.create_task(work, name=name, context=lane.context.copy())

    def run_in_executor(self, executor: Any, func: Callable[[*Ts], T], *args: *Ts) -> NoReturn:
        """Refused."""
        del executor, func, args
        raise NotSimulated("a thread was asked for: its timing is not in the hands of the seed")

    def pause(self, lane: Lane) -> None:
        """Run nothing of this lane until it is resumed."""
        lane.paused = True
        self._unlist(lane)

    def resume(self, lane: Lane) -> None:
        """Go on, first with what was held up."""
        lane.paused = False
        self._list(lane)

    def kill(self, lane: Lane) -> None:
        """Run nothing of this lane ever again."""
        lane.dead = True
        self._unlist(lane)

    def revive(self, lane: Lane) -> None:
        """At the end of a world: let what was dead or paused run, so that it can be cancelled."""
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
        lane = context.get(LANE, self.home)
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
            if not ready or lane.paused or lane.dead:  # a callback may end its own process
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
            raise NotSimulated("nothing is ready and no timer is set: the world would stand still")
        self._passed = max(self._passed, timers[0][0])
        while timers and timers[0][0] <= self._passed:
            handle = heapq.heappop(timers)[2]
            if not handle._cancelled:
                self._make_ready(handle)

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """Nothing: it is passed over when its time comes."""
