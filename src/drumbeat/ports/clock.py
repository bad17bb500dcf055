"""The clock: the only way to time, to sleeping and to time-outs."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Protocol


class Alarm(Protocol):
    """A call that was put off, and can be taken back."""

    def cancel(self) -> None:
        """Take the call back. Harmless once it was made."""
        ...


class Clock(Protocol):
    """Time as a node sees it. Tests and the simulator bring their own."""

    def now(self) -> datetime:
        """The wall clock, aware, in UTC. It may be wrong and it may jump: for showing and hints."""
        ...

    def elapsed(self) -> float:
        """Seconds since some fixed point, never jumping, counting suspended time too.

        This is the clock for trust: lease deadlines, time-outs, durations.
        """
        ...

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Alarm:
        """Call back on the running event loop after so many seconds."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return after so many seconds; zero lets other tasks run first."""
        ...
