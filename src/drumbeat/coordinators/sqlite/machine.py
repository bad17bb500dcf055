"""The machine: its time since it was started, and which start that was."""

from __future__ import annotations

from datetime import timedelta

from drumbeat.ports.clock import Clock
from drumbeat.sqlite.instants import SECOND


class Machine:
    """Time that never jumps, for terms and lifetimes."""

    def __init__(self, clock: Clock, boot: str) -> None:
        self._clock = clock
        self.boot = boot

    def now(self) -> int:
        """Microseconds since the start of the machine."""
        return round(self._clock.elapsed() * SECOND)

    def left(self, ends_at: int | None) -> timedelta | None:
        """How long until then; None: that never comes."""
        return None if ends_at is None else timedelta(microseconds=ends_at - self.now())

    def bounds(self) -> dict[str, int | str]:
        """What statements judge by."""
        return {"now": self.now(), "boot": self.boot}
