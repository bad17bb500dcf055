"""Step down: a leader that meets certain errors lets another lead."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias, TypeVar, cast

from drumbeat.model.errors import ConfigurationError

Handler = TypeVar("Handler", bound=Callable[..., Any])
Resign: TypeAlias = Callable[[str], Awaitable[None] | None]


def step_down_on(*errors: type[BaseException], resign: Resign) -> Callable[[Handler], Handler]:
    """Resign when one of these errors escapes from the function; the error goes on.

    ```python
    @app.scheduled(every(minutes=1))
    @step_down_on(DatabaseError, resign=app.leadership.resign)
    async def report() -> None: ...
    ```
    `resign` is called with the reason: `app.leadership.resign`, `election.step_down`, or, from an
    asynchronous function, `election.resign`.
    """
    if not errors:
        raise ConfigurationError("step_down_on needs at least one type of error")

    def decorate(handler: Handler) -> Handler:
        if inspect.iscoroutinefunction(handler):
            return cast("Handler", _asynchronous(handler, errors, resign))
        if inspect.iscoroutinefunction(resign):
            raise ConfigurationError(
                f"step_down_on: {handler.__qualname__} is a plain function and cannot await "
                f"{resign.__qualname__}; give a plain one such as election.step_down"
            )
        return cast("Handler", _plain(handler, errors, resign))

    return decorate


def _asynchronous(
    handler: Callable[..., Awaitable[Any]], errors: tuple[type[BaseException], ...], resign: Resign
) -> Callable[..., Awaitable[Any]]:
    @functools.wraps(handler)
    async def watched(*args: Any, **kwargs: Any) -> Any:
        try:
            return await handler(*args, **kwargs)
        except errors as error:
            answer = resign(_reason(error))
            if answer is not None:
                await answer
            raise

    return watched


def _plain(
    handler: Callable[..., Any], errors: tuple[type[BaseException], ...], resign: Resign
) -> Callable[..., Any]:
    @functools.wraps(handler)
    def watched(*args: Any, **kwargs: Any) -> Any:
        try:
            return handler(*args, **kwargs)
        except errors as error:
            resign(_reason(error))
            raise

    return watched


def _reason(error: BaseException) -> str:
    return f"stepped down on {type(error).__name__}: {error}"
