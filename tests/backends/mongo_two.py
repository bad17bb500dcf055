"""Two MongoDB stores: at each write of a call on one, a whole call on the other comes between.

The stores wait for nobody, so what one has not decided the other aborts.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TypeVar

from drumbeat.backends.mongo.store import MongoStore
from drumbeat.engine.plumbing.runtime import SystemClock

from .mongo_steps import Steps
from .mongo_wholeness import check_whole, empty

NAMESPACE = "interleavings"
MOST_WRITES = 60
First = TypeVar("First")
Second = TypeVar("Second")


@asynccontextmanager
async def opened(address: str) -> AsyncGenerator[MongoStore]:
    store = MongoStore(address, SystemClock(), NAMESPACE, patience=0)
    await store.open()
    try:
        yield store
    finally:
        await store.close()


@dataclass
class Two:
    """Two stores, each with its own connections."""

    address: str
    one: MongoStore
    other: MongoStore

    def __post_init__(self) -> None:
        self.steps = Steps(self.one)

    async def at_each_write(
        self,
        prepare: Callable[[], Awaitable[object]],
        first: Callable[[], Awaitable[First]],
        second: Callable[[], Awaitable[Second]],
    ) -> AsyncGenerator[tuple[First, Second]]:
        """The answers of both, for each write of the first that the second came before."""
        for number in range(1, MOST_WRITES):
            empty(self.address, NAMESPACE)
            await prepare()
            answers: list[Second] = []

            async def between(answers: list[Second] = answers) -> None:
                answers.append(await second())

            self.steps.meanwhile(number, between)
            answer = await first()
            if not answers:
                return
            yield answer, answers[0]
            check_whole(self.address, NAMESPACE)
        raise AssertionError("it writes without end")


@asynccontextmanager
async def two_on(address: str) -> AsyncGenerator[Two]:
    async with opened(address) as one, opened(address) as other:
        yield Two(address, one, other)
