"""Surrounded: one attempt with the hooks of the app around its handler.

Asynchronous middleware is outermost, then come the `before` hooks, then synchronous middleware in
the thread or the process of the handler, and then the handler. Each middleware calls its
`call_next` exactly once and waits for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from drumbeat.engine.tasks.context import Context
from drumbeat.engine.tasks.hooks import Hook, Hooks
from drumbeat.engine.tasks.task import BUILT_IN, Place
from drumbeat.model.errors import Cancel, InvalidHook, Snooze
from drumbeat.model.jobs.ending import Ending, Raised, Returned, Snoozed, Stopped

if TYPE_CHECKING:
    from drumbeat.engine.executing.executor import Executor
    from drumbeat.engine.executing.run import Run

Inside: TypeAlias = Callable[[], Coroutine[Any, Any, object]]

TWICE = "called call_next() twice; give the task retry= to run it again"
NOT_CALLED = 'returned without calling call_next(); to skip the run, raise Cancel("why")'
NOT_AWAITED = "returned before call_next() had returned; write `await call_next()`"


class Surrounded:
    """One attempt of a task of the app, on an executor."""

    def __init__(self, run: Run, hooks: Hooks, executor: Executor) -> None:
        self._run = run
        self._executor = executor
        definition = run.definition
        ours = definition.name.startswith(BUILT_IN)
        self._middleware = () if ours else hooks.middleware
        self._sync_middleware = () if ours else hooks.sync_middleware
        self._checks = () if ours else (*hooks.before, *definition.before)
        self._failure: tuple[BaseException, Ending] | None = None

    async def result(self) -> object:
        """What the outermost middleware returns."""
        return await self._layer(0)

    def ending_in_child(self, error: BaseException) -> Ending | None:
        """How the handler's process described this error, with its traceback."""
        failure = self._failure
        return failure[1] if failure is not None and failure[0] is error else None

    async def _layer(self, depth: int) -> object:
        if depth == len(self._middleware):
            for check in self._checks:
                await self._check(check)
            result = await self._handler()
            if not self._run.has_given_up:
                self._run.context.finished()  # what a middleware sees later does not undo it
            return result
        hook = self._middleware[depth]
        call_next = _CallNext(hook, partial(self._layer, depth + 1))
        try:
            result = await hook.function(self._run.context, call_next)
        finally:
            call_next.end()
        call_next.check()
        if self._run.interruption is not None and call_next.cancelled is not None:
            raise call_next.cancelled  # a middleware cannot keep an attempt that is over
        return result

    async def _check(self, check: Hook) -> None:
        call = partial(check.function, self._run.context)
        result = await (call() if check.asynchronous else self._in_thread(call))
        check.refuse_awaitable(result)
        if result is not None:
            raise InvalidHook(f'{check} returned {result!r}; to skip a run, raise Cancel("why")')

    async def _handler(self) -> object:
        run = self._run
        definition = run.definition
        if definition.place is Place.PROCESS:
            return self._from_child(await self._executor.in_process(run, self._sync_middleware))
        args, kwargs = definition.codec.decode(run.attempt.spec.arguments)
        if definition.takes_context:
            args.insert(0, run.context)
        call = partial(definition.handler, *args, **kwargs)
        if definition.place is Place.LOOP:
            return await call()
        return await self._in_thread(with_middleware(self._sync_middleware, run.context, call))

    async def _in_thread(self, call: Callable[[], object]) -> object:
        return await self._executor.in_thread(self._run, call, copy_context())

    def _from_child(self, ending: Ending) -> object:
        """The result of a handler that ran in a process; raises what it raised."""
        error: BaseException
        match ending:
            case Returned(result):
                return None if result is None else self._decoded(result)
            case Raised(text, exception=exception):
                error = exception or RuntimeError(text)
            case Snoozed(delay):
                error = Snooze(delay)
            case Stopped(reason):
                error = Cancel(reason)
            case _:
                error = RuntimeError(f"the handler's process ended: {ending!r}")
        self._failure = error, ending
        raise error

    def _decoded(self, result: bytes) -> object:
        try:
            return self._run.definition.codec.decode_result(result)
        except (msgspec.DecodeError, ValueError, TypeError, NotImplementedError):
            # A middleware in the child has changed it, or the annotation is too wide.
            return msgspec.json.decode(result)


class _CallNext:
    """The `call_next` of one asynchronous middleware in one attempt."""

    def __init__(self, hook: Hook, inside: Inside) -> None:
        self._hook = hook
        self._inside = inside
        self._coroutine: Coroutine[Any, Any, object] | None = None
        self._task: asyncio.Task[Any] | None = None
        self._ended = False
        self.cancelled: asyncio.CancelledError | None = None
        """The cancellation that came out of it."""

    def __call__(self) -> Coroutine[Any, Any, object]:
        if self._coroutine is not None:
            raise InvalidHook(f"{self._hook} {TWICE}")
        self._coroutine = self._call()
        return self._coroutine

    async def _call(self) -> object:
        self._task = asyncio.current_task()
        try:
            return await self._inside()
        except asyncio.CancelledError as error:
            self.cancelled = error
            raise
        finally:
            self._ended = True

    def end(self) -> None:
        """The middleware has ended: what it left running is cancelled."""
        if self._coroutine is not None and self._task is None:
            self._coroutine.close()
        elif self._task is not None and not self._ended:
            self._task.cancel()

    def check(self) -> None:
        """The middleware has returned: it must have waited for its `call_next`."""
        if self._coroutine is None:
            raise InvalidHook(f"{self._hook} {NOT_CALLED}")
        if not self._ended:
            raise InvalidHook(f"{self._hook} {NOT_AWAITED}")


def with_middleware(
    middleware: Sequence[Hook], context: Context, call: Callable[[], object]
) -> Callable[[], object]:
    """The call with synchronous middleware around it, the first outermost."""
    for hook in reversed(middleware):
        call = partial(_call_through, hook, context, call)
    return call


def _call_through(hook: Hook, context: Context, inside: Callable[[], object]) -> object:
    calls = 0

    def call_next() -> object:
        nonlocal calls
        calls += 1
        if calls > 1:
            raise InvalidHook(f"{hook} {TWICE}")
        return inside()

    result: object = hook.function(context, call_next)
    hook.refuse_awaitable(result)
    if not calls:
        raise InvalidHook(f"{hook} {NOT_CALLED}")
    return result
