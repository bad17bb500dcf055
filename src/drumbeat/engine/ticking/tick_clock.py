"""The tick clock: the earlier of two clocks, this node's and the store's.

The store tells its time with each read; in between it is estimated by the time that has elapsed.
Its clock was read at some time between the request and the answer; half way is assumed, and of the
last reads the quickest counts. The estimate decides only when to act: the commit compares with the
store's own clock.
"""

from __future__ import annotations

from collections import deque
from datetime import datetime, timedelta

from drumbeat.ports.clock import Clock

READS = 4
"""How many reads the estimate is made of."""


class TickClock:
    """Tells which ticks are due, without asking the store."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._reads: deque[tuple[float, datetime]] = deque(maxlen=READS)
        """How long each took, and what the store's clock showed at the zero of elapsed time."""

    def learn(self, as_of: datetime, asked_at: float) -> None:
        """The store's time in an answer that has just come, to a request at an elapsed time."""
        took = self._clock.elapsed() - asked_at
        zero = as_of - timedelta(seconds=asked_at + took / 2)
        self._reads.append((took, zero))

    def skew(self, as_of: datetime, asked_at: float) -> timedelta:
        """By how much our clock is ahead at least, or behind if negative; to be asked like `learn`.

        The answer may be as old as the read took: a process that was paused reads it late.
        """
        ahead = self._clock.now() - as_of
        took = timedelta(seconds=self._clock.elapsed() - asked_at)
        return ahead if ahead < timedelta(0) else max(ahead - took, timedelta(0))

    def forget(self) -> None:
        """Trust no estimate: the store's clock was behind it."""
        self._reads.clear()

    def now(self) -> datetime:
        local = self._clock.now()
        if not self._reads:
            return local
        _, zero = min(self._reads)
        return min(local, zero + timedelta(seconds=self._clock.elapsed()))

    def until(self, instant: datetime) -> float:
        """Seconds until an instant; 0 if it has come."""
        return max(0.0, (instant - self.now()).total_seconds())
