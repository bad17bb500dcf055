"""The plan for the due ticks of a schedule: which fire, and why the others are skipped.

Plans decide what "exactly once" means; the store enforces it. A plan is a pure function of the
stored schedule and the current time. The store writes it completely, and only if the schedule has
not changed since it was read: two leaders that plan the same ticks race, but never run them twice.

**Every tick ends in the ledger.** The cursor separates the ticks that are accounted for from those
that are not. A plan takes all ticks from the cursor up to now, and each of them either fires or is
skipped with a reason. The same write moves the cursor. Nothing is computed from "now" alone: a new
leader continues from the cursor that the last one left.

**The first reason that applies is recorded.** A tick passes these checks, in this order:

    paused -> overridden by hand -> excluded by a calendar -> misfire -> overlap -> unknown task
    -> fires

Misfire (`misfire.py`) checks lateness, overlap (`overlap.py`) the job of an earlier tick, unknown
task (`stranded_jobs.py`) jobs that perhaps no node can run. An instant after the end of the
schedule, or after its last run, is not a tick and needs no reason.

**A year of missed minutes is half a million ticks.** A plan handles at most `cap` + 10,000 of them,
oldest first, and moves the cursor behind the last one; `next_tick` is then still due, and the next
pass continues. Its decisions hold whatever comes later: if the misfire policy needs to know how
many later ticks will fire, they are counted as far as the policy needs. If the last page has only
ticks that are on time, each of them fires as usual. Consecutive skips with one reason become one
record with a count.

**The clock may go back.** Then nothing is due, and the plan changes nothing. The cursor never moves
back.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from drumbeat.model.fast_construction import fast_constructor
from drumbeat.model.ids import JobId
from drumbeat.model.schedules.plan import Fire, Plan, SkipReason
from drumbeat.model.schedules.policy import Overlap
from drumbeat.model.schedules.schedule import DueSchedule, Previous, Schedule, StoredSchedule
from drumbeat.rules.planning.completion_interval import (
    due_after_completion,
    interval_after_completion,
)
from drumbeat.rules.planning.misfire import misfired
from drumbeat.rules.planning.overlap import overlapped, unfinished
from drumbeat.rules.planning.stranded_jobs import stranded
from drumbeat.rules.planning.tick_job import jitter, job_of
from drumbeat.rules.planning.ticks import DueTicks, due_ticks, has_run_out
from drumbeat.rules.planning.verdicts import Verdict, open_places, skips

new_plan = fast_constructor(Plan)
new_fire = fast_constructor(Fire)


def plan(due: DueSchedule, now: datetime) -> Plan:
    """Plan the schedule's ticks after its cursor, up to now."""
    stored = due.stored
    if stored.next_tick is None or now < stored.next_tick or now < stored.cursor:
        return Plan(stored, stored.cursor, stored.next_tick, as_of=now)
    interval = interval_after_completion(stored.schedule.trigger)
    if interval is None:
        return _account(due_ticks(stored, now), due.previous, due.stranded)
    return _account(due_after_completion(due, interval, now), due.previous, due.stranded)


def _account(due: DueTicks, previous: Previous | None, waiting: int | None) -> Plan:
    """Apply the checks to the due ticks, and build the plan from the result."""
    stored, schedule = due.stored, due.stored.schedule
    policy = schedule.policies.overlap
    in_time = misfired(due, _withheld(due))
    runnable = stranded(waiting, overlapped(policy, previous, in_time))
    verdicts = _until_run_out(stored, runnable)
    fires = tuple([_fire(schedule, due.ticks[place]) for place in open_places(verdicts)])
    over = has_run_out(schedule, stored.runs + len(fires))
    return new_plan(
        stored,
        cursor=due.now if over else due.cursor,
        next_tick=None if over else due.next_tick,
        as_of=due.now,
        fires=fires,
        skips=skips(due.ticks, verdicts),
        cancels=_replaced(policy, previous) if fires else (),
        assumes_unfinished=_assumption(policy, previous) if None in in_time else None,
    )


def _withheld(due: DueTicks) -> Sequence[Verdict]:
    """The verdicts that do not depend on lateness or on other jobs."""
    stored = due.stored
    if stored.paused:
        return [SkipReason.PAUSED] * len(due.ticks)
    by_hand, excludes = stored.skips, stored.schedule.trigger.excludes
    return [
        SkipReason.OVERRIDDEN
        if tick in by_hand
        else SkipReason.EXCLUDED
        if excludes(tick)
        else None
        for tick in due.ticks
    ]


def _until_run_out(stored: StoredSchedule, verdicts: Sequence[Verdict]) -> Sequence[Verdict]:
    """The verdicts up to the last run that the schedule has left: later instants are no ticks."""
    max_runs = stored.schedule.policies.max_runs
    if max_runs is None:
        return verdicts
    runs_left = max(0, max_runs - stored.runs)
    firing = open_places(verdicts)[:runs_left]
    if len(firing) < runs_left:
        return verdicts
    return verdicts[: firing[-1] + 1] if firing else ()


def _fire(schedule: Schedule, tick: datetime) -> Fire:
    run_at = tick + jitter(schedule.name, tick, schedule.policies.jitter)
    return new_fire(tick, job_of(schedule, tick, run_at))


def _replaced(policy: Overlap, previous: Previous | None) -> tuple[JobId, ...]:
    if policy is Overlap.REPLACE and previous is not None and unfinished(previous):
        return (previous.job_id,)
    return ()


def _assumption(policy: Overlap, previous: Previous | None) -> bool | None:
    """Whether the previous job must still be unfinished at the commit; None: it may be either."""
    return None if policy is Overlap.ALLOW else unfinished(previous)
