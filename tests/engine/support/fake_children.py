"""Children: a pool of fake child processes, whose start and whose calls a test controls."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from drumbeat import Drumbeat
from drumbeat.engine.executing.processes import HandlerProcess, Processes
from drumbeat.engine.executing.run import Run
from drumbeat.engine.executing.threads import Threads
from drumbeat.engine.tasks.codec import Unstorable
from drumbeat.engine.tasks.hooks import Hook
from drumbeat.model.jobs.ending import Ending, Returned
from drumbeat.testing import inside

Perform: TypeAlias = Callable[[Run], Awaitable[None]]


class FakeChild(HandlerProcess):
    """A child that is no process."""

    def __init__(self) -> None:
        self.loaded = frozenset()
        self.free = True
        self.dead = False

    @property
    def alive(self) -> bool:
        return not self.dead

    def end(self) -> int | None:
        self.dead = True
        return -9


class FakeProcesses(Processes):
    """Starts a child when the gate is open; runs a coroutine of the test as each call."""

    def __init__(self, perform: Perform) -> None:
        super().__init__(Threads())
        self._perform = perform
        self.gate = asyncio.Event()
        self.gate.set()
        self.asked = asyncio.Event()
        """Set when a child is asked for that has to be started."""
        self.errors: list[Exception] = []
        """What the next starts raise."""
        self.started = 0
        """How many children were started."""
        self.begun: list[Run] = []
        self.running = 0

    @classmethod
    def of(cls, app: Drumbeat, perform: Perform) -> FakeProcesses:
        """Let a node that has just started use fake children."""
        node = inside.node(app)
        assert node is not None
        processes = cls(perform)
        inside.use_processes(node, processes)
        return processes

    async def ready(self, modules: frozenset[str]) -> HandlerProcess:
        child = self._idle_child()
        if child is None:
            self.asked.set()
            await self.gate.wait()
            if self.errors:
                raise self.errors.pop(0)
            child = FakeChild()
            self.started += 1
        child.loaded |= modules
        return child

    async def call(self, run: Run, middleware: Sequence[Hook] = ()) -> Ending | Unstorable:
        child, run.child = run.child, None
        assert isinstance(child, FakeChild)
        child.free = False
        self.begun.append(run)
        self.running += 1
        try:
            await self._perform(run)
        finally:
            self.running -= 1
        child.free = True
        return Returned()
