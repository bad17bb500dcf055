"""Stranding: bounds the jobs that wait for a node that knows their task.

After code is rolled back, a schedule that only the newer code declared stays in the store, and its
ticks submit jobs that no node can run. The overlap policies other than `allow` keep these at one or
two. With `allow` they would pile up without end.

Whether any node knows a task is not recorded anywhere, but its jobs show it: in a rolling
deployment an old leader does not know the new task, and new workers run its jobs. So only both
together stop a schedule: the leader does not know the task, and many of its jobs wait. When a node
that knows the task has worked some of them off, ticks fire again.
"""

from __future__ import annotations

from collections.abc import Sequence

from drumbeat.model.job import Status
from drumbeat.model.plan import SkipReason
from drumbeat.model.policy import Overlap
from drumbeat.model.schedule import DueSchedule
from drumbeat.rules.verdicts import Verdict, open_places, withhold

MOST_STRANDED = 100
"""Jobs of a schedule that may wait for a node that knows their task."""


def may_be_stranded(due: DueSchedule, known: frozenset[str]) -> bool:
    """Whether the schedule's waiting jobs have to be counted before it is planned."""
    schedule, previous = due.stored.schedule, due.previous
    if schedule.task in known or schedule.policies.overlap is not Overlap.ALLOW:
        return False
    return previous is not None and previous.status is Status.QUEUED


def stranded(waiting: int | None, verdicts: Sequence[Verdict]) -> Sequence[Verdict]:
    """The verdicts, with all ticks withheld if too many jobs wait for a node that knows them."""
    if waiting is None or waiting < MOST_STRANDED:
        return verdicts
    judged = list(verdicts)
    withhold(open_places(verdicts), SkipReason.UNKNOWN_TASK, judged)
    return judged
