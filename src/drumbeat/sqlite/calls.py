"""Calls: what an event loop asks of a thread, and how the answers get back to it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Generic, TypeVar

Step = TypeVar("Step")


class Call(Generic[Step]):
    """One step to be done elsewhere, and the future that waits for its answer here."""

    __slots__ = ("answer", "failed", "future", "loop", "step")

    def __init__(self, step: Step) -> None:
        self.step = step
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[Any] = self.loop.create_future()
        self.answer: object = None
        self.failed = False

    def succeed(self, answer: object) -> None:
        """Keep what the step returned."""
        self.answer, self.failed = answer, False

    def fail(self, error: BaseException) -> None:
        """Keep why it was not done."""
        self.answer, self.failed = error, True


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
        future = call.future
        if future.done():  # whoever waited was cancelled; the step was done all the same
            continue
        if call.failed:
            assert isinstance(call.answer, BaseException)
            future.set_exception(call.answer)
        else:
            future.set_result(call.answer)
