"""What needs attention in a fleet: decided from the facts, the most urgent first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from drumbeat.model.fleet.attention import Attention, AttentionKind
from drumbeat.model.fleet.lease import SCHEDULER, TermRecord
from drumbeat.model.fleet.node import NodeRecord
from drumbeat.model.ids import label_of
from drumbeat.model.jobs.job import Job, Status
from drumbeat.model.jobs.queue import QueueRecord
from drumbeat.model.schedules.plan import Outcome, SkipReason, TickRecord
from drumbeat.model.schedules.schedule import StoredSchedule
from drumbeat.model.text import counted, last_line
from drumbeat.rules.human_time import short
from drumbeat.rules.jobs.waiting import workers_of
from drumbeat.rules.schedules.explanation import REASONS
from drumbeat.rules.schedules.overdue import overdue
from drumbeat.rules.schedules.schedule_state import AllSchedules

OLD = timedelta(minutes=5)
"""A queue whose oldest job waits for longer needs attention."""
LATELY = timedelta(hours=24)
"""Skipped ticks, dead nodes and leader changes of that time are told."""
STEADY = 3
"""More changes of the leader than that within `LATELY` need attention."""
MOST = 50
"""Schedules of one kind that are told by name."""
UNWANTED = frozenset(
    {
        SkipReason.MISSED_WINDOW,
        SkipReason.COALESCED,
        SkipReason.OVERLAP,
        SkipReason.CAP,
        SkipReason.TOO_EXPENSIVE,
        SkipReason.UNKNOWN_TASK,
    }
)
"""Ticks that were skipped without anybody having wanted it."""


@dataclass(frozen=True, slots=True)
class FleetFacts:
    """What is known about a fleet at one moment."""

    now: datetime
    leader: str | None
    schedules: AllSchedules
    failures: Sequence[Job]
    """The newest failed jobs of each failing schedule."""
    skipped: Sequence[TickRecord]
    """The last rows of all ledgers."""
    queues: Sequence[QueueRecord]
    nodes: Sequence[NodeRecord]
    terms: Sequence[TermRecord]
    """The last terms, the latest first."""


def attention_of(facts: FleetFacts) -> list[Attention]:
    """What needs attention, the most urgent first."""
    found = [*_elections(facts), *_schedules(facts), *_missed(facts), *_queues(facts)]
    found += _nodes(facts)
    order = list(AttentionKind)
    return sorted(found, key=lambda each: order.index(each.kind))


def _elections(facts: FleetFacts) -> Iterator[Attention]:
    waiting = any(each.next_tick and not each.paused for each in facts.schedules.stored)
    if facts.leader is None and waiting:
        advice = "Nobody leads, so no tick fires: start a node with the role scheduler."
        yield Attention(AttentionKind.NO_LEADER, SCHEDULER, advice)
    lately = [each for each in facts.terms if facts.now - each.since <= LATELY]
    if len(lately) > STEADY:
        yield Attention(
            AttentionKind.LEADER_CHANGES,
            SCHEDULER,
            f"The leader changed {len(lately)} times within a day.",
            lately[0].since,
            len(lately),
        )


def _schedules(facts: FleetFacts) -> Iterator[Attention]:
    every = facts.schedules
    late = [each for each in every.stored if overdue(each.next_tick, facts.now, paused=each.paused)]
    late.sort(key=lambda each: each.next_tick or facts.now)
    for each in late[:MOST]:
        yield _overdue(each, facts.now)
    for job in facts.failures[:MOST]:
        why = f": {last_line(job.error)}" if job.error else "."
        yield Attention(
            AttentionKind.FAILING,
            job.spec.schedule or "",
            f"Its last run failed{why}",
            job.finished_at,
        )
    if every.undeclared:
        count = len(every.undeclared)
        yield Attention(
            AttentionKind.UNDECLARED,
            _names(every.undeclared),
            f"Code no longer declares {counted(count, 'schedule')}; "
            f"{'it' if count == 1 else 'they'} still fire{'s' if count == 1 else ''}.",
            count=count,
        )
    if every.unknown:
        count = len(every.unknown)
        yield Attention(
            AttentionKind.UNKNOWN_TASK,
            _names(every.unknown),
            f"The code of this server does not know the task of {counted(count, 'schedule')}: "
            "it was removed, or another app has it.",
            count=count,
        )


def _names(all_of_them: Collection[str]) -> str:
    names = ", ".join(sorted(all_of_them)[:3])
    return names if len(all_of_them) <= 3 else f"{names}, ..."


def _overdue(stored: StoredSchedule, now: datetime) -> Attention:
    late = short(now - stored.next_tick) if stored.next_tick else ""
    return Attention(
        AttentionKind.OVERDUE, stored.name, f"Its tick is overdue by {late}.", stored.next_tick
    )


def _missed(facts: FleetFacts) -> Iterator[Attention]:
    rows = [
        each
        for each in facts.skipped
        if each.outcome is Outcome.SKIPPED and each.reason in UNWANTED
    ]
    counts: Counter[tuple[str, SkipReason]] = Counter()
    latest: dict[tuple[str, SkipReason], datetime] = {}
    for row in rows:
        assert row.reason is not None
        key = (row.schedule, row.reason)
        counts[key] += row.count
        latest.setdefault(key, row.through)
    for (name, reason), count in list(counts.items())[:MOST]:
        yield Attention(
            AttentionKind.MISSED,
            name,
            f"{counted(count, 'tick')} skipped: {REASONS[reason]}.",
            latest[name, reason],
            count,
        )


def _queues(facts: FleetFacts) -> Iterator[Attention]:
    live = [each.node for each in facts.nodes if each.alive]
    for queue in facts.queues:
        waiting = queue.counts.get(Status.QUEUED, 0)
        if queue.oldest_at is None or not waiting:
            continue
        age = facts.now - queue.oldest_at
        jobs = f"{counted(waiting, 'job')} wait{'s' if waiting == 1 else ''}"
        if queue.paused is not None:
            why = f" ({queue.paused.reason})" if queue.paused.reason else ""
            message = f"It is paused{why}, and {jobs}."
            since = queue.paused.since
            yield Attention(AttentionKind.PAUSED_QUEUE, queue.name, message, since, waiting)
        elif not workers_of(queue.name, live):
            message = f"No live worker serves it, and {jobs}."
            yield Attention(AttentionKind.NO_WORKER, queue.name, message, queue.oldest_at, waiting)
        elif age > OLD:
            message = f"Its oldest job has waited for {short(age)}, and {jobs}."
            yield Attention(AttentionKind.OLD_QUEUE, queue.name, message, queue.oldest_at, waiting)


def _nodes(facts: FleetFacts) -> Iterator[Attention]:
    for record in facts.nodes:
        if record.died and facts.now - record.expires_at <= LATELY:
            busy = f" It held {counted(record.node.busy, 'job')}." if record.node.busy else ""
            yield Attention(
                AttentionKind.DEAD_NODE,
                label_of(record.node.id),
                f"It stopped without saying so.{busy}",
                record.expires_at,
            )
