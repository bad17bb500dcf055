"""Ledger: what became of every tick."""

from __future__ import annotations

from dataclasses import dataclass

from drumbeat.model.ids import JobId, NodeId
from drumbeat.model.page import Page, PageRequest
from drumbeat.model.plan import Outcome, Skip, SkipReason, TickRecord
from drumbeat.rules.paging import no_place, place, place_after
from drumbeat.sqlite.instants import to_instant, to_length, to_number
from drumbeat.stores.sqlite.moment import Moment
from drumbeat.stores.sqlite.rows import ALWAYS, Row
from drumbeat.stores.sqlite.session import StoreSession

FIRED = 0
"""The number of a row that says that its tick has fired."""


@dataclass(frozen=True, slots=True)
class Signature:
    """Who writes rows, and when."""

    recorded_at: Moment
    leader: NodeId | None = None
    epoch: int | None = None
    backfilled: bool = False


def record_fired(
    session: StoreSession, name: str, tick_at: int, job_id: JobId, by: Signature
) -> None:
    """Record a tick that fired."""
    now = by.recorded_at.number
    session.add_tick(
        (
            *(name, tick_at, FIRED, now, tick_at, 1, None),
            *(job_id, by.leader, by.epoch, int(by.backfilled)),
        )
    )


def record_skipped(session: StoreSession, name: str, skip: Skip, by: Signature) -> None:
    """Record a run of ticks that did not fire."""
    now = by.recorded_at.number
    first, last = to_number(skip.tick_at), to_number(skip.through)
    session.add_tick(
        (
            *(name, first, session.next_tick(), now, last, skip.count, skip.reason.value),
            *(None, by.leader, by.epoch, 0),
        )
    )


def tick_of(row: Row) -> TickRecord:
    """A row of the ledger as it is handed out."""
    name, tick_at, _, recorded_at, through, count, reason, job_id, leader, epoch, backfilled = row
    return TickRecord(
        name,
        to_instant(tick_at),
        Outcome.FIRED if reason is None else Outcome.SKIPPED,
        to_instant(recorded_at),
        to_length(recorded_at - tick_at),
        to_instant(through),
        count,
        None if reason is None else SkipReason(reason),
        job_id,
        leader,
        epoch,
        bool(backfilled),
    )


def place_before(page: PageRequest) -> tuple[int, int]:
    """The tick and the number of the row at which the page before ended."""
    after = place_after(page, "tick")
    if after is None:
        return ALWAYS, 0
    tick_at, _, number = after.partition("/")
    try:
        return int(tick_at), int(number)
    except ValueError:
        raise no_place(page) from None


def page_of(rows: list[Row], size: int) -> Page[TickRecord]:
    """A page of the rows, of which one too many was read if there are more."""
    items = tuple(tick_of(row) for row in rows[:size])
    if len(rows) <= size:
        return Page(items)
    last = rows[size - 1]
    return Page(items, place("tick", f"{last[1]}/{last[2]}"))
