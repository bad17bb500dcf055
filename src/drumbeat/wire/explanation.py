"""Explanations on the wire: why a schedule did or did not run."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from drumbeat.wire.job import JobView
from drumbeat.wire.tick import TickView


class ExplainedTickView(TickView, frozen=True, kw_only=True):
    """A row of the ledger, and what it means."""

    explanation: str


class ExplanationView(Struct, frozen=True, kw_only=True):
    """What became of a schedule's last ticks, and what may keep it from running."""

    name: str
    explanation: tuple[str, ...]
    """Sentences."""
    paused: bool
    next: tuple[datetime, ...]
    previous_job: JobView | None
    ticks: tuple[ExplainedTickView, ...]
