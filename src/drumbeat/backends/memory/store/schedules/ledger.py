"""The ledger: what became of each tick."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort_right
from collections import deque
from dataclasses import dataclass
from datetime import datetime
from heapq import merge
from itertools import islice, takewhile
from operator import attrgetter

from drumbeat.model.fast_construction import fast_constructor
from drumbeat.model.ids import JobId, NodeId
from drumbeat.model.page import Page, PageRequest
from drumbeat.model.schedules.plan import Outcome, Skip, TickRecord
from drumbeat.model.time.instant import aware
from drumbeat.rules.page_position import cut, no_place, place, place_after

FIRED, SKIPPED = Outcome.FIRED, Outcome.SKIPPED

new_tick = fast_constructor(TickRecord)
by_tick = attrgetter("tick_at")
by_age = attrgetter("recorded_at")


@dataclass(frozen=True, slots=True)
class Signature:
    """Who writes rows, and when."""

    recorded_at: datetime
    leader: NodeId | None = None
    epoch: int | None = None
    backfilled: bool = False


class Ledger:
    """The rows of each schedule, by tick. Rows outlive their schedule."""

    def __init__(self) -> None:
        self._rows: dict[str, list[TickRecord]] = {}
        self._aging: deque[TickRecord] = deque()
        """All rows in the order of their recording, except the spared ones."""
        self._in_order = True
        self._spared: dict[str, TickRecord] = {}
        """Rows old enough to be pruned that were the last of their schedule."""

    def has_fired(self, name: str, tick_at: datetime) -> bool:
        rows = self._rows.get(name)
        if rows is None or rows[-1].tick_at < tick_at:
            return False
        first = bisect_left(rows, tick_at, key=by_tick)
        last = bisect_right(rows, tick_at, key=by_tick)
        return any(row.outcome is FIRED for row in rows[first:last])

    def fired(self, name: str, tick_at: datetime, job_id: JobId, by: Signature) -> None:
        now = by.recorded_at
        row = (name, tick_at, FIRED, now, now - tick_at, tick_at, 1, None, job_id)
        self._add(new_tick(*row, by.leader, by.epoch, by.backfilled))

    def skipped(self, name: str, skip: Skip, by: Signature) -> None:
        now, first = by.recorded_at, skip.tick_at
        row = (name, first, SKIPPED, now, now - first, skip.through, skip.count, skip.reason, None)
        self._add(new_tick(*row, by.leader, by.epoch))

    def page(self, name: str, page: PageRequest) -> Page[TickRecord]:
        """The rows of a schedule, latest tick first."""
        rows = self._rows.get(name, [])
        tick_at, shown = _read_place(page)
        remaining = len(rows)
        if tick_at is not None:
            remaining = max(
                bisect_right(rows, tick_at, key=by_tick) - shown,
                bisect_left(rows, tick_at, key=by_tick),
            )
        items, more = cut((rows[index] for index in range(remaining - 1, -1, -1)), page.size)
        if not more:
            return Page(items)
        last = items[-1].tick_at
        shown = sum(item.tick_at == last for item in items) + (shown if last == tick_at else 0)
        return Page(items, place("tick", f"{shown}@{last.isoformat()}"))

    def recorded(self, since: datetime, limit: int) -> list[TickRecord]:
        """The last rows of all schedules, those recorded last first."""
        self._put_in_order()
        spared = [row for row in self._spared.values() if row.recorded_at >= since]
        spared.sort(key=by_age, reverse=True)
        rows = merge(reversed(self._aging), spared, key=by_age, reverse=True)
        return list(islice(takewhile(lambda row: row.recorded_at >= since, rows), limit))

    def prune(self, recorded_before: datetime, limit: int) -> int:
        """Delete at most `limit` old rows, but never the last one of a schedule."""
        self._put_in_order()
        pruned = 0
        while self._aging and pruned < limit and self._aging[0].recorded_at <= recorded_before:
            row = self._aging.popleft()
            rows = self._rows[row.schedule]
            if row is rows[-1]:
                self._spared[row.schedule] = row
            else:
                _remove(rows, row)
                pruned += 1
        return pruned

    def _put_in_order(self) -> None:
        if not self._in_order:
            self._aging = deque(sorted(self._aging, key=by_age))
            self._in_order = True

    def _add(self, row: TickRecord) -> None:
        rows = self._rows.get(row.schedule)
        if rows is None:
            self._rows[row.schedule] = [row]
        elif rows[-1].tick_at <= row.tick_at:
            rows.append(row)
            spared = self._spared.pop(row.schedule, None)
            if spared is not None:  # it is no longer the last
                self._aging.appendleft(spared)
        else:
            insort_right(rows, row, key=by_tick)
        if self._aging and row.recorded_at < self._aging[-1].recorded_at:
            self._in_order = False
        self._aging.append(row)


def _remove(rows: list[TickRecord], row: TickRecord) -> None:
    index = bisect_left(rows, row.tick_at, key=by_tick)
    while rows[index] is not row:
        index += 1
    del rows[index]


def _read_place(page: PageRequest) -> tuple[datetime | None, int]:
    """The tick at which the page before ended, and how many rows of that tick it showed.

    A tick may have several rows: one that was skipped can be backfilled.
    """
    after = place_after(page, "tick")
    if after is None:
        return None, 0
    shown, _, tick_at = after.partition("@")
    try:
        return aware("after", datetime.fromisoformat(tick_at)), int(shown)
    except ValueError:
        raise no_place(page) from None
