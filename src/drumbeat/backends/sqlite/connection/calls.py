"""Calls: steps that an event loop hands to a thread, and how the results get back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, ClassVar, Generic, TypeVar, cast

T = TypeVar("T")
Context = TypeVar("Context")


class DeferredResult(Generic[T]):
    """A result built lazily, after the commit.

    Building the values of a large result does not use the file, so other processes can write
    meanwhile.
    """

    __slots__ = ("build",)

    def __init__(self, build: Callable[[], T]) -> None:
        """`build` returns the result. It must use only what the step has read."""
        self.build = build


class Call(Generic[Context]):
    """One step for another thread, and the future that waits for its result here."""

    __slots__ = ("failed", "future", "loop", "result", "step")
    synced: ClassVar[bool] = True
    """Whether the commit has to be on the disk before the result comes."""

    def __init__(self, step: Callable[[Context], Any], future: asyncio.Future[Any]) -> None:
        self.step = step
        self.future = future
        self.loop = future.get_loop()
        self.result: Any = None
        self.failed = False

    @property
    def size(self) -> int:
        """How many callers wait for it."""
        return 1

    def run(self, context: Context) -> None:
        self.result, self.failed = self.step(context), False

    def fail(self, error: BaseException) -> None:
        self.result, self.failed = error, True

    def build_result(self) -> None:
        """Build a deferred result, after the commit."""
        result: object = self.result
        if isinstance(result, DeferredResult):
            try:
                self.result = cast("DeferredResult[object]", result).build()
            except Exception as error:  # noqa: BLE001 - it goes to the caller; the thread goes on
                self.fail(error)

    def parts(self) -> Sequence[Call[Context]]:
        """The single calls that it consists of."""
        return (self,)

    def resolve(self) -> None:
        """Resolve the future. Its loop calls this."""
        future, result = self.future, self.result
        if future.done():  # the caller was cancelled; the step was done all the same
            return
        if self.failed:
            future.set_exception(result)
        else:
            future.set_result(result)


class UnsyncedCall(Call[Context]):
    """One step that may be undone by a power cut, until the next commit of another kind."""

    __slots__ = ()
    synced = False


class JoinedCalls(Call[Context]):
    """Calls of the same step from one turn of a loop: run as one, resolved one by one."""

    __slots__ = ("futures", "requests", "together")

    def __init__(
        self,
        together: Callable[[Context, Sequence[Any]], DeferredResult[Sequence[Any]]],
        future: asyncio.Future[Any],
    ) -> None:
        super().__init__(self._run_together, future)
        self.together = together
        self.requests: list[Any] = []
        self.futures: list[asyncio.Future[Any]] = []

    def join(self, request: object, future: asyncio.Future[Any]) -> None:
        self.requests.append(request)
        self.futures.append(future)

    @property
    def size(self) -> int:
        return len(self.requests)

    def parts(self) -> Sequence[Call[Context]]:
        return [
            Call(_single(self.together, request), future)
            for request, future in zip(self.requests, self.futures, strict=True)
        ]

    def resolve(self) -> None:
        if self.failed:
            for future in self.futures:
                if not future.done():
                    future.set_exception(self.result)
            return
        for future, result in zip(self.futures, self.result, strict=True):
            if not future.done():
                future.set_result(result)

    def _run_together(self, context: Context) -> object:
        return self.together(context, self.requests)


def _single(
    together: Callable[[Context, Sequence[Any]], DeferredResult[Sequence[Any]]], request: object
) -> Callable[[Context], Any]:
    def step(context: Context) -> object:
        (result,) = together(context, [request]).build()
        return result

    return step


def in_parts(calls: Iterable[Call[Context]]) -> list[Call[Context]]:
    return [part for call in calls for part in call.parts()]


def build_and_resolve(calls: Sequence[Call[Any]]) -> None:
    for call in calls:
        call.build_result()
    resolve_all(calls)


def resolve_all(calls: Sequence[Call[Any]]) -> None:
    """Bring the results back, with one wake-up for each loop, however many calls it has."""
    loop = calls[0].loop
    if all(call.loop is loop for call in calls):
        _resolve_on(loop, calls)
        return
    for each in {call.loop for call in calls}:
        _resolve_on(each, [call for call in calls if call.loop is each])


def _resolve_on(loop: asyncio.AbstractEventLoop, calls: Sequence[Call[Any]]) -> None:
    with suppress(RuntimeError):  # the loop was closed meanwhile: nobody waits there
        loop.call_soon_threadsafe(_resolve, calls)


def _resolve(calls: Sequence[Call[Any]]) -> None:
    for call in calls:
        call.resolve()
