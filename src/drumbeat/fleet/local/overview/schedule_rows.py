"""A page of a search for schedules."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from statistics import median

from drumbeat.engine.ticking.trigger_evaluation import evaluated
from drumbeat.fleet.local.overview.schedule_list import fails
from drumbeat.fleet.local.overview.tick_marks import last_marks
from drumbeat.fleet.local.services import Services
from drumbeat.model.errors import InvalidInput, TriggerTooExpensive
from drumbeat.model.jobs.job import Status
from drumbeat.model.page import Page, PageRequest
from drumbeat.model.schedules.schedule import StoredSchedule
from drumbeat.model.schedules.search import ScheduleSearch
from drumbeat.rules.schedules.preview import coming_ticks, zone_of
from drumbeat.rules.schedules.schedule_state import described, found_schedules, schedule_state
from drumbeat.wire.schedule_state import MOST_ROWS, ScheduleRowView, TickMarkView


async def schedule_rows(
    services: Services, wanted: ScheduleSearch, page: PageRequest, ticks: int
) -> Page[ScheduleRowView]:
    """The page, whose position is the number of schedules before it."""
    every = await services.schedule_list.all()
    found = found_schedules(every, wanted)
    first, size = _position(page.after), min(page.size, MOST_ROWS)
    names = [each.name for each in found[first : first + size]]
    now = await services.store.now()
    fresh = (await services.store.schedules.get(names)).schedules
    shown = [each for each in fresh if each is not None]
    marks = await last_marks(services.store, [each.name for each in shown], ticks)
    rows = [
        await _row(stored, last, now, undeclared=not every.is_in_code(stored.name))
        for stored, last in zip(shown, marks, strict=True)
    ]
    after = first + size
    return Page(tuple(rows), str(after) if after < len(found) else None)


async def _row(
    stored: StoredSchedule, marks: Sequence[TickMarkView], now: datetime, *, undeclared: bool
) -> ScheduleRowView:
    schedule = stored.schedule
    completed = [each for each in marks if each.status is Status.COMPLETED]
    runs = [
        (each.finished_at - each.started_at).total_seconds()
        for each in completed
        if each.finished_at is not None and each.started_at is not None
    ]
    return ScheduleRowView(
        name=stored.name,
        task=schedule.task,
        when=described(schedule.trigger),
        trigger=schedule.trigger.to_json(),
        tz=zone_of(schedule.trigger),
        state=schedule_state(stored, now, failing=fails(marks)),
        paused=stored.paused,
        pause_reason=stored.pause_reason,
        undeclared=undeclared,
        origin=stored.origin,
        queue=schedule.job.queue,
        tags=schedule.job.tags,
        version=stored.version,
        next_tick=stored.next_tick,
        interval_seconds=await _interval(stored, now),
        ticks=tuple(marks),
        last_success_at=completed[0].finished_at if completed else None,
        run_seconds=median(runs) if runs else None,
    )


async def _interval(stored: StoredSchedule, now: datetime) -> float | None:
    try:
        coming = await evaluated(lambda steps: coming_ticks(stored, now, 2, steps))
    except TriggerTooExpensive:
        return None
    return (coming[1] - coming[0]).total_seconds() if len(coming) == 2 else None


def _position(after: str | None) -> int:
    if after is None:
        return 0
    if not (after.isascii() and after.isdigit() and len(after) < 10):
        rule = "as the Link header of the page before has it"
        raise InvalidInput(
            f"after is {after[:50]!r}, and has to be {rule}", parameter="after", rule=rule
        )
    return int(after)
