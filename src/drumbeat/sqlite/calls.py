"""Calls: what an event loop asks of a thread, and how the answers get back to it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, Generic, TypeVar, cast

T = TypeVar("T")
Context = TypeVar("Context")


class Draft(Generic[T]):
    """An answer that is worded once it is true.

    Making the values of which a large answer consists needs nothing of the file. So it is done
    after the commit, when others can write again.
    """

    __slots__ = ("worded",)

    def __init__(self, worded: Callable[[], T]) -> None:
        """`worded` returns the answer. It uses nothing but what the step has left behind."""
        self.worded = worded


class Call(Generic[Context]):
    """One step to be done elsewhere, and the future that waits for its answer here."""

    __slots__ = ("answer", "failed", "future", "loop", "step")

    def __init__(self, step: Callable[[Context], Any], future: asyncio.Future[Any]) -> None:
        self.step = step
        self.future = future
        self.loop = future.get_loop()
        self.answer: Any = None
        self.failed = False

    @property
    def size(self) -> int:
        """How many wait for it."""
        return 1

    def run(self, context: Context) -> None:
        """Do it."""
        self.answer, self.failed = self.step(context), False

    def fail(self, error: BaseException) -> None:
        """Keep why it was not done."""
        self.answer, self.failed = error, True

    def word(self) -> None:
        """It is done, and will stay so: word the answer."""
        answer: object = self.answer
        if isinstance(answer, Draft):
            try:
                self.answer = cast("Draft[object]", answer).worded()
            except Exception as error:  # noqa: BLE001 - it goes to the caller; the thread lives on
                self.fail(error)

    def parts(self) -> Sequence[Call[Context]]:
        """The calls of which it consists."""
        return (self,)

    def resolve(self) -> None:
        """Tell whoever waits, on its loop."""
        future, answer = self.future, self.answer
        if future.done():  # whoever waited was cancelled; the step was done all the same
            return
        if self.failed:
            future.set_exception(answer)
        else:
            future.set_result(answer)


class Chorus(Call[Context]):
    """Calls of one turn of a loop that want the same: done in one step, answered one by one."""

    __slots__ = ("futures", "together", "wishes")

    def __init__(
        self,
        together: Callable[[Context, Sequence[Any]], Draft[Sequence[Any]]],
        future: asyncio.Future[Any],
    ) -> None:
        super().__init__(self._run_together, future)
        self.together = together
        self.wishes: list[Any] = []
        self.futures: list[asyncio.Future[Any]] = []

    def join(self, wish: object, future: asyncio.Future[Any]) -> None:
        """One more wants this."""
        self.wishes.append(wish)
        self.futures.append(future)

    @property
    def size(self) -> int:
        """How many wait for it."""
        return len(self.wishes)

    def parts(self) -> Sequence[Call[Context]]:
        """The calls of which it consists."""
        return [
            Call(_alone(self.together, wish), future)
            for wish, future in zip(self.wishes, self.futures, strict=True)
        ]

    def resolve(self) -> None:
        """Tell all who wait, on their loop."""
        if self.failed:
            for future in self.futures:
                if not future.done():
                    future.set_exception(self.answer)
            return
        for future, answer in zip(self.futures, self.answer, strict=True):
            if not future.done():
                future.set_result(answer)

    def _run_together(self, context: Context) -> object:
        return self.together(context, self.wishes)


def _alone(
    together: Callable[[Context, Sequence[Any]], Draft[Sequence[Any]]], wish: object
) -> Callable[[Context], Any]:
    def step(context: Context) -> object:
        (answer,) = together(context, [wish]).worded()
        return answer

    return step


def in_parts(calls: Iterable[Call[Context]]) -> list[Call[Context]]:
    """The calls one by one, as they were made."""
    return [part for call in calls for part in call.parts()]


def word_and_answer(calls: Sequence[Call[Any]]) -> None:
    """What was asked for is done: say so."""
    for call in calls:
        call.word()
    answer_all(calls)


def answer_all(calls: Sequence[Call[Any]]) -> None:
    """Bring the answers back: one wake-up for each loop, however many of its calls there are."""
    loop = calls[0].loop
    if all(call.loop is loop for call in calls):
        _answer_on(loop, calls)
        return
    for each in {call.loop for call in calls}:
        _answer_on(each, [call for call in calls if call.loop is each])


def _answer_on(loop: asyncio.AbstractEventLoop, calls: Sequence[Call[Any]]) -> None:
    with suppress(RuntimeError):  # the loop was closed meanwhile: nobody waits there
        loop.call_soon_threadsafe(_resolve, calls)


def _resolve(calls: Sequence[Call[Any]]) -> None:
    for call in calls:
        call.resolve()
