"""Tasks of a Django project."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, Unpack, cast, overload

from django.db import transaction

from drumbeat.engine.tasks.context import Context
from drumbeat.engine.tasks.decorators import Decorator, TaskDecorator
from drumbeat.engine.tasks.handle import CallSettings, HandlerTask, TaskSettings
from drumbeat.engine.tasks.hooks import Checks

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
Q = ParamSpec("Q")
C_co = TypeVar("C_co", covariant=True)


class DjangoTask(HandlerTask[P, R_co, Q, C_co], Generic[P, R_co, Q, C_co]):
    """A task that can also be submitted once a transaction of Django is committed."""

    def options(self, **changes: Unpack[CallSettings]) -> DjangoTask[P, R_co, Q, C_co]:
        return cast("DjangoTask[P, R_co, Q, C_co]", super().options(**changes))

    def submit_on_commit(self, *args: P.args, **kwargs: P.kwargs) -> None:
        """Submit once the open transaction of the default database is committed, or now.

        If it is rolled back, nothing is submitted. Arguments are checked and encoded now. If the
        process dies between the commit and the submission, the job is lost; where the store is in
        the same database, `options(connection=connection).submit_sync(...)` rules that out.
        """
        spec = self._definition.job(args, kwargs, self._options)
        transaction.on_commit(lambda: self._submission.submit_sync(spec))


class DjangoDecorator(Decorator):
    """Registers a handler, and returns a handle with the handler's own types."""

    @overload
    def __call__(
        self, handler: Callable[Concatenate[Context, P], Coroutine[Any, Any, R]], /
    ) -> DjangoTask[P, R, Concatenate[Context, P], Coroutine[Any, Any, R]]: ...
    @overload
    def __call__(
        self, handler: Callable[P, Coroutine[Any, Any, R]], /
    ) -> DjangoTask[P, R, P, Coroutine[Any, Any, R]]: ...
    @overload
    def __call__(
        self, handler: Callable[Concatenate[Context, P], R], /
    ) -> DjangoTask[P, R, Concatenate[Context, P], R]: ...
    @overload
    def __call__(self, handler: Callable[P, R], /) -> DjangoTask[P, R, P, R]: ...
    def __call__(self, handler: Callable[..., Any], /) -> DjangoTask[..., Any, ..., Any]:
        return cast("DjangoTask[..., Any, ..., Any]", super().__call__(handler))


class DjangoTaskDecorator(TaskDecorator):
    """`@task`, or `@task(queue="mail", timeout=30)`."""

    @overload
    def __call__(
        self, handler: Callable[Concatenate[Context, P], Coroutine[Any, Any, R]], /
    ) -> DjangoTask[P, R, Concatenate[Context, P], Coroutine[Any, Any, R]]: ...
    @overload
    def __call__(
        self, handler: Callable[P, Coroutine[Any, Any, R]], /
    ) -> DjangoTask[P, R, P, Coroutine[Any, Any, R]]: ...
    @overload
    def __call__(
        self, handler: Callable[Concatenate[Context, P], R], /
    ) -> DjangoTask[P, R, Concatenate[Context, P], R]: ...
    @overload
    def __call__(self, handler: Callable[P, R], /) -> DjangoTask[P, R, P, R]: ...
    @overload
    def __call__(
        self,
        *,
        name: str | None = ...,
        process: bool = ...,
        before: Checks = ...,
        **settings: Unpack[TaskSettings],
    ) -> DjangoDecorator: ...
    def __call__(self, *handlers: Callable[..., Any], **given: Any) -> Any:
        return cast("Any", super().__call__(*handlers, **given))
