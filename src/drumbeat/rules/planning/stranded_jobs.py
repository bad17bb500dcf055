"""Stranded jobs: bounds the number of jobs that wait for a node that knows their task.

After code is rolled back, a schedule that only the newer code declared stays in the store, and its
ticks submit jobs that no node can run. The overlap policies other than `allow` keep these at one or
two. With `allow` they would pile up without end.

Which nodes know a task is not recorded. In a rolling deployment an old leader does not know a new
task, but new workers run its jobs. So ticks are skipped only under two conditions: the leader does
not know the task, and many of its jobs wait. When a node has run some of them, ticks fire again.
"""

from __future__ import annotations

from collections.abc import Sequence

from drumbeat.model.jobs.job import Status
from drumbeat.model.schedules.plan import SkipReason
from drumbeat.model.schedules.policy import Overlap
from drumbeat.model.schedules.schedule import DueSchedule
from drumbeat.rules.planning.verdicts import Verdict, open_places, skipped

MOST_STRANDED = 100
"""Jobs of a schedule that may wait for a node that knows their task."""


def may_be_stranded(due: DueSchedule, known: frozenset[str]) -> bool:
    """Whether the schedule's waiting jobs have to be counted before it is planned."""
    schedule, previous = due.stored.schedule, due.previous
    if schedule.task in known or schedule.policies.overlap is not Overlap.ALLOW:
        return False
    return previous is not None and previous.status is Status.QUEUED


def stranded(waiting: int | None, verdicts: Sequence[Verdict]) -> Sequence[Verdict]:
    """The verdicts, with all open ticks skipped if too many jobs wait for a suitable node."""
    if waiting is None or waiting < MOST_STRANDED:
        return verdicts
    return skipped(verdicts, open_places(verdicts), SkipReason.UNKNOWN_TASK)
