"""Wake-ups that are never lost and never pile up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeAlias

from drumbeat.ports.clock import Alarm, Clock

SetAlarm: TypeAlias = Callable[[float, Callable[[], None]], Alarm]


class WakeUp:
    """Set by many, awaited by one. If nobody waits, the next wait returns at once."""

    __slots__ = ("_clock", "_set", "_waiter")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._set = False
        self._waiter: asyncio.Future[None] | None = None

    def set(self) -> None:
        """Wake the waiter, or the next one to wait. Call it on the waiter's loop."""
        self._set = True
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def wait(self, seconds: float | None = None) -> bool:
        """Wait until set, at most this long, and clear it. True: it was set."""
        return await self._until_set(seconds, self._clock.call_later)

    async def wait_punctually(self, seconds: float) -> bool:
        """The same, for a wait that has to end right on time."""
        return await self._until_set(seconds, self._clock.call_punctually)

    async def _until_set(self, seconds: float | None, set_alarm: SetAlarm) -> bool:
        if not self._set:
            await self._wait(seconds, set_alarm)
        came, self._set = self._set, False
        return came

    async def _wait(self, seconds: float | None, set_alarm: SetAlarm) -> None:
        self._waiter = waiter = asyncio.get_running_loop().create_future()

        def ring() -> None:
            if not waiter.done():
                waiter.set_result(None)

        alarm = None if seconds is None else set_alarm(seconds, ring)
        try:
            await waiter
        finally:
            self._waiter = None
            if alarm is not None:
                alarm.cancel()
