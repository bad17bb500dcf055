"""Hints: who is told of what was written, and how often.

A write can notify by itself, within its transaction. That is the quickest hint, and costs no round
trip; but commits that notify wait for each other, and everyone who listens is woken. So of the
writes that follow each other closely only some do: one every moment, and each of them also tells of
what was committed before it began. What is left untold at the end is told by a statement of its own
that nobody waits for.

A hint that is lost with this process costs time only: whoever waits for it looks by itself once in
a while.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Final, NewType

from drumbeat.backends.postgres.connection.pool import CLOSING, Pool
from drumbeat.ports.clock import Alarm, Clock

log = logging.getLogger("drumbeat.backends.postgres.connection")

Mark = NewType("Mark", int)
"""How many writes there were to tell of when one began that notifies."""

PACE: Final = 0.002
"""Seconds from one write that notifies to the next."""
LATEST: Final = 0.003
"""Seconds after such a write at which what is still untold is told."""
ANSWER: Final = 0.03
"""Seconds that such a write gets to succeed, if it tells of all there is to tell."""
_NOTIFY = "SELECT pg_notify($1, '')"


class Hints:
    """What the writes of one event loop tell the listeners of one channel."""

    def __init__(self, channel: str, pool: Pool, clock: Clock) -> None:
        self._channel = channel
        self._pool = pool
        self._clock = clock
        self._written = 0
        self._told = 0
        """How many of those written are told of."""
        self._last = -LATEST
        """When the last notification began,"""
        self._promised = 0
        """and how many it tells of."""
        self._alarm: Alarm | None = None
        self._telling: asyncio.Task[None] | None = None

    def begin(self) -> Mark | None:
        """Ask before a write. None: it need not notify; a mark: it does, and brings this back."""
        now = self._clock.elapsed()
        if now - self._last < PACE:
            return None
        self._last = now
        self._promised = self._written
        return Mark(self._promised)

    def end(self, mark: Mark | None) -> None:
        """Call after a write that succeeded."""
        if mark is not None:
            self._told = max(self._told, mark)
            return
        self._written += 1
        if self._alarm is None:
            self._alarm = self._clock.call_later(LATEST, self._ring)

    async def close(self) -> None:
        """Tell what is untold, if the server listens."""
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        if self._told < self._written:
            self._tell()
        if self._telling is not None:
            await asyncio.wait([self._telling], timeout=CLOSING)
            self._telling.cancel()

    def _ring(self) -> None:
        self._alarm = None
        if self._told == self._written:
            return
        wait = LATEST if self._promised < self._written else ANSWER
        early = self._last + wait - self._clock.elapsed()
        if early > 0:  # a write is under way that tells of these, or the next one may
            self._alarm = self._clock.call_later(min(early, LATEST), self._ring)
        else:
            self._tell()

    def _tell(self) -> None:
        self._last = self._clock.elapsed()
        self._told = self._written
        self._telling = asyncio.get_running_loop().create_task(
            self._notify(), name="drumbeat-postgres-hint"
        )

    async def _notify(self) -> None:
        try:
            async with self._pool.lend() as connection:
                await connection.fetch(_NOTIFY, self._channel)
        except Exception as error:  # noqa: BLE001 - a hint may be lost, whatever the reason
            log.debug("a hint was lost: %s", error)
