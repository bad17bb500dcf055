"""Overdue ticks: due for so long that no failover explains it."""

from __future__ import annotations

from datetime import datetime, timedelta

PATIENCE = timedelta(seconds=15)
"""How late a tick may be before it counts as overdue: a failover takes this long."""


def overdue(next_tick: datetime | None, now: datetime, *, paused: bool) -> timedelta | None:
    """How late the next tick of a schedule is; None if it is not overdue."""
    if next_tick is None or paused or now - next_tick <= PATIENCE:
        return None
    return now - next_tick
