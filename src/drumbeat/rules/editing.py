"""Editing: what a change by code or by a person makes of a stored schedule.

**A change by a person counts from the moment it is made.** The cursor moves to that moment, so that
nothing fires in retrospect: not under the new definition, which was not there yet, and not under
the old one, which is no more. Ticks of the old one that were due and that no leader had taken up
are skipped in the same write, as `paused` if the schedule was or becomes so, else as `overridden`.
A change that leaves the definition as it is, such as skipping a single tick to come, leaves
the cursor too: what is due fires as it would have.

**A change by code waits for the ticks that were due before it** (ADR 0030). A deployment after an
outage must not drop what `misfire="all"` promised to catch up. So while ticks of the stored
definition are due, `declare` answers that the change waits; the leader handles them by the old
definition and its policies, and the change is written afterwards. The caller says since when it
has been asking. Once the cursor has passed that instant, everything due before the change is
accounted for, and the change counts from the cursor: a schedule that is always a little late can
be changed too, and no tick gets lost between the two definitions. A schedule that is paused does
not wait, since its due ticks will not fire; nor does one that cannot be planned, since no leader
will ever take its ticks up: those ticks are skipped as `overridden`.

**A pause, the runs and the last job survive every change of definition.** So does the start that
intervals are counted from, unless the rule itself changed: a deployment neither resets nor doubles
an interval.

**Code and people may both define a schedule, and a person's word stands.** A schedule whose
definition a person wrote is not overwritten by a deployment, not even by one that changed the
declaration: whoever edited it at night to stop the damage must not be undone by the next release.
The declaration and the store then differ, and `declare` says so, each time: it has *drifted*. It
ends when the definitions agree, when the person hands the schedule back, or removes it.

A tick at the very moment of a change belongs to what was before it, with one exception: `once()`
without an instant means that moment, so the cursor stops a microsecond short of it.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from drumbeat.model.errors import InvalidInput
from drumbeat.model.instant import aware
from drumbeat.model.plan import Edit, Skip, SkipReason
from drumbeat.model.schedule import Origin, Schedule, StoredSchedule
from drumbeat.rules.completion import interval_after_completion
from drumbeat.rules.definition import defines, made_ready, moment_of
from drumbeat.rules.fingerprint import fingerprint
from drumbeat.rules.ticks import MICROSECOND, firing_ticks, has_run_out, names, next_tick

__all__ = [
    "Declared",
    "declare",
    "fingerprint",
    "hand_back",
    "pause",
    "remove",
    "replace",
    "resume",
    "skip_tick",
    "unskip",
]

COUNTED = 50_000
"""Ticks that an edit counts one by one: over a month of minutes in which no leader was there."""
MOST_SKIPS = 1_000
"""Ticks to come that may be skipped by hand at a time; to skip more, pause."""
SHOWN = 3
"""Ticks that an error offers in place of one that does not exist."""


@dataclass(frozen=True, slots=True)
class Declared:
    """What a declaration in code asks of the store."""

    edit: Edit | None = None
    """None: the store is to stay as it is."""
    drifted: bool = False
    """A person defined the schedule otherwise, and that stands."""
    waits: bool = False
    """Ticks of the stored definition are due: the leader has to handle them before the change."""


def declare(
    stored: StoredSchedule | None, schedule: Schedule, now: datetime, since: datetime | None = None
) -> Declared:
    """Bring the store in line with what code says, as far as no person said otherwise.

    `since` is when the same declaration was first asked for, if it had to wait.
    """
    declared = fingerprint(schedule)
    if stored is None:
        return Declared(_create(schedule, now, Origin.CODE, declared))
    if stored.origin is Origin.CODE and stored.declared == declared:
        return Declared()
    by_code = dataclasses.replace(stored, origin=Origin.CODE, declared=declared)
    if defines(schedule, stored, now):
        return Declared(_in_passing(stored, by_code, now))
    if stored.origin is Origin.PERSON:
        return Declared(drifted=True)
    if not _has_ticks_to_fire(stored, now):
        return Declared(_redefine(stored, by_code, schedule, now))
    if stored.cursor < (since or now):
        return Declared(waits=True)
    return Declared(_redefine(stored, by_code, schedule, now, stored.cursor))


def replace(stored: StoredSchedule | None, schedule: Schedule, now: datetime) -> Edit:
    """Define a schedule by hand, or define it anew. The same definition again changes nothing."""
    if stored is None:
        return _create(schedule, now, Origin.PERSON, declared="")
    if defines(schedule, stored, now):
        return _in_passing(stored, stored, now)
    by_person = dataclasses.replace(stored, origin=Origin.PERSON)
    return _redefine(stored, by_person, schedule, now)


def hand_back(stored: StoredSchedule, now: datetime) -> Edit | None:
    """Let the next declaration in code define the schedule again; None if it does already."""
    if stored.origin is Origin.CODE:
        return None
    return _in_passing(stored, dataclasses.replace(stored, origin=Origin.CODE, declared=""), now)


def pause(stored: StoredSchedule, reason: str, now: datetime) -> Edit | None:
    """Let no tick fire from now on; None if it is paused for that reason already."""
    if stored.paused and stored.pause_reason == reason:
        return None
    paused = dataclasses.replace(stored, paused=True, pause_reason=reason)
    return _count_from(now, stored, paused, now)


def resume(stored: StoredSchedule, now: datetime) -> Edit | None:
    """Let ticks fire from now on; None if it is not paused."""
    if not stored.paused:
        return None
    resumed = dataclasses.replace(stored, paused=False, pause_reason="")
    return _count_from(now, stored, resumed, now)


def skip_tick(stored: StoredSchedule, tick_at: datetime, now: datetime) -> Edit | None:
    """Let one tick to come not fire; None if it is skipped already.

    It must be a tick that would fire otherwise, else `InvalidInput` says which ones are next.
    """
    tick = aware("tick_at", tick_at)
    if tick in stored.skips:
        return None
    _refuse_unless_it_would_fire(stored, tick, now)
    if len(_still_to_come(stored, stored.cursor)) >= MOST_SKIPS:
        raise InvalidInput(f"schedule {stored.name!r} has {MOST_SKIPS:,} skipped ticks already")
    return _in_passing(stored, dataclasses.replace(stored, skips=stored.skips | {tick}), now)


def unskip(stored: StoredSchedule, tick_at: datetime, now: datetime) -> Edit | None:
    """Let a tick fire after all; None if it is not skipped."""
    tick = aware("tick_at", tick_at)
    if tick not in stored.skips:
        return None
    return _in_passing(stored, dataclasses.replace(stored, skips=stored.skips - {tick}), now)


def remove(stored: StoredSchedule, now: datetime) -> Edit:
    """Take the schedule away. Its jobs and its ledger stay."""
    return Edit(stored, None, _untaken(stored, now, _reason(stored)))


def _create(schedule: Schedule, now: datetime, origin: Origin, declared: str) -> Edit:
    ready = made_ready(schedule, now)
    cursor = moment_of(schedule.trigger, now)
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
    """Replace the definition; it counts from the moment, or from now."""
    ready = made_ready(schedule, now, before)
    still_named = frozenset(tick for tick in before.skips if names(ready, tick))
    after = dataclasses.replace(owned, schedule=ready, skips=still_named)
    if moment is None:
        moment = moment_of(schedule.trigger, now)
    return _count_from(moment, before, after, now)


def _count_from(
    moment: datetime, before: StoredSchedule, after: StoredSchedule, now: datetime
) -> Edit:
    """An edit that moves the cursor to the moment, and accounts for what it passes over."""
    cursor = max(before.cursor, moment)
    changed = dataclasses.replace(
        after,
        version=before.version + 1,
        cursor=cursor,
        next_tick=next_tick(after.schedule, cursor, after.runs),
        updated_at=now,
        skips=_still_to_come(after, cursor),
    )
    return Edit(before, changed, _untaken(before, cursor, _reason(before, after)))


def _in_passing(before: StoredSchedule, after: StoredSchedule, now: datetime) -> Edit:
    """An edit after which ticks come as they would have: the cursor stays."""
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


def _untaken(stored: StoredSchedule, until: datetime, reason: SkipReason) -> tuple[Skip, ...]:
    """The due ticks that no leader took up, as one run.

    The count is exact up to `COUNTED`. Beyond that it means "at least", and the run reaches to the
    very end of the time that it covers. If the trigger fails, the stored tick is all that is known:
    its error must not keep the schedule from being repaired or removed.
    """
    first = stored.next_tick
    if first is None or first > until:
        return ()
    if interval_after_completion(stored.schedule.trigger) is not None:
        return (Skip(first, first, 1, reason),)  # the one after it was to follow its job
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
        f"schedule {stored.name!r} has no tick to come at {tick.isoformat()}; "
        f"next: {following or 'none, it is over'}"
    )


def _would_fire(stored: StoredSchedule, after: datetime) -> list[datetime]:
    over = has_run_out(stored.schedule, stored.runs)
    return [] if over else list(islice(firing_ticks(stored.schedule, after), SHOWN))
