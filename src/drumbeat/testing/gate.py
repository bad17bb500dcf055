"""Gates: all that passes between one node and the world, so that a test can stop it.

A process that is paused (SIGSTOP, a long collection of garbage, a laptop's lid) does nothing while
the world goes on: its calls are not sent, its alarms do not ring, no hint reaches it; then it goes
on as if nothing had been, with a clock that has moved. That is a closed gate. A process that was
killed is a gate that is cut: what passes it never arrives.

Every way between a node's tasks and the rest of the test leads through its gate: the clock's
alarms, the calls to store and coordinator, and their hints. So a node behind a closed gate comes
to rest. What a handler does besides (its own futures, its own clock) passes by.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import datetime, timedelta
from functools import wraps
from typing import Any, TypeVar, cast

from drumbeat.backends.memory.coordinator import MemoryCoordinator
from drumbeat.backends.memory.store import MemoryStore
from drumbeat.model.errors import Unavailable
from drumbeat.ports.clock import Alarm
from drumbeat.ports.store import Topic
from drumbeat.testing.clock import FakeClock

Part = TypeVar("Part")


class Gate:
    """Open, closed (to be opened again), or cut for good."""

    def __init__(self) -> None:
        self._opened = asyncio.Event()
        self._opened.set()
        self._held: list[Callable[[], None]] = []
        self._trap: str | None = None
        self.cut_off = False

    @property
    def closed(self) -> bool:
        """Whether nothing passes."""
        return not self._opened.is_set()

    def close(self, *, before: str | None = None) -> None:
        """Hold everything up; with `before`, as soon as a call of that name is about to pass."""
        if before is not None:
            self._trap = before
        else:
            self._opened.clear()

    def open(self) -> None:
        """Let everything pass again, first what was held up."""
        self._trap = None
        self._opened.set()
        held, self._held = self._held, []
        for callback in held:
            asyncio.get_running_loop().call_soon(callback)

    def cut(self) -> None:
        """Let nothing pass ever again; what is held up stays so until the gate is opened."""
        self.cut_off = True
        self._held.clear()

    async def passing(self, call: str) -> None:
        """Wait until a call may pass; `Unavailable` if none ever may."""
        if call == self._trap:
            self._trap = None
            self._opened.clear()
        if self.closed and not self.cut_off:
            await self._opened.wait()
        if self.cut_off:
            raise Unavailable(f"the node was killed before its call {call!r}")

    def deliver(self, callback: Callable[[], None]) -> None:
        """Make a call into the node: now, or when the gate is opened, or never."""
        if self.cut_off:
            return
        if self.closed:
            self._held.append(callback)
        else:
            callback()


def behind(gate: Gate, part: Part) -> Part:
    """The part of a backend, with each of its calls passing the gate."""
    return cast("Part", _Behind(gate, part))


class _Behind:
    def __init__(self, gate: Gate, part: object) -> None:
        self._gate = gate
        self._part = part

    def __getattr__(self, name: str) -> Any:
        member = getattr(self._part, name)
        if inspect.iscoroutinefunction(member):
            member = self._guarded(name, member)
        elif callable(member):
            member = self._guarded_hints(name, member)
        setattr(self, name, member)  # found there from now on
        return member

    def _guarded(self, name: str, call: Callable[..., Awaitable[Any]]) -> Callable[..., Any]:
        @wraps(call)
        async def guarded(*args: Any, **kwargs: Any) -> Any:
            await self._gate.passing(name)
            return await call(*args, **kwargs)

        return guarded

    def _guarded_hints(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        async def pass_on(hints: AsyncIterator[Any]) -> AsyncIterator[Any]:
            async for hint in hints:
                await self._gate.passing(name)
                yield hint

        @wraps(call)
        def guarded(*args: Any, **kwargs: Any) -> Any:
            answer = call(*args, **kwargs)
            return pass_on(answer) if hasattr(answer, "__anext__") else answer

        return guarded


class _HeldAlarm:
    """An alarm that can be cancelled even while the gate holds it up."""

    def __init__(self, callback: Callable[[], None]) -> None:
        self._callback: Callable[[], None] | None = callback
        self.alarm: Alarm | None = None

    def cancel(self) -> None:
        self._callback = None
        if self.alarm is not None:
            self.alarm.cancel()

    def ring(self) -> None:
        if self._callback is not None:
            self._callback()


class NodeClock:
    """The clock that all share, as one node sees it: it may be wrong, and it may be held up."""

    def __init__(self, shared: FakeClock, gate: Gate) -> None:
        self._shared = shared
        self._gate = gate
        self.skew = timedelta(0)
        """How far its wall clock is ahead of the others'."""

    def now(self) -> datetime:
        """The wall clock of the node."""
        return self._shared.now() + self.skew

    def elapsed(self) -> float:
        """Goes on while the node is held up, as on a machine that is suspended."""
        return self._shared.elapsed()

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Alarm:
        """Call back after so many seconds, or once the gate is open."""
        held = _HeldAlarm(callback)
        held.alarm = self._shared.call_later(seconds, lambda: self._gate.deliver(held.ring))
        return held

    def call_punctually(self, seconds: float, callback: Callable[[], None]) -> Alarm:
        """The same: the shared clock is never late."""
        return self.call_later(seconds, callback)

    async def sleep(self, seconds: float) -> None:
        """Return after so many seconds, once the gate is open."""
        await self._shared.sleep(seconds)
        await self._gate.passing("sleep")


class NodeStore:
    """The store that all share, as one node reaches it."""

    always_hints = True
    writers = 1
    joining = None
    witnesses = None  # a simulated process that dies keeps its lease for its TTL

    def __init__(self, shared: MemoryStore, gate: Gate) -> None:
        self._shared = shared
        self._gate = gate
        self.nodes = behind(gate, shared.nodes)
        self.jobs = behind(gate, shared.jobs)
        self.fence = behind(gate, shared.fence)
        self.schedules = behind(gate, shared.schedules)
        self.retention = behind(gate, shared.retention)
        self.queues = behind(gate, shared.queues)
        self.audit = behind(gate, shared.audit)
        self.tokens = behind(gate, shared.tokens)

    async def open(self) -> None:
        """Nothing to make ready."""

    async def close(self) -> None:
        """Nothing to let go of."""

    async def now(self) -> datetime:
        """The shared store's clock."""
        await self._gate.passing("now")
        return await self._shared.now()

    def subscribe(self, topic: Topic, wake: Callable[[], None]) -> Callable[[], None]:
        """Hints of the shared store, delivered through the gate."""
        return self._shared.subscribe(topic, lambda: self._gate.deliver(wake))


class NodeCoordinator:
    """The coordinator that all share, as one node reaches it."""

    def __init__(self, shared: MemoryCoordinator, gate: Gate) -> None:
        self.leases = behind(gate, shared.leases)
        self.registry = behind(gate, shared.registry)
        self.configuration = behind(gate, shared.configuration)

    async def open(self) -> None:
        """Nothing to make ready."""

    async def close(self) -> None:
        """Nothing to let go of."""
