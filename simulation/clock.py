"""The clocks of simulated machines. They drift and can be wrong."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from drumbeat.ports.clock import Alarm
from simulation.loop import VirtualLoop


class ProcessClock:
    """The clocks of one machine: elapsed time has its own rate, and the wall clock may also jump.

    The true time is the loop's; no simulated code can read it.
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
        """Seconds that this clock counts for each true second."""
        return self._rate

    def change_rate(self, rate: float) -> None:
        """Run faster or slower from now on, without a jump."""
        self._counted, self._since, self._rate = self.elapsed(), self._loop.time(), rate

    def set_right(self) -> None:
        """Show the true time, at the true rate from now on."""
        self.change_rate(1.0)
        self.ahead = self._loop.time() - self.elapsed()

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self.elapsed() + self.ahead)

    def elapsed(self) -> float:
        return self._counted + (self._loop.time() - self._since) * self._rate

    def true(self, elapsed: float) -> float:
        """The true time at which this clock reaches the given elapsed seconds."""
        return self._since + (elapsed - self._counted) / self._rate

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Alarm:
        """Call back after this many seconds of this clock, and never earlier."""
        if seconds <= 0:
            return self._loop.call_later(0, callback)
        return self._loop.call_later(seconds / self._rate + 1e-6, callback)

    def call_punctually(self, seconds: float, callback: Callable[[], None]) -> Alarm:
        return self.call_later(seconds, callback)

    async def sleep(self, seconds: float) -> None:
        woken = self._loop.create_future()
        alarm = self.call_later(seconds, lambda: None if woken.done() else woken.set_result(None))
        try:
            await woken
        finally:
            alarm.cancel()
