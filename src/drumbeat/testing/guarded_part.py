"""Guarded parts: a backend, or a part of one, that asks before each of its calls."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

HARMLESS = frozenset({"close"})
"""Calls that need no permission: what was never opened has nothing to close."""
BACKENDS = "drumbeat.backends."


class GuardedPart:
    """Passes each call on to a backend after a check, which raises if the call is refused."""

    def __init__(self, check: Callable[[], None], part: object) -> None:
        self._check = check
        self._part = part
        for name in getattr(part, "__dict__", {}):
            if not name.startswith("_"):  # found without a call, as a check by a protocol does
                setattr(self, name, self._member(name))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._member(name)

    def _member(self, name: str) -> Any:
        member: Any = getattr(self._part, name)
        if name in HARMLESS:
            return member
        if inspect.iscoroutinefunction(member):
            return self._checked_coroutine(member)
        if inspect.isroutine(member):
            return self._checked(member)
        if type(member).__module__.startswith(BACKENDS):
            return GuardedPart(self._check, member)
        return member

    def _checked_coroutine(self, call: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(call)
        async def checked(*args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            self._check()
            return await call(*args, **kwargs)

        return checked

    def _checked(self, call: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(call)
        def checked(*args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            self._check()
            return call(*args, **kwargs)

        return checked
