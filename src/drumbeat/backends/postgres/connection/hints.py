"""Hints: which writes notify the listeners of a channel, and when.

A write can notify by itself, within its transaction. This is the fastest hint and costs no round
trip, but commits that notify wait for each other, and each wakes all listeners. So of writes in
quick succession only one every few milliseconds notifies. It also covers those that were committed
before it began. If no later write covers the last ones, a separate statement notifies, for which no
caller waits.

If the process dies, its hint is lost. This costs only time: waiters also look without a hint.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Final, NewType

from drumbeat.backends.postgres.connection.pool import CLOSING, Pool
from drumbeat.ports.clock import Alarm, Clock

log = logging.getLogger("drumbeat.backends.postgres.connection")

Mark = NewType("Mark", int)
"""How many silent writes there were when a write that notifies began: it covers them."""

PACE: Final = 0.002
"""Seconds from one write that notifies to the next."""
LATEST: Final = 0.003
"""Seconds after such a write at which a statement covers the writes that came since."""
ANSWER: Final = 0.03
"""Seconds that such a write has to succeed, if it covers all silent ones."""
_NOTIFY = "SELECT pg_notify($1, '')"


class Hints:
    """The notifications of one event loop on one channel."""

    def __init__(self, channel: str, pool: Pool, clock: Clock) -> None:
        self._channel = channel
        self._pool = pool
        self._clock = clock
        self._silent = 0
        """How many writes did not notify."""
        self._covered = 0
        """How many of these a later notification has covered."""
        self._began_at = -LATEST
        """When the last notification began."""
        self._covers = 0
        """How many silent writes it covers if it succeeds."""
        self._alarm: Alarm | None = None
        self._notifying: asyncio.Task[None] | None = None

    def begin(self) -> Mark | None:
        """Call before a write; it should notify unless this returns None."""
        now = self._clock.elapsed()
        if now - self._began_at < PACE:
            return None
        self._began_at = now
        self._covers = self._silent
        return Mark(self._covers)

    def end(self, mark: Mark | None) -> None:
        """Call after a write that succeeded, with the result of `begin`."""
        if mark is not None:
            self._covered = max(self._covered, mark)
            return
        self._silent += 1
        if self._alarm is None:
            self._alarm = self._clock.call_later(LATEST, self._check)

    async def close(self) -> None:
        """Notify of the writes that are not covered, if the server answers."""
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        if self._covered < self._silent:
            self._start_notifying()
        if self._notifying is not None:
            await asyncio.wait([self._notifying], timeout=CLOSING)
            self._notifying.cancel()

    def _check(self) -> None:
        self._alarm = None
        if self._covered == self._silent:
            return
        wait = LATEST if self._covers < self._silent else ANSWER
        early = self._began_at + wait - self._clock.elapsed()
        if early > 0:  # a write that is under way covers these, or the next one may
            self._alarm = self._clock.call_later(min(early, LATEST), self._check)
        else:
            self._start_notifying()

    def _start_notifying(self) -> None:
        self._began_at = self._clock.elapsed()
        self._covered = self._silent
        self._notifying = asyncio.get_running_loop().create_task(
            self._notify(), name="drumbeat-postgres-hint"
        )

    async def _notify(self) -> None:
        try:
            async with self._pool.lend() as connection:
                await connection.fetch(_NOTIFY, self._channel)
        except Exception as error:  # noqa: BLE001 - a hint may be lost, whatever the reason
            log.debug("a hint was lost: %s", error)
