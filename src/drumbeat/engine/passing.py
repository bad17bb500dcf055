"""Passing: moves this instance's own cursors over ticks that are another instance's to run."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from drumbeat.engine.bus import Bus
from drumbeat.model.events import TickPassed
from drumbeat.model.plan import Edit, Written
from drumbeat.model.schedule import StoredSchedule
from drumbeat.ports.clock import Clock
from drumbeat.ports.store import ScheduleStore
from drumbeat.rules.in_step import means_its_start, passed_over

BATCH = 500
WIDEST_SKEW = timedelta(seconds=5)
"""How far the clocks of two instances may be apart. A mark beyond that is not believed."""


class Passing:
    """Leaves ticks to others, and says so."""

    def __init__(self, schedules: ScheduleStore, clock: Clock, bus: Bus) -> None:
        self._schedules = schedules
        self._clock = clock
        self._bus = bus

    def believable(self, through: datetime) -> datetime:
        """The instant, or as far ahead of our own clock as it may be: a clock can be wrong."""
        return min(through, self._clock.now() + WIDEST_SKEW)

    async def is_due(self, through: datetime) -> bool:
        """Whether there is a tick up to the instant."""
        return bool((await self._schedules.due(1, through)).schedules)

    async def over(self, through: datetime) -> datetime | None:
        """Pass every tick up to the instant; return when the next one is due, if one is known."""
        limit = BATCH
        while True:
            due = await self._schedules.due(limit, through)
            theirs = [each.stored for each in due.schedules if not _is_ours(each.stored)]
            written = await self.each(theirs, through)
            if not written and len(due.schedules) < limit:
                return due.next_at
            if not written:
                limit += BATCH  # all of them stay due; look behind them

    async def each(self, schedules: Sequence[StoredSchedule], through: datetime) -> int:
        """Pass the ticks of these up to the instant; return how many schedules were written."""
        edits = [edit for stored in schedules if (edit := passed_over(stored, through))]
        verdicts = await self._schedules.put(edits) if edits else ()
        written = 0
        for edit, verdict in zip(edits, verdicts, strict=True):
            if isinstance(verdict, Written):
                written += 1
                self._tell(edit)
        return written

    def _tell(self, edit: Edit) -> None:
        assert edit.before is not None, "only a stored schedule is passed over"
        task = edit.before.schedule.task
        for skip in edit.skips:
            event = TickPassed(edit.name, task, skip.tick_at, skip.through, skip.count)
            self._bus.emit(event)


def _is_ours(stored: StoredSchedule) -> bool:
    # Its tick is the start of this very instance: no mark can speak of it. It is taken by name.
    return means_its_start(stored.schedule)
