"""A client that submits jobs during the whole run and records which were acknowledged."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Protocol, TypeVar

from chaos.history import Submissions
from chaos.journal import Journal
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.model.errors import Unavailable

BATCH = 5
EVERY = 0.2
RETRY_EVERY = 0.1

T = TypeVar("T")

clock = SystemClock()


class Submitted(Protocol):
    """A job that was submitted."""

    @property
    def id(self) -> int: ...


class Work(Protocol):
    """The task for numbered jobs, here or behind HTTP."""

    async def submit_many(self, calls: list[tuple[int]]) -> Sequence[Submitted]:
        """Submit these calls, all or none."""
        ...


class Client:
    """Submits batches of numbered jobs, each number once."""

    def __init__(
        self, work: Work, journal: Journal, batch: int = BATCH, every: float = EVERY
    ) -> None:
        self._work = work
        self._journal = journal
        self._batch = batch
        self._every = every
        self._number = 0
        self._acknowledged: dict[int, int] = {}
        self._unsure: list[frozenset[int]] = []
        self.errors: list[Unavailable] = []
        """The error of each batch whose answer was lost."""

    @property
    def submissions(self) -> Submissions:
        """The outcome of the submissions so far."""
        return Submissions(dict(self._acknowledged), tuple(self._unsure))

    @asynccontextmanager
    async def submitting(self) -> AsyncGenerator[None]:
        """Submit batches while the body runs, whatever errors occur."""
        over = asyncio.Event()
        task = asyncio.create_task(self._submit_until(over))
        try:
            yield
        finally:
            over.set()
            await task

    async def _submit_until(self, over: asyncio.Event) -> None:
        while not over.is_set():
            await self.submit()
            await clock.sleep(self._every)

    async def submit(self) -> None:
        """Submit one batch and record the outcome."""
        numbers = range(self._number, self._number + self._batch)
        self._number += self._batch
        try:
            jobs = await self._work.submit_many([(number,) for number in numbers])
        except Unavailable as error:
            self._unsure.append(frozenset(numbers))
            self.errors.append(error)
            self._journal.write("unsure", numbers=list(numbers), error=str(error))
            return
        ids = {number: int(job.id) for number, job in zip(numbers, jobs, strict=True)}
        self._acknowledged |= ids
        self._journal.write("acknowledged", jobs=ids)


async def once_available(ask: Callable[[], Awaitable[T]], within: float) -> T:
    """Ask a store that may be away for a while, until it answers."""
    async with asyncio.timeout(within):
        while True:
            try:
                return await ask()
            except Unavailable:
                await clock.sleep(RETRY_EVERY)
