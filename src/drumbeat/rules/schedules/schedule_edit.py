"""Edits of stored schedules, by code or by a person.

**A change by a person takes effect when it is made.** The cursor moves to that moment, so nothing
fires in retrospect, neither by the old definition nor by the new one. Due ticks of the old
definition that no leader has handled are skipped in the same write: as `paused` if the schedule was
or becomes paused, else as `overridden`. A change that keeps the definition, such as skipping one
future tick, keeps the cursor too: due ticks still fire.

**A change by code waits for the ticks that were due before it** (ADR 0030). A deployment after an
outage must not drop ticks that `misfire="all"` promises to catch up. While ticks of the stored
definition are due, `declare` returns that the change waits; the leader handles them by the old
definition, and the change is written afterwards. The caller passes when it asked first. Once the
cursor has passed that instant, all ticks due before the change are handled, and the change takes
effect from the cursor: a schedule that is always a little late can be changed too, and no tick is
lost between the definitions. A paused schedule does not wait, since its due ticks do not fire. Nor
does a schedule that cannot be planned: its due ticks are skipped as `overridden`.

**The pause, the number of runs and the last job survive every change of definition.** So does the
start of an interval, unless the trigger itself changed: a deployment neither resets nor doubles an
interval.

**A person's definition has priority over code.** A deployment does not overwrite a definition that
a person wrote, not even if the declaration changed: the next release must not undo an emergency
edit. The declaration and the store then differ, and `declare` reports each time that the schedule
has *drifted*. This ends when the definitions agree, or when the person hands the schedule back or
removes it.

A tick at the exact moment of a change belongs to the old definition, with one exception: `once()`
without an instant means that moment, so the cursor stays a microsecond before it.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from drumbeat.model.errors import InvalidInput
from drumbeat.model.schedules.plan import Edit, Skip, SkipReason
from drumbeat.model.schedules.schedule import Origin, Schedule, StoredSchedule
from drumbeat.model.time.instant import MICROSECOND, aware
from drumbeat.rules.planning.completion_interval import interval_after_completion
from drumbeat.rules.planning.ticks import firing_ticks, has_run_out, names, next_tick
from drumbeat.rules.schedules.definition import cursor_for, defines, prepared
from drumbeat.rules.schedules.fingerprint import fingerprint

COUNTED = 50_000
"""Ticks that an edit counts one by one: more than a month of minutes without a leader."""
MOST_SKIPS = 1_000
"""Future ticks that may be skipped at a time; to skip more, pause the schedule."""
SHOWN = 3
"""Ticks that an error suggests instead of one that does not exist."""


@dataclass(frozen=True, slots=True)
class Declared:
    """What to write for a declaration in code."""

    edit: Edit | None = None
    """None: nothing to write."""
    drifted: bool = False
    """A person defined the schedule differently, and that definition stays."""
    waits: bool = False
    """Ticks of the stored definition are due: the leader has to handle them before the change."""


def declare(
    stored: StoredSchedule | None, schedule: Schedule, now: datetime, since: datetime | None = None
) -> Declared:
    """What to write for a declaration, which was first made at `since` if it had to wait."""
    declared = fingerprint(schedule)
    if stored is None:
        return Declared(_create(schedule, now, Origin.CODE, declared))
    if stored.origin is Origin.CODE and stored.declared == declared:
        return Declared()
    by_code = dataclasses.replace(stored, origin=Origin.CODE, declared=declared)
    if defines(schedule, stored, now):
        return Declared(_keep_cursor(stored, by_code, now))
    if stored.origin is Origin.PERSON:
        return Declared(drifted=True)
    if not _has_ticks_to_fire(stored, now):
        return Declared(_redefine(stored, by_code, schedule, now))
    if stored.cursor < (since or now):
        return Declared(waits=True)
    return Declared(_redefine(stored, by_code, schedule, now, stored.cursor))


def replace(stored: StoredSchedule | None, schedule: Schedule, now: datetime) -> Edit:
    """Create or redefine a schedule for a person. The same definition again changes nothing."""
    if stored is None:
        return _create(schedule, now, Origin.PERSON, declared="")
    if defines(schedule, stored, now):
        return _keep_cursor(stored, stored, now)
    by_person = dataclasses.replace(stored, origin=Origin.PERSON)
    return _redefine(stored, by_person, schedule, now)


def hand_back(stored: StoredSchedule, now: datetime) -> Edit | None:
    """Let the next declaration in code define the schedule again; None if it does already."""
    if stored.origin is Origin.CODE:
        return None
    return _keep_cursor(stored, dataclasses.replace(stored, origin=Origin.CODE, declared=""), now)


def pause(stored: StoredSchedule, reason: str, now: datetime) -> Edit | None:
    """Pause the schedule from now on; None if it is paused for that reason already."""
    if stored.paused and stored.pause_reason == reason:
        return None
    paused = dataclasses.replace(stored, paused=True, pause_reason=reason)
    return _move_cursor(now, stored, paused, now)


def resume(stored: StoredSchedule, now: datetime) -> Edit | None:
    """Resume the schedule from now on; None if it is not paused."""
    if not stored.paused:
        return None
    resumed = dataclasses.replace(stored, paused=False, pause_reason="")
    return _move_cursor(now, stored, resumed, now)


def skip_tick(stored: StoredSchedule, tick_at: datetime, now: datetime) -> Edit | None:
    """Skip one future tick; None if it is skipped already. `InvalidInput` names the next ticks."""
    tick = aware("tick_at", tick_at)
    if tick in stored.skips:
        return None
    _refuse_unless_it_would_fire(stored, tick, now)
    if len(_still_to_come(stored, stored.cursor)) >= MOST_SKIPS:
        raise InvalidInput(f"schedule {stored.name!r} has {MOST_SKIPS:,} skipped ticks already")
    return _keep_cursor(stored, dataclasses.replace(stored, skips=stored.skips | {tick}), now)


def unskip(stored: StoredSchedule, tick_at: datetime, now: datetime) -> Edit | None:
    """Undo the skipping of a tick; None if it is not skipped."""
    tick = aware("tick_at", tick_at)
    if tick not in stored.skips:
        return None
    return _keep_cursor(stored, dataclasses.replace(stored, skips=stored.skips - {tick}), now)


def remove(stored: StoredSchedule, now: datetime) -> Edit:
    """Delete the schedule. Its jobs and its ledger stay."""
    return Edit(stored, None, _unhandled(stored, now, _reason(stored)))


def _create(schedule: Schedule, now: datetime, origin: Origin, declared: str) -> Edit:
    ready = prepared(schedule, now)
    cursor = cursor_for(schedule.trigger, now)
    after = StoredSchedule(
        ready,
        version=1,
        cursor=cursor,
        next_tick=next_tick(ready, cursor),
        created_at=now,
        updated_at=now,
        origin=origin,
        declared=declared,
    )
    return Edit(None, after)


def _has_ticks_to_fire(stored: StoredSchedule, now: datetime) -> bool:
    """Whether a leader can still fire ticks that were due before now."""
    if stored.paused or stored.next_tick is None or stored.next_tick > now:
        return False
    try:
        next_tick(stored.schedule, stored.next_tick)
        stored.schedule.trigger.excludes(stored.next_tick)
    except Exception:  # noqa: BLE001 - the trigger fails; the leader cannot plan it either
        return False
    return True


def _redefine(
    before: StoredSchedule,
    owned: StoredSchedule,
    schedule: Schedule,
    now: datetime,
    moment: datetime | None = None,
) -> Edit:
    """Replace the definition from the moment on, or from now on."""
    ready = prepared(schedule, now, before)
    still_named = frozenset(tick for tick in before.skips if names(ready, tick))
    after = dataclasses.replace(owned, schedule=ready, skips=still_named)
    if moment is None:
        moment = cursor_for(schedule.trigger, now)
    return _move_cursor(moment, before, after, now)


def _move_cursor(
    moment: datetime, before: StoredSchedule, after: StoredSchedule, now: datetime
) -> Edit:
    """An edit that moves the cursor to the moment and skips the due ticks before it."""
    cursor = max(before.cursor, moment)
    changed = dataclasses.replace(
        after,
        version=before.version + 1,
        cursor=cursor,
        next_tick=next_tick(after.schedule, cursor, after.runs),
        updated_at=now,
        skips=_still_to_come(after, cursor),
    )
    return Edit(before, changed, _unhandled(before, cursor, _reason(before, after)))


def _keep_cursor(before: StoredSchedule, after: StoredSchedule, now: datetime) -> Edit:
    """An edit that keeps the cursor, so that due ticks still fire."""
    changed = dataclasses.replace(
        after,
        version=before.version + 1,
        updated_at=now,
        skips=_still_to_come(after, before.cursor),
    )
    return Edit(before, changed)


def _still_to_come(stored: StoredSchedule, cursor: datetime) -> frozenset[datetime]:
    return frozenset(tick for tick in stored.skips if tick > cursor)


def _reason(*standings: StoredSchedule) -> SkipReason:
    paused = any(stored.paused for stored in standings)
    return SkipReason.PAUSED if paused else SkipReason.OVERRIDDEN


def _unhandled(stored: StoredSchedule, until: datetime, reason: SkipReason) -> tuple[Skip, ...]:
    """The due ticks that no leader has handled, as one `Skip`.

    The count is exact up to `COUNTED`. Beyond that it means "at least", and the `Skip` ends at
    `until`. If the trigger raises, only the stored tick is skipped: its error must not prevent the
    schedule from being repaired or removed.
    """
    first = stored.next_tick
    if first is None or first > until:
        return ()
    if interval_after_completion(stored.schedule.trigger) is not None:
        return (Skip(first, first, 1, reason),)  # the next tick depends on its job
    try:
        return (_run_of_ticks(stored.schedule, first, until, reason),)
    except Exception:  # noqa: BLE001 - whatever a trigger raises
        return (Skip(first, first, 1, reason),)


def _run_of_ticks(schedule: Schedule, first: datetime, until: datetime, reason: SkipReason) -> Skip:
    count, last = 1, first
    tick = next_tick(schedule, first)
    while tick is not None and tick <= until:
        if count == COUNTED:
            return Skip(first, until, count, reason)
        count, last = count + 1, tick
        tick = next_tick(schedule, tick)
    return Skip(first, last, count, reason)


def _refuse_unless_it_would_fire(stored: StoredSchedule, tick: datetime, now: datetime) -> None:
    if interval_after_completion(stored.schedule.trigger) is not None:
        raise InvalidInput(
            f"schedule {stored.name!r} counts from the end of its last job, so its ticks are not "
            f"known beforehand; pause it instead"
        )
    latest = max(now, stored.cursor)
    if tick > latest and tick in _would_fire(stored, tick - MICROSECOND):
        return
    following = ", ".join(each.isoformat() for each in _would_fire(stored, latest))
    raise InvalidInput(
        f"schedule {stored.name!r} has no future tick at {tick.isoformat()}; "
        f"next: {following or 'none, it is over'}"
    )


def _would_fire(stored: StoredSchedule, after: datetime) -> list[datetime]:
    over = has_run_out(stored.schedule, stored.runs)
    return [] if over else list(islice(firing_ticks(stored.schedule, after), SHOWN))
