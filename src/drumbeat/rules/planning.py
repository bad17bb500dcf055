"""Planning: what becomes of the ticks of a schedule that have come due.

This is where "exactly once" is decided, though not where it is enforced. A plan is a pure function
of what the store showed and of one instant. The store then writes it whole, and only if nothing
moved in between: two leaders that plan the same ticks cost each other a race, never a double run.

**Every tick ends in the ledger.** The cursor is the line between ticks that are accounted for and
ticks that are to come. A plan takes all ticks from the cursor up to now, and each of them either
fires or is skipped for a reason. It then moves the cursor over them, in the same write. Nothing is
computed from "now" alone: a leader that takes over after an outage finds the line where the last
one left it.

**The first reason that holds is the one recorded.** A tick passes these gates, in this order:

    paused -> overridden by hand -> excluded by a calendar -> misfire -> overlap -> unknown task
    -> fires

Misfire (`rules.misfire`) is about being late, overlap (`rules.overlap`) about the job of an
earlier tick, unknown task (`rules.stranding`) about jobs that no node may be able to run. A tick
beyond the end of the schedule, or after the last of its `max_runs`, is none: it needs no reason.

**A year of missed minutes is half a million ticks.** A plan walks at most `cap` + 10,000 of them,
oldest first, and moves the cursor as far as it walked; `next_tick` is then still due, and the
next pass goes on. What it decides stands whatever the rest may hold: where the misfire policy
asks how many later ticks will fire, those are counted, no further than the policy needs. Should
the last page hold nothing but ticks that are on time, each of them fires, as on any other day.
Skips that follow each other for one reason become one record with a count.

**Time may run backwards.** If it did since the schedule was read last, nothing is due, and a plan
changes nothing. The cursor never moves back.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from drumbeat.model.ids import JobId
from drumbeat.model.plan import Fire, Plan, SkipReason
from drumbeat.model.policy import Overlap
from drumbeat.model.schedule import DueSchedule, Previous, Schedule, StoredSchedule
from drumbeat.model.swift import swift
from drumbeat.rules.completion import due_after_completion, interval_after_completion
from drumbeat.rules.firing import job_of
from drumbeat.rules.jitter import jitter
from drumbeat.rules.misfire import misfired
from drumbeat.rules.overlap import overlapped, unfinished
from drumbeat.rules.stranding import stranded
from drumbeat.rules.ticks import DueTicks, due_ticks, has_run_out, next_tick
from drumbeat.rules.verdicts import Verdict, open_places, skips

__all__ = ["next_tick", "plan"]

new_plan = swift(Plan)
new_fire = swift(Fire)


def plan(due: DueSchedule, now: datetime) -> Plan:
    """What becomes of the schedule's ticks after its cursor, up to now."""
    stored = due.stored
    if stored.next_tick is None or now < stored.next_tick or now < stored.cursor:
        return Plan(stored, stored.cursor, stored.next_tick, as_of=now)
    interval = interval_after_completion(stored.schedule.trigger)
    if interval is None:
        return _account(due_ticks(stored, now), due.previous, due.stranded)
    return _account(due_after_completion(due, interval, now), due.previous, due.stranded)


def _account(due: DueTicks, previous: Previous | None, waiting: int | None) -> Plan:
    """Lead the due ticks through the gates, and write down how each of them ends."""
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
    """The verdicts that hold whatever the time is."""
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
    """The verdicts up to the last run that the schedule has left: what comes later is no tick."""
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
    """The job that the new one takes the place of."""
    if policy is Overlap.REPLACE and previous is not None and unfinished(previous):
        return (previous.job_id,)
    return ()


def _assumption(policy: Overlap, previous: Previous | None) -> bool | None:
    """What must still be so of the previous job when the plan is written."""
    return None if policy is Overlap.ALLOW else unfinished(previous)
