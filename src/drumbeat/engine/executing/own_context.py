"""OwnContext: a coroutine that runs in a context of its own, without a task of its own.

Attempts share the long-lived task of their slot. A `ContextVar` that one of them sets must not be
seen by the next, so each step of a handler is run in the context of its attempt.
"""

from __future__ import annotations

from collections.abc import Coroutine, Generator
from contextvars import Context
from typing import Any


class OwnContext:
    """The rest of a coroutine that has been started in this context, and waits."""

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
