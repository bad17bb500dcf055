"""Overlap: which ticks fire while the job of an earlier tick is unfinished.

A schedule that does not allow overlap has at most one running job and one job that waits behind
it. Only the last job, the *previous* one, is known. If it waits, the job before it may be running,
so both places count as taken. Ticks of one plan are treated as if they came one by one and each job
started at once.

This decides only which jobs are created. That two jobs of such a schedule never run at once is
guaranteed by the store: they share a limit of one (`tick_job.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from drumbeat.model.jobs.job import Status
from drumbeat.model.schedules.plan import SkipReason
from drumbeat.model.schedules.policy import Overlap
from drumbeat.model.schedules.schedule import Previous
from drumbeat.rules.planning.verdicts import Verdict, open_places, skipped


def overlapped(
    policy: Overlap, previous: Previous | None, verdicts: Sequence[Verdict]
) -> Sequence[Verdict]:
    if len(verdicts) == 1 and not unfinished(previous):
        return verdicts  # nothing to overlap with: the usual case
    places = open_places(verdicts)
    chosen = firing(policy, previous, len(places))
    overlapping = places[: chosen.start] + places[chosen.stop :]
    return skipped(verdicts, overlapping, SkipReason.OVERLAP)


def firing(policy: Overlap, previous: Previous | None, count: int) -> range:
    """Which of `count` ticks fire, as a range of their places; the others overlap."""
    match policy:
        case Overlap.SKIP:
            return range(min(count, max(0, 1 - places_taken(previous))))
        case Overlap.ALLOW:
            return range(count)
        case Overlap.QUEUE_ONE:
            return range(min(count, 2 - places_taken(previous)))
        case Overlap.REPLACE:
            # Each would replace the one before it: only the last would be left.
            return range(max(0, count - 1), count)
        case _ as never:
            assert_never(never)


def places_taken(previous: Previous | None) -> int:
    """0: no unfinished job; 1: one is running; 2: one waits, perhaps for a running one."""
    if previous is None or previous.status.final:
        return 0
    return 1 if previous.status is Status.RUNNING else 2


def unfinished(previous: Previous | None) -> bool:
    return previous is not None and not previous.status.final
