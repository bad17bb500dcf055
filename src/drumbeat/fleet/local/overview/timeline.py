"""The timeline: the past and the coming ticks of schedules."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta

from drumbeat.engine.ticking.trigger_evaluation import evaluated
from drumbeat.fleet.local.overview.schedule_list import fails
from drumbeat.fleet.local.overview.tick_marks import marks_of
from drumbeat.fleet.local.services import Services
from drumbeat.model.errors import InvalidInput, TriggerTooExpensive
from drumbeat.model.page import Page, PageRequest
from drumbeat.model.schedules.plan import TickRecord
from drumbeat.model.schedules.schedule import StoredSchedule
from drumbeat.model.schedules.search import ScheduleSearch
from drumbeat.rules.schedules.preview import coming_ticks, zone_of
from drumbeat.rules.schedules.schedule_state import described, found_schedules, schedule_state
from drumbeat.wire.schedule_state import TimelineLineView, TimelineView

BEFORE, AFTER = timedelta(hours=6), timedelta(hours=1)
LONGEST = timedelta(days=31)
MOST_PAST = 200
MOST_COMING = 60


async def timeline_of(
    services: Services, span: tuple[datetime | None, datetime | None], search: str, limit: int
) -> TimelineView:
    """The first schedules that match, over a time."""
    every = await services.schedule_list.all()
    found = found_schedules(every, ScheduleSearch(search))
    now = await services.store.now()
    start, end = span[0] or now - BEFORE, span[1] or now + AFTER
    if not timedelta(0) < end - start <= LONGEST:
        rule = f"after from, and at most {LONGEST.days} days after it"
        raise InvalidInput(f"to has to be {rule}", parameter="to", rule=rule)
    names = [each.name for each in found[:limit]]
    stored = [each for each in (await services.store.schedules.get(names)).schedules if each]
    pages = await asyncio.gather(
        *(services.store.schedules.ticks(each.name, PageRequest(MOST_PAST)) for each in stored)
    )
    ledgers = [
        [tick for tick in page.items if start <= tick.through and tick.tick_at <= end]
        for page in pages
    ]
    marks = await marks_of(services.store, ledgers)
    lines: list[TimelineLineView] = []
    for each, page, past in zip(stored, pages, marks, strict=True):
        coming, until = await _coming(each, max(now, start), end)
        lines.append(
            TimelineLineView(
                name=each.name,
                when=described(each.schedule.trigger),
                tz=zone_of(each.schedule.trigger),
                state=schedule_state(each, now, failing=fails(past)),
                past=past,
                complete_from=_complete_from(page, start),
                coming=coming,
                complete_until=until,
            )
        )
    return TimelineView(as_of=now, start=start, end=end, lines=tuple(lines), schedules=len(found))


def _complete_from(page: Page[TickRecord], start: datetime) -> datetime:
    return max(start, page.items[-1].tick_at) if page.next is not None else start


async def _coming(
    stored: StoredSchedule, now: datetime, end: datetime
) -> tuple[tuple[datetime, ...], datetime]:
    if stored.paused or end <= now:
        return (), end
    try:
        ticks = await evaluated(lambda steps: coming_ticks(stored, now, MOST_COMING, steps))
    except TriggerTooExpensive:
        return (), now
    within = tuple(tick for tick in ticks if tick <= end)
    return within, ticks[-1] if len(within) == MOST_COMING else end
