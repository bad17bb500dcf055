"""Ticks on the wire: rows of the ledger, and what a backfill did."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from drumbeat.model.schedules.plan import (
    AlreadyFired,
    Backfilled,
    Fire,
    Outcome,
    SkipReason,
    TickRecord,
)


class TickView(Struct, frozen=True, kw_only=True):
    """A row of the ledger: one tick that fired, or a run of ticks that were skipped together."""

    schedule: str
    tick_at: datetime
    through: datetime
    """The last tick of the run; the same as `tick_at` if it is alone."""
    count: int
    outcome: Outcome
    reason: SkipReason | None
    job_id: int | None
    leader: str | None
    epoch: int | None
    lateness_seconds: float
    recorded_at: datetime
    backfilled: bool


class BackfilledView(Struct, frozen=True, kw_only=True):
    """What a backfill did, or would do, with one tick."""

    tick_at: datetime
    outcome: str
    """`fired`, `had fired before` or `would fire`."""
    job_id: int | None = None


def tick_view(tick: TickRecord) -> TickView:
    return TickView(
        schedule=tick.schedule,
        tick_at=tick.tick_at,
        through=tick.through,
        count=tick.count,
        outcome=tick.outcome,
        reason=tick.reason,
        job_id=tick.job_id,
        leader=tick.leader,
        epoch=tick.epoch,
        lateness_seconds=tick.lateness.total_seconds(),
        recorded_at=tick.recorded_at,
        backfilled=tick.backfilled,
    )


def backfilled_view(verdict: Backfilled | AlreadyFired | Fire) -> BackfilledView:
    match verdict:
        case Backfilled():
            return BackfilledView(tick_at=verdict.tick_at, outcome="fired", job_id=verdict.job_id)
        case AlreadyFired():
            return BackfilledView(tick_at=verdict.tick_at, outcome="had fired before")
        case Fire():
            return BackfilledView(tick_at=verdict.tick_at, outcome="would fire")
