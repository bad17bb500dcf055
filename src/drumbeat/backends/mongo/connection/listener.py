"""Listener: hints about changed documents of one collection, for all waiters of an event loop."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import pymongo

from drumbeat.backends.mongo.connection.cancellation import cancellable, end
from drumbeat.backends.mongo.connection.client import Collection
from drumbeat.backends.mongo.connection.failures import FAILURES
from drumbeat.ports.clock import Clock

POLL = 0.5
"""Seconds after which everybody looks again, where the server cannot report changes."""
ANSWER_AFTER = 2000
"""Milliseconds after which the server answers although nothing has changed."""
SILENCE = 10.0
"""Seconds without an answer after which a change stream is replaced."""
BREATH = 0.02
"""Seconds between two questions, for servers that answer at once although nothing has changed."""
FIRST_PAUSE = 0.1
LONGEST_PAUSE = 2.0
"""Seconds before a lost change stream is replaced: soon at first, then less often."""


class Listener:
    """One task, from the first subscription until it is closed.

    Where the server has change streams, a waiter is woken by each change of the document whose
    `_id` is its subject, and everybody when the stream was replaced, since changes may have been
    missed. Elsewhere everybody is woken from time to time.
    """

    def __init__(self, collection: Collection, clock: Clock) -> None:
        self._collection = collection
        self._clock = clock
        self._task: asyncio.Task[None] | None = None
        self._wakers: defaultdict[str, list[Callable[[], None]]] = defaultdict(list)
        self._pause = FIRST_PAUSE

    def subscribe(
        self, subject: str, wake: Callable[[], None], *, streams: bool
    ) -> Callable[[], None]:
        """Call back at each change of the subject, until the returned function is called."""
        if self._task is None:
            listen = self._listen() if streams else self._poll()
            self._task = asyncio.create_task(listen, name="drumbeat-mongo-listener")
        self._wakers[subject].append(wake)

        def stop() -> None:
            self._wakers[subject].remove(wake)
            if not self._wakers[subject]:
                del self._wakers[subject]

        return stop

    async def close(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            await end(task)

    async def _poll(self) -> None:
        while True:
            await self._clock.sleep(POLL)
            self._wake_all()

    async def _listen(self) -> None:
        while True:
            with suppress(*FAILURES):  # waiters look again anyway, so nothing is lost
                await self._receive()
            await self._clock.sleep(self._pause)
            self._pause = min(2 * self._pause, LONGEST_PAUSE)
            self._wake_all()

    async def _receive(self) -> None:
        """Return when the stream ends or falls silent."""
        with pymongo.timeout(None):  # each answer has its own time-out
            with cancellable():
                async with asyncio.timeout(SILENCE):
                    stream = await self._collection.watch(max_await_time_ms=ANSWER_AFTER)
            async with stream:
                self._pause = FIRST_PAUSE
                self._wake_all()
                while stream.alive:
                    with cancellable():
                        async with asyncio.timeout(SILENCE):
                            change = await stream.try_next()
                    if change is None:
                        await self._clock.sleep(BREATH)
                    else:
                        self._wake_for(change)

    def _wake_for(self, change: Mapping[str, Any]) -> None:
        match change:
            case {"documentKey": {"_id": str() as subject}}:
                self._wake(subject)
            case _:  # the whole collection changed, or the server does not name the document
                self._wake_all()

    def _wake(self, subject: str) -> None:
        for wake in tuple(self._wakers.get(subject, ())):
            wake()

    def _wake_all(self) -> None:
        for subject in tuple(self._wakers):
            self._wake(subject)
