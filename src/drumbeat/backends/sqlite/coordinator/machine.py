"""The machine's clock since its boot, and the id of that boot.

`CLOCK_BOOTTIME` starts again at every boot, so an instant of it means something only together with
the boot that it belongs to.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from drumbeat.backends.sqlite.connection.times import SECOND
from drumbeat.ports.clock import Clock

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
UNKNOWN = "unknown"


def boot_id() -> str:
    """The kernel's random id of this boot; a fixed word where there is none."""
    try:
        return BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return UNKNOWN


class Machine:
    """A clock that never jumps, for terms and lifetimes."""

    def __init__(self, clock: Clock, boot: str) -> None:
        self._clock = clock
        self.boot = boot

    def now(self) -> int:
        """Microseconds since the boot."""
        return round(self._clock.elapsed() * SECOND)

    def left(self, ends_at: int | None) -> timedelta | None:
        """How long until an instant; None: it never comes."""
        return None if ends_at is None else timedelta(microseconds=ends_at - self.now())

    def bounds(self) -> dict[str, int | str]:
        """The parameters by which statements decide whether a row is live."""
        return {"now": self.now(), "boot": self.boot}
