"""Decorators: typed so that a task takes what its handler takes, without the context."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, Unpack, cast, overload

from drumbeat.engine.tasks.context import Context
from drumbeat.engine.tasks.handle import HandlerTask, TaskSettings
from drumbeat.engine.tasks.hooks import Checks, Hook, checks

P = ParamSpec("P")
R = TypeVar("R")


class Decorator:
    """Turns a function into a task. The engine fills a first parameter of type `Context`."""

    def __init__(
        self, register: Callable[[Callable[..., Any]], HandlerTask[..., Any, ..., Any]]
    ) -> None:
        self._register = register

    @overload
    def __call__(
        self, handler: Callable[Concatenate[Context, P], Coroutine[Any, Any, R]], /
    ) -> HandlerTask[P, R, Concatenate[Context, P], Coroutine[Any, Any, R]]: ...
    @overload
    def __call__(
        self, handler: Callable[P, Coroutine[Any, Any, R]], /
    ) -> HandlerTask[P, R, P, Coroutine[Any, Any, R]]: ...
    @overload
    def __call__(
        self, handler: Callable[Concatenate[Context, P], R], /
    ) -> HandlerTask[P, R, Concatenate[Context, P], R]: ...
    @overload
    def __call__(self, handler: Callable[P, R], /) -> HandlerTask[P, R, P, R]: ...
    def __call__(self, handler: Callable[..., Any], /) -> HandlerTask[..., Any, ..., Any]:
        return self._register(handler)


class Register(Protocol):
    """Registers a handler for a decorator."""

    def __call__(
        self,
        handler: Callable[..., Any],
        name: str | None,
        settings: TaskSettings,
        *,
        process: bool,
        before: tuple[Hook, ...],
    ) -> HandlerTask[..., Any, ..., Any]: ...


class TaskDecorator:
    """`@app.task`, or `@app.task(queue="mail", timeout=30)`."""

    def __init__(self, register: Register) -> None:
        self._register = register

    @overload
    def __call__(
        self, handler: Callable[Concatenate[Context, P], Coroutine[Any, Any, R]], /
    ) -> HandlerTask[P, R, Concatenate[Context, P], Coroutine[Any, Any, R]]: ...
    @overload
    def __call__(
        self, handler: Callable[P, Coroutine[Any, Any, R]], /
    ) -> HandlerTask[P, R, P, Coroutine[Any, Any, R]]: ...
    @overload
    def __call__(
        self, handler: Callable[Concatenate[Context, P], R], /
    ) -> HandlerTask[P, R, Concatenate[Context, P], R]: ...
    @overload
    def __call__(self, handler: Callable[P, R], /) -> HandlerTask[P, R, P, R]: ...
    @overload
    def __call__(
        self,
        *,
        name: str | None = ...,
        process: bool = ...,
        before: Checks = ...,
        **settings: Unpack[TaskSettings],
    ) -> Decorator: ...
    def __call__(
        self, *handlers: Callable[..., Any], **given: Any
    ) -> HandlerTask[..., Any, ..., Any] | Decorator:
        """Register a task under its function's name, or under the given one."""
        name: str | None = given.pop("name", None)
        process: bool = given.pop("process", False)
        before = checks(given.pop("before", ()))
        settings = cast("TaskSettings", given)
        decorator = Decorator(
            lambda handler: self._register(handler, name, settings, process=process, before=before)
        )
        return decorator(*handlers) if handlers else decorator
