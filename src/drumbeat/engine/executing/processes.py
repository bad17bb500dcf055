"""Processes: child processes for handlers with `process=True`, one call at a time in each.

A child that dies fails only its own attempt. A child whose attempt is over is killed, which is the
only way to end code that ignores cancellation. Children are spawned (never forked from a process
with threads), and exit when their parent does.

Starting a child takes long: an interpreter has to start and to import the handlers. So a child is
started before an attempt begins, and a call is only sent to a child that is ready.
"""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import TypeAlias

from drumbeat.engine.executing.child_logs import Logged, level_to_send
from drumbeat.engine.executing.run import Run
from drumbeat.engine.executing.threads import Threads
from drumbeat.engine.tasks.codec import Unstorable
from drumbeat.engine.tasks.hooks import Hook, HookReference, Hooks
from drumbeat.model.errors import ProcessNotStarted
from drumbeat.model.jobs.ending import Ending, Raised, RemoteTraceback
from drumbeat.model.jobs.job import Attempt, Progress
from drumbeat.ports.backend_guard import BackendGuard, backend_guard, set_backend_guard


@dataclass(frozen=True, slots=True)
class Load:
    """To the child: import these modules, so that calls of their functions can begin at once."""

    modules: tuple[str, ...]
    log_level: int
    """The lowest level of log records that the child sends."""
    hooks: tuple[HookReference, ...]
    """The `on_child_start` hooks, to be called after that."""


@dataclass(frozen=True, slots=True)
class HandlerCall:
    """To the child: run this function for this attempt."""

    module: str
    function: str
    attempt: Attempt
    epoch: int | None
    condition: bytes | None
    """The pickled condition of the task's retries: only the child has every exception."""
    middleware: tuple[HookReference, ...]
    """What runs around it."""


@dataclass(frozen=True, slots=True)
class Interrupt:
    """To the child: the call should end."""

    reason: str


@dataclass(frozen=True, slots=True)
class Alive:
    """From the child: the call goes on."""


@dataclass(frozen=True, slots=True)
class CancellationSeen:
    """From the child: the handler knew that the call should end, and has ended."""

    finished: bool
    """Whether its work is done all the same."""


@dataclass(frozen=True, slots=True)
class Ready:
    """From the child: the modules are imported, and the hooks were called."""

    failure: str | None = None
    """Which hook failed, and its traceback; such a child takes no calls."""


Message: TypeAlias = Ending | Unstorable | Progress | Alive | CancellationSeen | Ready | Logged
"""From the child: its progress, its logs, and finally how the call ended."""


class HandlerProcess:
    """One child process and the pipe to it."""

    def __init__(self) -> None:
        self.loaded: frozenset[str] = frozenset()
        """The modules that it has imported for its calls."""
        self.hooks = 0
        """How many of the `on_child_start` hooks it has called."""
        self.free = False
        """Whether it is ready for a call and runs none."""
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(
            target=_serve,
            args=(theirs, backend_guard()),
            name="drumbeat-handler",
            daemon=True,
        )
        self._process.start()
        theirs.close()

    @property
    def alive(self) -> bool:
        return self._process.is_alive()

    def send(self, message: Load | HandlerCall | Interrupt) -> None:
        """Send to the child. If it has died, `receive` notices."""
        with contextlib.suppress(OSError):
            self._pipe.send(message)

    def receive(self) -> Message:
        """Wait for a message; `EOFError` if the child has died."""
        message: Message = self._pipe.recv()
        return message

    def end(self) -> int | None:
        """Kill the child and return its exit code; if it was exiting anyway, its own code.

        The last holder closes the pipe: a thread may be about to read from it, and must not
        find another file under its number.
        """
        self._process.kill()
        self._process.join()
        return self._process.exitcode

    def died_with(self) -> int | None:
        """The exit code of a child whose pipe has closed."""
        self._process.join(1.0)
        return self.end()


def _serve(pipe: Connection, guard: BackendGuard | None) -> None:
    from drumbeat.engine.executing.child import serve  # noqa: PLC0415 - imported in the child only

    set_backend_guard(guard)  # the handlers' modules make apps too
    serve(pipe)


class Processes:
    """Starts children and keeps idle ones for the next call. The slots limit their number."""

    def __init__(self, threads: Threads, hooks: Hooks | None = None) -> None:
        self._threads = threads
        self._hooks = hooks or Hooks()
        self._idle: list[HandlerProcess] = []

    async def ready(self, modules: frozenset[str]) -> HandlerProcess:
        """A child that has loaded these modules and runs nothing.

        It belongs to the caller until it is released. An idle child that has the modules comes at
        once. Raises `ProcessNotStarted` if a new child dies, or if a hook fails in it.
        """
        child = self._idle_child() or await self._new_child()
        hooks = self._hooks.on_child_start
        missing = (modules | self._hooks.child_modules) - child.loaded
        if missing or child.hooks < len(hooks) or not child.free:
            new = tuple(hook.reference for hook in hooks[child.hooks :])
            await self._load(child, Load(tuple(sorted(missing)), level_to_send(), new))
        return child

    async def call(self, run: Run, middleware: Sequence[Hook] = ()) -> Ending | Unstorable:
        """Run the handler in the child of the run to its end, with middleware around it."""
        definition = run.definition
        handler, condition = definition.handler, definition.options.retry.condition
        call = HandlerCall(
            handler.__module__,
            handler.__qualname__,
            run.attempt,
            run.context.epoch,
            None if condition is None else pickle.dumps(condition),
            tuple(hook.reference for hook in middleware),
        )
        child, run.child = run.child, None
        assert child is not None, "an attempt is begun when its child is ready"
        child.free = False
        try:
            ending = await self._converse(child, run, call)
        except (EOFError, OSError):
            return Raised(f"its process died with exit code {child.died_with()}")
        except BaseException:
            child.end()
            raise
        child.free = True
        if isinstance(ending, Raised) and ending.exception is not None:
            ending.exception.__cause__ = RemoteTraceback(ending.error)
        return ending

    def release(self, child: HandlerProcess) -> None:
        """Keep the child for the next call; kill it if its last call has not ended."""
        if child.free:
            self._idle.append(child)
        else:
            child.end()

    def close(self) -> None:
        while self._idle:
            self._idle.pop().end()

    def _idle_child(self) -> HandlerProcess | None:
        while self._idle:
            child = self._idle.pop()
            if child.alive:
                return child
            child.end()
        return None

    async def _new_child(self) -> HandlerProcess:
        starting = self._threads.call(HandlerProcess)
        try:
            child: HandlerProcess = await asyncio.shield(starting)
        except asyncio.CancelledError:
            starting.add_done_callback(_end)  # nobody else has a reference to it
            raise
        return child

    async def _load(self, child: HandlerProcess, load: Load) -> None:
        child.free = False
        try:
            child.send(load)
            while not isinstance(ready := await self._threads.call(child.receive), Ready):
                if isinstance(ready, Logged):  # else a late heartbeat of the last call
                    ready.write()
        except (EOFError, OSError):
            raise ProcessNotStarted(child.died_with()) from None
        except BaseException:
            child.end()
            raise
        if ready.failure is not None:
            child.end()
            raise ProcessNotStarted(None, ready.failure)
        child.loaded |= frozenset(load.modules)
        child.hooks += len(load.hooks)
        child.free = True

    async def _converse(
        self, child: HandlerProcess, run: Run, call: HandlerCall
    ) -> Ending | Unstorable:
        run.on_interrupt = lambda reason: child.send(Interrupt(reason))
        child.send(call)
        try:
            while True:
                message: Message = await self._threads.call(child.receive)
                match message:
                    case Logged():
                        message.write()
                    case Alive() | Ready():
                        run.context.heartbeat()
                    case CancellationSeen(finished):
                        run.context.cancelled.is_set()
                        run.context.is_finished = finished
                    case Progress():
                        run.context.progress(message.done, message.total, message.message)
                    case _:
                        return message
        finally:
            run.on_interrupt = None


def _end(starting: asyncio.Future[HandlerProcess]) -> None:
    if not starting.cancelled() and starting.exception() is None:
        starting.result().end()
