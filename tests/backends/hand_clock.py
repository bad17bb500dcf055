"""A clock that is turned by hand."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from itertools import count

from drumbeat.testing.conformance.builders import let_others_run

START = datetime(2030, 1, 1, 12, 0, tzinfo=UTC)


class HandAlarm:
    def __init__(self, callback: Callable[[], None]) -> None:
        self.callback: Callable[[], None] | None = callback

    def cancel(self) -> None:
        self.callback = None


class HandClock:
    """Stands still until it is advanced; then its alarms go off, each at its instant."""

    def __init__(self) -> None:
        self._elapsed = 0.0
        self._alarms: list[tuple[float, int, HandAlarm]] = []
        self._serial = count()

    def now(self) -> datetime:
        return START + timedelta(seconds=self._elapsed)

    def elapsed(self) -> float:
        return self._elapsed

    def call_later(self, seconds: float, callback: Callable[[], None]) -> HandAlarm:
        alarm = HandAlarm(callback)
        heappush(self._alarms, (self._elapsed + seconds, next(self._serial), alarm))
        return alarm

    def call_punctually(self, seconds: float, callback: Callable[[], None]) -> HandAlarm:
        return self.call_later(seconds, callback)

    async def sleep(self, seconds: float) -> None:
        raise NotImplementedError("nothing in these tests sleeps")

    async def advance(self, by: timedelta) -> None:
        target = self._elapsed + by.total_seconds()
        while self._alarms and self._alarms[0][0] <= target:
            self._elapsed, _, alarm = heappop(self._alarms)
            if alarm.callback is not None:
                alarm.callback()
            for _ in range(5):
                await let_others_run()
        self._elapsed = target
