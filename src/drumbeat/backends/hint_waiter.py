"""Waiting for changes: wake up at a hint, or when a deadline passes, and look again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from typing import Generic, TypeVar

from drumbeat.model.fleet.lease import Entry
from drumbeat.ports.clock import Clock

Found = TypeVar("Found")
State = TypeVar("State")
Subject = TypeVar("Subject")

NO_TIME = timedelta(0)


class HintWaiter(Generic[Subject]):
    """Waits for hints about a subject, from any process.

    `longest` bounds the sleep without a hint, for backends whose hints may get lost. `margin` is
    added to a deadline that another clock decides, so that it has passed there too.
    """

    def __init__(
        self,
        subscribe: Callable[[Subject, Callable[[], None]], Callable[[], None]],
        clock: Clock,
        longest: timedelta | None = None,
        margin: timedelta = NO_TIME,
    ) -> None:
        self._subscribe = subscribe
        self._clock = clock
        self._longest = longest
        self._margin = margin

    async def wait_for(
        self,
        subject: Subject,
        look: Callable[[], Awaitable[Found | None]],
        again_in: Callable[[], timedelta | None],
    ) -> Found:
        """Call `look` at every hint and after `again_in`, until it finds something.

        It subscribes before it looks, so a change between its look and its sleep wakes it.
        """
        hinted = asyncio.Event()
        unsubscribe = self._subscribe(subject, hinted.set)
        try:
            while (found := await look()) is None:
                await self._sleep(hinted, again_in())
                hinted.clear()
            return found
        finally:
            unsubscribe()

    async def _sleep(self, hinted: asyncio.Event, wait: timedelta | None) -> None:
        if self._longest is not None:
            wait = self._longest if wait is None else min(wait, self._longest)
        if wait is None:
            await hinted.wait()
        elif wait > NO_TIME:
            alarm = self._clock.call_later((wait + self._margin).total_seconds(), hinted.set)
            try:
                await hinted.wait()
            finally:
                alarm.cancel()


class ChangeHints(Generic[Subject, State]):
    """Yields each time that `look` returns another state than the last one seen.

    `look` returns the state, or None while there is nothing to report, and how long until it may
    change without a hint. The iterator subscribes only while it is awaited, so one that is no
    longer used leaves nothing behind.
    """

    def __init__(
        self,
        waiter: HintWaiter[Subject],
        subject: Subject,
        look: Callable[[], Awaitable[tuple[State | None, timedelta | None]]],
        seen: State | None = None,
    ) -> None:
        self._waiter = waiter
        self._subject = subject
        self._look = look
        self._seen = seen
        self._remaining: timedelta | None = None

    def __aiter__(self) -> AsyncIterator[None]:
        return self

    async def __anext__(self) -> None:
        self._seen = await self._waiter.wait_for(
            self._subject, self._unseen, lambda: self._remaining
        )

    async def _unseen(self) -> State | None:
        state, self._remaining = await self._look()
        return None if state == self._seen else state


class ConfigurationWatch(Generic[Subject]):
    """Yields the entry of a key now, and again after each change."""

    def __init__(
        self,
        waiter: HintWaiter[Subject],
        subject: Subject,
        get: Callable[[], Awaitable[Entry | None]],
    ) -> None:
        self._waiter = waiter
        self._subject = subject
        self._get = get
        self._seen: tuple[Entry | None] | None = None
        """In a tuple: a key without a value differs from one that was never read."""

    def __aiter__(self) -> AsyncIterator[Entry | None]:
        return self

    async def __anext__(self) -> Entry | None:
        self._seen = await self._waiter.wait_for(self._subject, self._unseen, lambda: None)
        return self._seen[0]

    async def _unseen(self) -> tuple[Entry | None] | None:
        entry = (await self._get(),)
        return None if entry == self._seen else entry
