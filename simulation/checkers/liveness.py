"""L1 to L5: what has to happen once the faults have stopped."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from drumbeat.model.jobs.job import FINAL
from drumbeat.model.schedules.plan import Outcome
from simulation.checkers.violation import Violation
from simulation.history import History
from simulation.process import LEASE_TTL

FAILOVER = LEASE_TTL + 3.0
STARTING = 1.5
"""Seconds until a process that was killed just before the healing runs again."""
LATE = 5.0
DRAINED = 20.0
"""Seconds: a job that was due this long before the end has to be finished."""
MOST_GAINS = 2


def a_leader_soon(history: History) -> Iterator[Violation]:
    """L1: a leader within the TTL and three seconds."""
    soon = history.healed_at + FAILOVER + STARTING
    if not any(leader for at, leader in history.leaders if at <= soon):
        yield Violation("L1", soon, f"nobody leads {FAILOVER:g} s after the healing")
    last = history.leaders[-1] if history.leaders else (history.ended_at, None)
    if last[1] is None:
        yield Violation("L1", last[0], "nobody leads at the end")


def all_due_ticks_are_handled(history: History) -> Iterator[Violation]:
    """L2: at the end, no tick is due and not accounted for."""
    due_by = history.wall(history.ended_at - LATE)
    for stored in history.dump.schedules:
        if stored.next_tick is not None and stored.next_tick <= due_by:
            text = f"{stored.name} was due at {stored.next_tick.isoformat()}, and no leader took it"
            yield Violation("L2", history.ended_at, text)


def no_schedule_starves(history: History) -> Iterator[Violation]:
    """L3: in the last half minute every schedule's ticks are taken on time."""
    since = history.wall(history.ended_at - 30.0)
    for name, rows in history.dump.ledger.items():
        for row in rows:
            late = row.recorded_at - row.through
            fired = row.outcome is Outcome.FIRED or row.leader is not None
            if fired and row.tick_at > since and late > timedelta(seconds=LATE):
                seconds = late.total_seconds()
                text = f"{name} at {row.tick_at.isoformat()} was taken {seconds:g} s late"
                yield Violation("L3", history.ended_at, text)


def the_backlog_drains(history: History) -> Iterator[Violation]:
    """L4: no job that was due well before the end is unfinished."""
    due_by = history.wall(history.ended_at - DRAINED)
    for job in history.dump.jobs:
        if job.status not in FINAL and max(job.created_at, job.run_at) <= due_by:
            text = f"job {job.id} ({job.spec.schedule or 'submitted'}) is {job.status}"
            yield Violation("L4", history.ended_at, f"{text}, due since {job.run_at.isoformat()}")


def no_ping_pong(history: History) -> Iterator[Violation]:
    """L5: leadership does not keep changing."""
    settled = history.healed_at + FAILOVER + STARTING
    gained = [each for each in history.log if each.kind == "LeadershipGained" and each.at > settled]
    if len(gained) > MOST_GAINS:
        names = ", ".join(f"{entry.by} at {entry.at:.1f} s" for entry in gained)
        yield Violation("L5", gained[-1].at, f"leadership keeps changing: {names}")
