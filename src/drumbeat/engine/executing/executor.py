"""The executor: runs a handler and returns how it ended. Every outcome becomes a value."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable, Coroutine, Generator, Sequence
from contextvars import Context, copy_context
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

from drumbeat.engine.executing.processes import Processes
from drumbeat.engine.executing.run import Run
from drumbeat.engine.executing.surrounded import Surrounded
from drumbeat.engine.executing.threads import Threads
from drumbeat.engine.plumbing.bus import Bus
from drumbeat.engine.tasks.codec import Unstorable, encode_result
from drumbeat.engine.tasks.context import CURRENT
from drumbeat.engine.tasks.hooks import Hook, Hooks
from drumbeat.engine.tasks.task import Place
from drumbeat.model.errors import Cancel, Fail, InvalidArguments, Snooze
from drumbeat.model.events import AttemptOverran, ResultDropped
from drumbeat.model.jobs.ending import (
    Ending,
    Raised,
    Returned,
    Snoozed,
    Stopped,
    TimedOut,
)
from drumbeat.ports.tracing import Tracing

NOTHING = Returned()
LOOP, PROCESS = Place.LOOP, Place.PROCESS  # looked up for every attempt
OUR_FILES = frozenset(
    str(Path(__file__).with_name(name))
    for name in ("executor.py", "surrounded.py", "child.py", "threads.py")
)


class Executor:
    """Runs handlers: on the loop, in threads, or in processes, with the hooks of the app."""

    def __init__(self, bus: Bus, hooks: Hooks | None = None) -> None:
        self._bus = bus
        self._hooks = hooks or Hooks()
        self._threads = Threads()
        self.processes = Processes(self._threads, self._hooks)
        """The children in which handlers with `process=True` run."""

    async def execute(self, run: Run) -> Ending:
        """Run the handler until it ends, or until the run is interrupted."""
        try:
            definition = run.definition
            if definition.before or self._hooks.around_attempts:
                ending = await self._surrounded(run)
            elif definition.place is PROCESS:
                ending = await self.in_process(run)
            else:
                args, kwargs = definition.codec.decode(run.attempt.spec.arguments)
                if definition.takes_context:
                    args.insert(0, run.context)
                context = copy_context()
                context.run(CURRENT.set, run)
                result: object
                if definition.place is LOOP:
                    coroutine = context.run(definition.handler, *args, **kwargs)
                    try:
                        waits_for = context.run(coroutine.send, None)
                    except StopIteration as returned:
                        result = returned.value
                    else:
                        result = await OwnContext(context, coroutine, waits_for)
                else:
                    call = partial(definition.handler, *args, **kwargs)
                    result = await self.in_thread(run, call, context)
                ending = NOTHING if result is None else self._returned(run, result)
        except BaseException as error:
            decided = _ending_after(error, run)
            if decided is None:
                raise
            ending = decided
        finally:
            run.end()
        return ending if run.request is None else run.answer(ending)

    def close(self) -> None:
        self.processes.close()
        self._threads.close()

    async def in_process(self, run: Run, middleware: Sequence[Hook] = ()) -> Ending:
        """Run the handler in the child of the run, with synchronous middleware around it."""
        answer = await self.processes.call(run, middleware)
        return self._drop(run, answer) if isinstance(answer, Unstorable) else answer

    async def in_thread(self, run: Run, function: Callable[[], Any], context: Context) -> object:
        """Call the function in a thread. If the attempt ends before it, the slot waits for it."""
        future = self._threads.call(function, context)
        try:
            returned: object = await asyncio.shield(future)
        except asyncio.CancelledError:
            if not future.done():  # a thread cannot be ended: its slot waits for it
                run.left_behind = future
                self._bus.emit(AttemptOverran(run.attempt))
            raise
        return returned

    async def _surrounded(self, run: Run) -> Ending:
        context = copy_context()
        context.run(CURRENT.set, run)
        surrounded = Surrounded(run, self._hooks, self)
        try:
            result = await in_context(context, surrounded.result())
        except Exception as error:
            ending = surrounded.ending_in_child(error)
            if ending is None:
                raise
            return ending
        return NOTHING if result is None else self._returned(run, result)

    def _returned(self, run: Run, result: object) -> Ending:
        encoded = encode_result(result)
        return self._drop(run, encoded) if isinstance(encoded, Unstorable) else Returned(encoded)

    def _drop(self, run: Run, result: Unstorable) -> Ending:
        self._bus.emit(ResultDropped(run.attempt, result.why))
        return NOTHING


class TracedExecutor(Executor):
    """Runs each attempt in a trace of its own."""

    def __init__(self, bus: Bus, hooks: Hooks, tracing: Tracing) -> None:
        super().__init__(bus, hooks)
        self._tracing = tracing

    async def execute(self, run: Run) -> Ending:
        with self._tracing.running(run.attempt) as ended:
            ending = await super().execute(run)
            ended(ending)
            return ending


async def in_context(context: Context, coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run the coroutine in the context."""
    try:
        waits_for = context.run(coroutine.send, None)
    except StopIteration as returned:
        return returned.value
    return await OwnContext(context, coroutine, waits_for)


class OwnContext:
    """The rest of a coroutine that has been started in this context, and waits.

    Attempts share the long-lived task of their slot. A `ContextVar` that one of them sets must not
    be seen by the next, so each step of a handler runs in the context of its attempt.
    """

    __slots__ = ("_context", "_coroutine", "_waits_for")

    def __init__(
        self, context: Context, coroutine: Coroutine[Any, Any, Any], waits_for: Any
    ) -> None:
        self._context = context
        self._coroutine = coroutine
        self._waits_for = waits_for

    def __await__(self) -> Generator[Any, Any, Any]:
        run, coroutine, waits_for = self._context.run, self._coroutine, self._waits_for
        while True:
            sent, error = None, None
            try:
                sent = yield waits_for
            except BaseException as thrown:  # noqa: BLE001 - for the coroutine, such as a cancellation
                error = thrown
            try:
                if error is None:
                    waits_for = run(coroutine.send, sent)
                else:
                    waits_for = run(coroutine.throw, error)
            except StopIteration as returned:
                return returned.value


def _ending_after(error: BaseException, run: Run) -> Ending | None:
    """How an error that came out of a run ends it; None: the error is not the run's."""
    match error:
        case asyncio.CancelledError():
            # If nobody interrupted the run, this is an ordinary error, unlike `Cancel`.
            return interrupted(run.interruption, error) if run.interruption else raised(error)
        case KeyboardInterrupt():
            return None  # meant for the event loop
        case GeneratorExit() if not run.is_current:
            return None  # the coroutine of the attempt is being closed
        case _:
            return ending_of(error)


def ending_of(error: BaseException) -> Ending:
    """How an error ends an attempt. `Snooze` and `Cancel` are requests; `Fail` is final."""
    match error:
        case Snooze():
            return Snoozed(error.delay)
        case Cancel():
            return Stopped(error.reason)
        case Fail():
            return replace(raised(error), final=True)
        case InvalidArguments():
            return Raised(str(error), final=True, exception=error.with_traceback(None))
        case _:
            return raised(error)


def raised(error: BaseException) -> Raised:
    """The error with its traceback, without our own frames around the handler's."""
    error.__traceback__ = _without_our_frames(error.__traceback__)
    return Raised("".join(traceback.format_exception(error)).rstrip(), exception=error)


def interrupted(ending: Ending, error: asyncio.CancelledError) -> Ending:
    """The ending of a run that was cancelled. A time-out keeps the line where the handler was."""
    if not isinstance(ending, TimedOut):
        return ending
    late = TimeoutError(f"timed out after {ending.after:g} s")
    trace = _without_our_frames(error.__traceback__)
    return replace(ending, exception=late.with_traceback(trace))


def _without_our_frames(trace: TracebackType | None) -> TracebackType | None:
    theirs: TracebackType | None = None
    frames: list[TracebackType] = []
    while trace is not None:
        frames.append(trace)
        trace = trace.tb_next
    for frame in reversed(frames):
        if frame.tb_frame.f_code.co_filename not in OUR_FILES:
            frame.tb_next = theirs
            theirs = frame
    return theirs
