"""Clocks: the time that each process of a simulated world sees. They drift and can be wrong."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from drumbeat.ports.clock import Alarm
from simulation.loop import VirtualLoop


class ProcessClock:
    """The clocks of one machine: elapsed time runs at its own rate, the wall clock may also jump.

    The true time is the loop's, which nobody in the world can read.
    """

    def __init__(self, loop: VirtualLoop, start: datetime, rate: float = 1.0) -> None:
        self._loop = loop
        self._start = start
        self._rate = rate
        self._since = loop.time()
        self._counted = self._since
        self.ahead = 0.0
        """Seconds by which the wall clock is wrong."""

    @property
    def rate(self) -> float:
        """Seconds that it counts in a true second."""
        return self._rate

    def change_rate(self, rate: float) -> None:
        """Run faster or slower from now on; what was counted stays."""
        self._counted, self._since, self._rate = self.elapsed(), self._loop.time(), rate

    def set_right(self) -> None:
        """Count true seconds from now on, and show the true time."""
        self.change_rate(1.0)
        self.ahead = self._loop.time() - self.elapsed()

    def now(self) -> datetime:
        """The wall clock."""
        return self._start + timedelta(seconds=self.elapsed() + self.ahead)

    def elapsed(self) -> float:
        """Seconds by this machine's count."""
        return self._counted + (self._loop.time() - self._since) * self._rate

    def true(self, elapsed: float) -> float:
        """When, in true time, this clock counts so many seconds."""
        return self._since + (elapsed - self._counted) / self._rate

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Alarm:
        """Call back after so many of its own seconds, and never before."""
        if seconds <= 0:
            return self._loop.call_later(0, callback)
        return self._loop.call_later(seconds / self._rate + 1e-6, callback)

    async def sleep(self, seconds: float) -> None:
        """Return after so many of its own seconds."""
        woken = self._loop.create_future()
        alarm = self.call_later(seconds, lambda: None if woken.done() else woken.set_result(None))
        try:
            await woken
        finally:
            alarm.cancel()
