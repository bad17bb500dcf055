"""Ledger: what became of every tick."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from drumbeat.model.instant import aware
from drumbeat.model.page import Page, PageRequest
from drumbeat.model.plan import Outcome, Skip, SkipReason, TickRecord
from drumbeat.postgres.client import Record
from drumbeat.rules.paging import no_place, place, place_after

AFTER_ALL = datetime.max.replace(tzinfo=UTC)


def skip_arrays(skips: Iterable[tuple[int, Skip]]) -> list[list[Any]]:
    """Runs of ticks that did not fire, each with the number of its plan or edit."""
    owned = list(skips)
    return [
        [owner for owner, _ in owned],
        [skip.tick_at for _, skip in owned],
        [skip.through for _, skip in owned],
        [skip.count for _, skip in owned],
        [skip.reason.value for _, skip in owned],
    ]


def tick_of(row: Record) -> TickRecord:
    """A row of the ledger as it is handed out."""
    name, tick_at, _, recorded_at, through, count, reason, job_id, leader, epoch, backfilled = row
    return TickRecord(
        name,
        tick_at,
        Outcome.FIRED if reason is None else Outcome.SKIPPED,
        recorded_at,
        recorded_at - tick_at,
        through,
        count,
        None if reason is None else SkipReason(reason),
        job_id,
        leader,
        epoch,
        backfilled,
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


def page_of(rows: Sequence[Record], size: int) -> Page[TickRecord]:
    """A page of the rows, of which one too many was read if there are more."""
    items = tuple(tick_of(row) for row in rows[:size])
    if len(rows) <= size:
        return Page(items)
    last = rows[size - 1]
    return Page(items, place("tick", f"{last[2]}@{last[1].isoformat()}"))
