"""The view of a preview."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from drumbeat.model.triggers.trigger import Trigger
from drumbeat.rules.schedules.preview import preview
from drumbeat.wire.preview import ClockChangeView, ComingTickView, PreviewView


def preview_view(
    trigger: Trigger, ticks: Sequence[datetime], now: datetime, name: str | None = None
) -> PreviewView:
    """The next ticks with their local times, and the effects of clock changes on them."""
    seen = preview(trigger, ticks, now)
    return PreviewView(
        name=name,
        means=trigger.describe(),
        tz=seen.tz,
        next=tuple(ticks),
        ticks=tuple(
            ComingTickView(
                at=tick.at,
                local=tick.local.isoformat(),
                offset=_offset(tick.local),
                note=tick.note,
            )
            for tick in seen.ticks
        ),
        clock_changes=tuple(
            ClockChangeView(at=change.at, change=change.title, effect=change.effect)
            for change in seen.changes
        ),
    )


def _offset(local: datetime) -> str:
    text = local.strftime("%z")
    return f"{text[:3]}:{text[3:5]}"
