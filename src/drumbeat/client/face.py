"""Faces: the same calls without `await`.

`submit = waited(Jobs.submit)` is a method that waits for the other one, with its parameters, its
types and its documentation.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from contextlib import suppress
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from drumbeat.client.thread import LoopThread
from drumbeat.model.errors import NotRunning

N = TypeVar("N")
P = ParamSpec("P")
T = TypeVar("T")


class Face(Generic[N]):
    """A noun, or the client itself, for code without an event loop."""

    def __init__(self, noun: N, thread: LoopThread) -> None:
        self._noun = noun
        self._thread = thread


def waited(
    method: Callable[Concatenate[N, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[Face[N], P], T]:
    """The method, waited for."""

    @wraps(method)
    def called(face: Face[N], /, *args: P.args, **kwargs: P.kwargs) -> T:
        noun, thread = face._noun, face._thread  # noqa: SLF001 - it is a method of the face  # pyright: ignore[reportPrivateUsage]
        return thread.call(lambda: method(noun, *args, **kwargs))

    return called


def walked(
    method: Callable[Concatenate[N, P], AsyncGenerator[T]],
) -> Callable[Concatenate[Face[N], P], Iterator[T]]:
    """The method, whose items come one by one."""

    @wraps(method)
    def called(face: Face[N], /, *args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        noun, thread = face._noun, face._thread  # noqa: SLF001 - as above  # pyright: ignore[reportPrivateUsage]
        items = method(noun, *args, **kwargs)

        async def advance() -> tuple[T, ...]:
            async for item in items:
                return (item,)
            return ()

        try:
            while found := thread.call(advance):
                yield found[0]
        finally:
            with suppress(NotRunning):  # a client that was closed has ended them already
                thread.call(items.aclose)

    return called
