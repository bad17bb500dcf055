"""Hooks: functions of an app around its attempts and submissions, and at the start of processes."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from drumbeat.engine.tasks.context import Context
from drumbeat.model.errors import InvalidHook
from drumbeat.model.jobs.job import JobSpec

CallNext: TypeAlias = Callable[[], Any]
"""Runs what a middleware is around, and returns its result; a coroutine for `async def`."""
Middleware: TypeAlias = Callable[[Context, Any], Any]
Check: TypeAlias = Callable[[Context], Awaitable[None] | None]
SubmitMiddleware: TypeAlias = Callable[[JobSpec], JobSpec]
ProcessHook: TypeAlias = Callable[[], Awaitable[None] | None]
Checks: TypeAlias = Check | Sequence[Check]


@dataclass(frozen=True, slots=True)
class Hook:
    """One function that the app has registered."""

    kind: str
    """The name of its decorator."""
    function: Callable[..., Any]
    asynchronous: bool

    @classmethod
    def of(cls, kind: str, function: Any, *parameters: str) -> Hook:
        """The hook, if it can be called with as many arguments; else `InvalidHook`."""
        if not callable(function) or inspect.isclass(function):
            raise InvalidHook(f"{kind} needs a function, not {function!r}")
        hook = cls(kind, function, _is_asynchronous(function))
        if any(
            is_generator(part)
            for part in (function, getattr(function, "__call__", None))  # noqa: B004 - of its class
            for is_generator in (inspect.isgeneratorfunction, inspect.isasyncgenfunction)
        ):
            raise InvalidHook(f"{hook} is a generator; write a function without yield")
        try:
            inspect.signature(function).bind(*parameters)
        except TypeError:
            raise InvalidHook(f"{hook} has to take ({', '.join(parameters)})") from None
        except ValueError:  # a builtin without a signature
            pass
        return hook

    def __str__(self) -> str:
        return f"{self.kind} {getattr(self.function, '__qualname__', repr(self.function))!r}"

    @property
    def reference(self) -> HookReference:
        """Where another process finds it; `InvalidHook` if it cannot be imported there."""
        module = getattr(self.function, "__module__", None)
        name = getattr(self.function, "__qualname__", "<")
        if module is None or "<" in name or inspect.ismethod(self.function):
            raise InvalidHook(
                f"{self} has to be a function at the top level of a module, since it runs in the "
                f"processes of tasks with process=True"
            )
        return HookReference(self.kind, module, name)

    def refuse_awaitable(self, result: object) -> None:
        """Refuse what a plain function returned, if it has to be awaited."""
        if inspect.isawaitable(result):
            if isinstance(result, Coroutine):
                result.close()
            raise InvalidHook(f"{self} returned an awaitable; declare it with async def")


@dataclass(frozen=True, slots=True)
class HookReference:
    """A hook as another process finds it."""

    kind: str
    module: str
    name: str

    def resolve(self) -> Hook:
        found: Any = importlib.import_module(self.module)
        for name in self.name.split("."):
            found = getattr(found, name)
        return Hook(self.kind, found, _is_asynchronous(found))


class Hooks:
    """The hooks of one app, in the order in which they were registered."""

    def __init__(self) -> None:
        self.around_attempts = False
        """Whether something runs around the attempts of all tasks."""
        self.middleware: tuple[Hook, ...] = ()
        """Asynchronous: around every attempt, on the event loop."""
        self.sync_middleware: tuple[Hook, ...] = ()
        """Around synchronous handlers, in their threads, and around those in child processes."""
        self.before: tuple[Hook, ...] = ()
        self.submit_middleware: tuple[Hook, ...] = ()
        self.on_start: tuple[Hook, ...] = ()
        self.on_stop: tuple[Hook, ...] = ()
        self.on_child_start: tuple[Hook, ...] = ()
        self.started = False
        """Whether the start hooks were called, and the stop hooks were not since."""

    @property
    def child_modules(self) -> frozenset[str]:
        """The modules that a child process imports for its hooks."""
        hooks = (*self.sync_middleware, *self.on_child_start)
        names = (getattr(hook.function, "__module__", None) for hook in hooks)
        return frozenset(name for name in names if name is not None)

    def add_middleware(self, function: Middleware) -> None:
        hook = Hook.of("middleware", function, "ctx", "call_next")
        if hook.asynchronous:
            self.middleware += (hook,)
        else:
            self.sync_middleware += (hook,)
        self.around_attempts = True

    def add_before(self, check: Check) -> None:
        self.before += checks(check)
        self.around_attempts = True

    def add_submit_middleware(self, function: SubmitMiddleware) -> None:
        hook = Hook.of("submit_middleware", function, "spec")
        if hook.asynchronous:
            raise InvalidHook(f"{hook} has to be a plain function, since submit_sync calls it too")
        self.submit_middleware += (hook,)

    def add_on_start(self, function: ProcessHook) -> None:
        hook = Hook.of("on_start", function)
        if self.started:
            raise InvalidHook(
                f"{hook} comes too late: the app is running; register it before the start"
            )
        self.on_start += (hook,)

    def add_on_stop(self, function: ProcessHook) -> None:
        self.on_stop += (Hook.of("on_stop", function),)

    def add_on_child_start(self, function: Callable[[], None]) -> None:
        hook = Hook.of("on_child_start", function)
        if hook.asynchronous:
            raise InvalidHook(f"{hook} has to be a plain function: a child has no event loop")
        _ = hook.reference
        self.on_child_start += (hook,)

    def add_all(self, other: Hooks) -> None:
        """Add the hooks of another, after one's own."""
        self.around_attempts |= other.around_attempts
        self.middleware += other.middleware
        self.sync_middleware += other.sync_middleware
        self.before += other.before
        self.submit_middleware += other.submit_middleware
        self.on_start += other.on_start
        self.on_stop += other.on_stop
        self.on_child_start += other.on_child_start

    def check_importable(self) -> None:
        """Refuse hooks that child processes would need and cannot import."""
        for hook in self.sync_middleware:
            _ = hook.reference


def checks(given: Any) -> tuple[Hook, ...]:
    """The hooks that `before=` names: one function, or several."""
    several = cast("Sequence[object]", given if isinstance(given, list | tuple) else (given,))
    return tuple(Hook.of("before", each, "ctx") for each in several)


def _is_asynchronous(function: Any) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 - of its class
    )
