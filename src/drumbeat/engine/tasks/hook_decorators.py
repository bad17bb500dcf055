"""Hook decorators: how the code of an app registers its hooks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from drumbeat.engine.tasks.hooks import Check, Hooks, Middleware

F = TypeVar("F", bound=Callable[..., Any])
AroundAttempts = TypeVar("AroundAttempts", bound=Middleware)
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

    def before(self, check: BeforeAttempts) -> BeforeAttempts:
        """Call `check(ctx)` before each run of any handler; `raise Cancel("why")` skips the run.

        A plain function is called in a thread.
        """
        self._hooks.add_before(check)
        return check
