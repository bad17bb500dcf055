"""Previews on the wire: the ticks to come, and what changes of the clock do to them."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct


class ComingTickView(Struct, frozen=True, kw_only=True):
    """A tick to come."""

    at: datetime
    local: str
    """The time on the wall clock of its zone, such as `2026-07-01T02:30:00+02:00`."""
    offset: str
    """How far that clock is ahead of UTC, such as `+02:00`."""
    note: str = ""
    """What a change of the clock does to it, if one does."""


class ClockChangeView(Struct, frozen=True, kw_only=True):
    """A change of the clock that moves, drops or doubles a run."""

    at: datetime
    change: str
    effect: str


class PreviewView(Struct, frozen=True, kw_only=True):
    """The ticks to come, as things stand."""

    name: str | None = None
    """The schedule; null for a rule without one."""
    means: str
    """The rule in words."""
    tz: str
    next: tuple[datetime, ...]
    ticks: tuple[ComingTickView, ...]
    """The same, with their local time and notes."""
    clock_changes: tuple[ClockChangeView, ...] = ()
    """Those from now until the last of these ticks."""
