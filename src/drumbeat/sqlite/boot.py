"""Boot: which start of the machine this is.

Time by `CLOCK_BOOTTIME` begins anew at every start, so an instant of it means something only
together with the start it belongs to.
"""

from __future__ import annotations

from pathlib import Path

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
UNKNOWN = "unknown"


def boot_id() -> str:
    """The kernel's random name for this start of the machine; the same word where it has none."""
    try:
        return BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return UNKNOWN
