"""Wrap asynchronous methods as blocking ones.

`submit = waited(RemoteJobs.submit)` is the same method without `await`: it keeps the parameters,
types and documentation.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator
from contextlib import suppress
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from drumbeat.blocking.loop_thread import LoopThread
from drumbeat.model.errors import NotRunning

N_co = TypeVar("N_co", covariant=True)
P = ParamSpec("P")
T = TypeVar("T")


class BlockingResource(Generic[N_co]):
    """A resource for code without an event loop."""

    def __init__(self, resource: N_co, thread: LoopThread) -> None:
        self._resource = resource
        self._thread = thread


def waited(
    method: Callable[Concatenate[N_co, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[BlockingResource[N_co], P], T]:
    """The blocking form of a coroutine method."""

    @wraps(method)
    def called(bridge: BlockingResource[N_co], /, *args: P.args, **kwargs: P.kwargs) -> T:
        resource, thread = bridge._resource, bridge._thread  # noqa: SLF001 - `called` is a method of it  # pyright: ignore[reportPrivateUsage]
        form: Callable[P, Coroutine[Any, Any, T]] = getattr(resource, method.__name__)
        return thread.call(lambda: form(*args, **kwargs))

    return called


def walked(
    method: Callable[Concatenate[N_co, P], AsyncIterator[T]],
) -> Callable[Concatenate[BlockingResource[N_co], P], Iterator[T]]:
    """The blocking form of a method that yields items."""

    @wraps(method)
    def called(bridge: BlockingResource[N_co], /, *args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        resource, thread = bridge._resource, bridge._thread  # noqa: SLF001 - as above  # pyright: ignore[reportPrivateUsage]
        form: Callable[P, AsyncIterator[T]] = getattr(resource, method.__name__)
        items = form(*args, **kwargs)

        async def advance() -> tuple[T, ...]:
            async for item in items:
                return (item,)
            return ()

        try:
            while found := thread.call(advance):
                yield found[0]
        finally:
            if isinstance(items, AsyncGenerator):
                with suppress(NotRunning):  # a client that was closed has ended them already
                    thread.call(items.aclose)

    return called
