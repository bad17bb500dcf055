"""Hook decorators: how the code of an app registers its hooks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from drumbeat.engine.tasks.hooks import Check, Hooks, Middleware, ProcessHook, SubmitMiddleware

AroundAttempts = TypeVar("AroundAttempts", bound=Middleware)
OfProcess = TypeVar("OfProcess", bound=ProcessHook)
OfChild = TypeVar("OfChild", bound=Callable[[], None])
AroundSubmissions = TypeVar("AroundSubmissions", bound=SubmitMiddleware)
BeforeAttempts = TypeVar("BeforeAttempts", bound=Check)


class HookDecorators:
    """Each returns the function unchanged."""

    def __init__(self, hooks: Hooks) -> None:
        self._hooks = hooks

    def middleware(self, function: AroundAttempts) -> AroundAttempts:
        """Run `function(ctx, call_next)` around the attempts of all tasks; the first is outermost.

        With `async def`, on the event loop and around every handler. A plain function runs in the
        thread of a synchronous handler, or in the process of one with `process=True`.
        """
        self._hooks.add_middleware(function)
        return function

    def submit_middleware(self, function: AroundSubmissions) -> AroundSubmissions:
        """Pass each job that is submitted through `function(spec)`, which returns it or a changed
        one, or raises to refuse it. Plain functions only. Jobs of ticks do not pass it.
        """
        self._hooks.add_submit_middleware(function)
        return function

    def before(self, check: BeforeAttempts) -> BeforeAttempts:
        """Call `check(ctx)` before each run of any handler; `raise Cancel("why")` skips the run.

        A plain function is called in a thread.
        """
        self._hooks.add_before(check)
        return check

    def on_start(self, function: OfProcess) -> OfProcess:
        """Call the function when the process starts as a node, before it takes any job.

        If it raises, the start ends with `StartHookFailed`. A plain function runs in a thread.
        """
        self._hooks.add_on_start(function)
        return function

    def on_stop(self, function: OfProcess) -> OfProcess:
        """Call the function when the node has stopped: no job runs any more. The last comes first.

        If it raises, the others are called all the same.
        """
        self._hooks.add_on_stop(function)
        return function

    def on_child_start(self, function: OfChild) -> OfChild:
        """Call the plain function in each child process for `process=True`, before its first job.

        It has to be at the top level of a module. If it raises, the child takes no job.
        """
        self._hooks.add_on_child_start(function)
        return function
