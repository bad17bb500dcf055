"""TickSkipper: moves this instance's cursors past ticks that another instance runs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from drumbeat.engine.plumbing.bus import Bus
from drumbeat.model.events import TickPassed
from drumbeat.model.schedules.plan import Edit, Written
from drumbeat.model.schedules.schedule import StoredSchedule
from drumbeat.ports.clock import Clock
from drumbeat.ports.store import ScheduleStore
from drumbeat.rules.schedules.in_process import means_its_start, passed_over

BATCH = 500
WIDEST_SKEW = timedelta(seconds=5)
"""How far two clocks may differ. A cursor further ahead is cut to this."""


class TickSkipper:
    """Skips ticks that others run, and emits `TickPassed` for them."""

    def __init__(self, schedules: ScheduleStore, clock: Clock, bus: Bus) -> None:
        self._schedules = schedules
        self._clock = clock
        self._bus = bus

    def believable(self, through: datetime) -> datetime:
        """The instant, but not further ahead of our own clock than two clocks may differ."""
        return min(through, self._clock.now() + WIDEST_SKEW)

    async def is_due(self, through: datetime) -> bool:
        """Whether a tick is due at the instant."""
        return bool((await self._schedules.due(1, through)).schedules)

    async def over(self, through: datetime) -> datetime | None:
        """Skip every tick up to the instant; return when the next one is due, if one is known."""
        limit = BATCH
        while True:
            due = await self._schedules.due(limit, through)
            theirs = [each.stored for each in due.schedules if not _is_ours(each.stored)]
            written = await self.each(theirs, through)
            if not written and len(due.schedules) < limit:
                return due.next_at
            if not written:
                limit += BATCH  # all of them stay due; look past them

    async def each(self, schedules: Sequence[StoredSchedule], through: datetime) -> int:
        """Skip the ticks of these schedules up to the instant; return how many were written."""
        edits = [edit for stored in schedules if (edit := passed_over(stored, through))]
        verdicts = await self._schedules.put(edits) if edits else ()
        written = 0
        for edit, verdict in zip(edits, verdicts, strict=True):
            if isinstance(verdict, Written):
                written += 1
                self._report(edit)
        return written

    def _report(self, edit: Edit) -> None:
        assert edit.before is not None, "only a stored schedule is passed over"
        task = edit.before.schedule.task
        for skip in edit.skips:
            event = TickPassed(edit.name, task, skip.tick_at, skip.through, skip.count)
            self._bus.emit(event)


def _is_ours(stored: StoredSchedule) -> bool:
    # Its tick is the start of this instance, so no cursor covers it. It is claimed by name.
    return means_its_start(stored.schedule)
