"""Tasks of a Django project."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, ParamSpec, TypeVar, Unpack, cast, overload

from django.db import transaction

from drumbeat.django.connections import own_handler
from drumbeat.engine.tasks.context import Context
from drumbeat.engine.tasks.decorators import Decorator, TaskDecorator
from drumbeat.engine.tasks.handle import CallSettings, Task, TaskSettings
from drumbeat.engine.tasks.hooks import Checks

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class DjangoTask(Task[P, R_co]):
    """A task that can also be submitted once a transaction of Django is committed."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the handler as if it were no task: the connections stay as the caller has them."""
        return own_handler(self._definition.handler)(*args, **kwargs)

    def options(self, **changes: Unpack[CallSettings]) -> DjangoTask[P, R_co]:
        return cast("DjangoTask[P, R_co]", super().options(**changes))

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
    ) -> DjangoTask[P, R]: ...
    @overload
    def __call__(self, handler: Callable[P, Coroutine[Any, Any, R]], /) -> DjangoTask[P, R]: ...
    @overload
    def __call__(self, handler: Callable[Concatenate[Context, P], R], /) -> DjangoTask[P, R]: ...
    @overload
    def __call__(self, handler: Callable[P, R], /) -> DjangoTask[P, R]: ...
    def __call__(self, handler: Callable[..., Any], /) -> DjangoTask[..., Any]:
        return cast("DjangoTask[..., Any]", super().__call__(handler))


class DjangoTaskDecorator(TaskDecorator):
    """`@task`, or `@task(queue="mail", timeout=30)`."""

    @overload
    def __call__(
        self, handler: Callable[Concatenate[Context, P], Coroutine[Any, Any, R]], /
    ) -> DjangoTask[P, R]: ...
    @overload
    def __call__(self, handler: Callable[P, Coroutine[Any, Any, R]], /) -> DjangoTask[P, R]: ...
    @overload
    def __call__(self, handler: Callable[Concatenate[Context, P], R], /) -> DjangoTask[P, R]: ...
    @overload
    def __call__(self, handler: Callable[P, R], /) -> DjangoTask[P, R]: ...
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
