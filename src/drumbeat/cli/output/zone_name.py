"""The IANA name of the time zone that people are shown."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import UTC, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

from drumbeat.model.errors import DrumbeatError
from drumbeat.model.time.zones import zone as zone_named

LOCAL_TIME, TIMEZONE = Path("/etc/localtime"), Path("/etc/timezone")
ZONES = "/zoneinfo/"


def zone_name(zone: tzinfo | None) -> str:
    """The name of a zone (None: that of this machine); UTC if it has none."""
    if isinstance(zone, ZoneInfo):
        return zone.key or "UTC"
    if zone is UTC:
        return "UTC"
    named = _of_this_machine()
    try:
        zone_named(named or "UTC")
    except DrumbeatError:
        return "UTC"
    return named or "UTC"


def _of_this_machine() -> str:
    """As TZ, the link of the system's clock, or Debian's file names it; empty if nothing does."""
    named = os.environ.get("TZ", "").lstrip(":")
    if not named and LOCAL_TIME.is_symlink():
        named = str(LOCAL_TIME.resolve()).partition(ZONES)[2]
    if not named:
        with suppress(OSError, UnicodeDecodeError):
            named = TIMEZONE.read_text(encoding="utf-8").strip()
    return named
