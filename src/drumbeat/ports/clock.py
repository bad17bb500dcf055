"""The clock: the only source of time, sleep and time-outs."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Protocol


class Alarm(Protocol):
    """A scheduled call that can be cancelled."""

    def cancel(self) -> None:
        """Cancel the call. Harmless if it was made already."""
        ...


class Clock(Protocol):
    """Time as a node sees it. Tests and the simulator bring their own."""

    def now(self) -> datetime:
        """The wall clock in UTC. It may be wrong and may jump: use it for display and hints."""
        ...

    def elapsed(self) -> float:
        """Seconds since a fixed point, for durations. Never jumps; counts suspended time."""
        ...

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Alarm:
        """Call back on the running event loop after so many seconds."""
        ...

    def call_punctually(self, seconds: float, callback: Callable[[], None]) -> Alarm:
        """The same, but later by microseconds only. It costs up to a millisecond of processor."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return after so many seconds; zero lets other tasks run first."""
        ...
