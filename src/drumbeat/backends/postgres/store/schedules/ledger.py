"""Rows of the ledger: how every tick ended."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from drumbeat.model.ids import JobId, NodeId
from drumbeat.model.page import Page, PageRequest
from drumbeat.model.schedules.plan import Outcome, SkipReason, TickRecord
from drumbeat.model.time.instant import aware
from drumbeat.rules.page_position import no_place, place, place_after

AFTER_ALL = datetime.max.replace(tzinfo=UTC)


class TickRow(NamedTuple):
    """A row of the ledger, as the statements return it."""

    schedule: str
    tick_at: datetime
    number: int
    recorded_at: datetime
    through: datetime
    ticks: int
    reason: str | None
    job: JobId | None
    leader: NodeId | None
    epoch: int | None
    backfilled: bool


def tick_of(row: TickRow) -> TickRecord:
    return TickRecord(
        row.schedule,
        row.tick_at,
        Outcome.FIRED if row.reason is None else Outcome.SKIPPED,
        row.recorded_at,
        row.recorded_at - row.tick_at,
        row.through,
        row.ticks,
        None if row.reason is None else SkipReason(row.reason),
        row.job,
        row.leader,
        row.epoch,
        row.backfilled,
    )


def place_before(page: PageRequest) -> tuple[datetime, int]:
    """The tick and the number of the row at which the page before ended."""
    after = place_after(page, "tick")
    if after is None:
        return AFTER_ALL, 0
    number, _, tick_at = after.partition("@")
    try:
        return aware("after", datetime.fromisoformat(tick_at)), int(number)
    except ValueError:
        raise no_place(page) from None


def page_of(rows: Sequence[TickRow], size: int) -> Page[TickRecord]:
    """A page of the rows, which are one more than its size if another page follows."""
    items = tuple(tick_of(row) for row in rows[:size])
    if len(rows) <= size:
        return Page(items)
    last = rows[size - 1]
    return Page(items, place("tick", f"{last.number}@{last.tick_at.isoformat()}"))
