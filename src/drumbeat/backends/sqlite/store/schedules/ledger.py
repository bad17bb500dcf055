"""The ledger: what became of each tick."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from drumbeat.backends.sqlite.connection.times import Moment, to_duration, to_instant, to_number
from drumbeat.backends.sqlite.store.jobs.rows import FOREVER
from drumbeat.backends.sqlite.store.session import StoreSession
from drumbeat.model.ids import JobId, NodeId
from drumbeat.model.page import PageRequest
from drumbeat.model.schedules.plan import Outcome, Skip, SkipReason, TickRecord
from drumbeat.rules.page_position import no_place, place_after

FIRED = 0
"""The number of the row of a tick that fired."""


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
    now = by.recorded_at.number
    session.ticks.values += (
        *(name, tick_at, FIRED, now, tick_at, 1, None),
        *(job_id, by.leader, by.epoch, int(by.backfilled)),
    )


def record_skipped(session: StoreSession, name: str, skip: Skip, by: Signature) -> None:
    now = by.recorded_at.number
    first, last = to_number(skip.tick_at), to_number(skip.through)
    session.ticks.values += (
        *(name, first, session.next_tick(), now, last, skip.count, skip.reason.value),
        *(None, by.leader, by.epoch, 0),
    )


class TickRow(NamedTuple):
    """A row of the ledger."""

    schedule: str
    tick_at: int
    number: int
    recorded_at: int
    through: int
    count_: int
    reason: str | None
    job: JobId | None
    leader: NodeId | None
    epoch: int | None
    backfilled: int

    def place(self) -> str:
        return f"{self.tick_at}/{self.number}"


def tick_of(row: TickRow) -> TickRecord:
    return TickRecord(
        row.schedule,
        to_instant(row.tick_at),
        Outcome.FIRED if row.reason is None else Outcome.SKIPPED,
        to_instant(row.recorded_at),
        to_duration(row.recorded_at - row.tick_at),
        to_instant(row.through),
        row.count_,
        None if row.reason is None else SkipReason(row.reason),
        row.job,
        row.leader,
        row.epoch,
        bool(row.backfilled),
    )


def place_before(page: PageRequest) -> tuple[int, int]:
    """The tick and the number of the row at which the page before ended."""
    after = place_after(page, "tick")
    if after is None:
        return FOREVER, 0
    tick_at, _, number = after.partition("/")
    try:
        return int(tick_at), int(number)
    except ValueError:
        raise no_place(page) from None
