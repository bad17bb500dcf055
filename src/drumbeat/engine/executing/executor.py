"""The executor: runs a handler and returns how it ended. Every outcome becomes a value."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable, Coroutine, Generator
from contextvars import Context, copy_context
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

from drumbeat.engine.executing.processes import Processes
from drumbeat.engine.executing.run import Run
from drumbeat.engine.executing.threads import Threads
from drumbeat.engine.plumbing.bus import Bus
from drumbeat.engine.tasks.codec import Unstorable, encode_result
from drumbeat.engine.tasks.context import CURRENT
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
OUR_FILES = frozenset(
    str(Path(__file__).with_name(name)) for name in ("executor.py", "child.py", "threads.py")
)


class Executor:
    """Runs handlers: on the loop, in threads, or in processes."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._threads = Threads()
        self.processes = Processes(self._threads)
        """The children in which handlers with `process=True` run."""

    async def execute(self, run: Run) -> Ending:
        """Run the handler until it ends, or until the run is interrupted."""
        try:
            definition = run.definition
            if definition.place is Place.PROCESS:
                answer = await self.processes.call(run)
                ending = self._drop(run, answer) if isinstance(answer, Unstorable) else answer
            else:
                args, kwargs = definition.codec.decode(run.attempt.spec.arguments)
                if definition.takes_context:
                    args.insert(0, run.context)
                context = copy_context()
                context.run(CURRENT.set, run)
                result: object
                if definition.place is Place.LOOP:
                    coroutine = context.run(definition.handler, *args, **kwargs)
                    try:
                        waits_for = context.run(coroutine.send, None)
                    except StopIteration as returned:
                        result = returned.value
                    else:
                        result = await OwnContext(context, coroutine, waits_for)
                else:
                    call = partial(definition.handler, *args, **kwargs)
                    result = await self._in_thread(run, call, context)
                ending = NOTHING if result is None else self._returned(run, result)
        except asyncio.CancelledError as error:
            # Nobody interrupted the run, so this is an ordinary error, unlike `Cancel`.
            return interrupted(run.interruption, error) if run.interruption else raised(error)
        except KeyboardInterrupt:
            raise  # meant for the event loop, not for this handler
        except BaseException as error:
            if isinstance(error, GeneratorExit) and not run.is_current:
                raise  # this coroutine is being closed; else the handler raised it
            ending = ending_of(error)
        finally:
            run.end()
        return ending if run.request is None else run.answer(ending)

    def close(self) -> None:
        self.processes.close()
        self._threads.close()

    async def _in_thread(self, run: Run, function: Callable[[], Any], context: Context) -> object:
        future = self._threads.call(function, context)
        try:
            returned: object = await asyncio.shield(future)
        except asyncio.CancelledError:
            if not future.done():  # a thread cannot be ended: its slot waits for it
                run.left_behind = future
                self._bus.emit(AttemptOverran(run.attempt))
            raise
        return returned

    def _returned(self, run: Run, result: object) -> Ending:
        encoded = encode_result(result)
        return self._drop(run, encoded) if isinstance(encoded, Unstorable) else Returned(encoded)

    def _drop(self, run: Run, result: Unstorable) -> Ending:
        self._bus.emit(ResultDropped(run.attempt, result.why))
        return NOTHING


class TracedExecutor(Executor):
    """Runs each attempt in a trace of its own."""

    def __init__(self, bus: Bus, tracing: Tracing) -> None:
        super().__init__(bus)
        self._tracing = tracing

    async def execute(self, run: Run) -> Ending:
        with self._tracing.running(run.attempt) as ended:
            ending = await super().execute(run)
            ended(ending)
            return ending


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
    """The error with its traceback, without our own frames above the handler's."""
    error.__traceback__ = _trace_of_handler(error)
    return Raised("".join(traceback.format_exception(error)).rstrip(), exception=error)


def interrupted(ending: Ending, error: asyncio.CancelledError) -> Ending:
    """The ending of a run that was cancelled. A time-out keeps the line where the handler was."""
    if not isinstance(ending, TimedOut):
        return ending
    late = TimeoutError(f"timed out after {ending.after:g} s")
    return replace(ending, exception=late.with_traceback(_trace_of_handler(error)))


def _trace_of_handler(error: BaseException) -> TracebackType | None:
    """The traceback without our own frames above the handler's and below them."""
    first = error.__traceback__
    while first is not None and _is_ours(first):
        first = first.tb_next
    last = trace = first
    while trace is not None:
        last, trace = (last if _is_ours(trace) else trace), trace.tb_next
    if last is not None:
        last.tb_next = None
    return first


def _is_ours(trace: TracebackType) -> bool:
    return trace.tb_frame.f_code.co_filename in OUR_FILES
