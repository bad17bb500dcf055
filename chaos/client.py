"""The client: submits jobs during the whole run and records which were acknowledged."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from chaos.crew import clock
from chaos.history import Submissions
from chaos.journal import Journal
from drumbeat import Task
from drumbeat.model.errors import Unavailable

BATCH = 5
EVERY = 0.2


class Client:
    """Submits batches of numbered jobs, each number once."""

    def __init__(self, work: Task[[int], None], journal: Journal) -> None:
        self._work = work
        self._journal = journal
        self._number = 0
        self._acknowledged: dict[int, int] = {}
        self._unsure: list[frozenset[int]] = []

    @property
    def submissions(self) -> Submissions:
        """What became of them so far."""
        return Submissions(dict(self._acknowledged), tuple(self._unsure))

    @asynccontextmanager
    async def submitting(self) -> AsyncGenerator[None]:
        """Submit for as long as the body takes, and beyond any error."""
        over = asyncio.Event()
        task = asyncio.create_task(self._submit_until(over))
        try:
            yield
        finally:
            over.set()
            await task

    async def _submit_until(self, over: asyncio.Event) -> None:
        while not over.is_set():
            await self._submit()
            await clock.sleep(EVERY)

    async def _submit(self) -> None:
        numbers = range(self._number, self._number + BATCH)
        self._number += BATCH
        try:
            jobs = await self._work.submit_many([(number,) for number in numbers])
        except Unavailable as error:
            self._unsure.append(frozenset(numbers))
            self._journal.write("unsure", numbers=list(numbers), error=str(error))
            return
        ids = {number: int(job.id) for number, job in zip(numbers, jobs, strict=True)}
        self._acknowledged |= ids
        self._journal.write("acknowledged", jobs=ids)
