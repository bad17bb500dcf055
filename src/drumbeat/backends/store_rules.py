"""What every store does in the same way: its checks, its reasons, and how queues are listed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TypeVar

from drumbeat.model.errors import IllegalChange
from drumbeat.model.jobs.job import JobSpec, Settlement, Status
from drumbeat.model.jobs.queue import PausedQueue, QueueRecord
from drumbeat.model.page import Page
from drumbeat.model.time.instant import aware
from drumbeat.rules.jobs.totals import totals
from drumbeat.rules.jobs.transitions import SETTLING, after
from drumbeat.rules.page_position import cut, place

Item = TypeVar("Item")

HISTORY = 100
"""How many ended attempts of a job are kept."""
LIMIT_REACHED = "its limit was reached when its turn came"
MOST_EXPIRED = 1_000
"""How many expired jobs one claim ends at most. After so many it claims nothing."""
SETTLED = {change: after(Status.RUNNING, change) for change in SETTLING}
"""The status of a running job after a change. A pending one may be queued at once instead."""
REPLACED = "replaced by a later tick of its schedule"


def check_times(specs: Sequence[JobSpec]) -> None:
    """Reject a job with a time that has no zone, before anything is written."""
    for spec in specs:
        if spec.run_at is not None:
            aware("run_at", spec.run_at)
        if isinstance(spec.expires, datetime):
            aware("expires", spec.expires)


def check_settlements(settlements: Sequence[Settlement]) -> None:
    """Reject a change that no settlement may make, before anything is written."""
    for settlement in settlements:
        if settlement.change not in SETTLING:
            raise IllegalChange(Status.RUNNING, settlement.change)


def page_of(
    items: Iterable[Item], size: int, kind: str, key: Callable[[Item], object]
) -> Page[Item]:
    """A page of the items, which are at least one more than its size if there are more."""
    taken, more = cut(items, size)
    return Page(taken, place(kind, key(taken[-1])) if more else None)


def counted(statuses: Sequence[Status], numbers: Sequence[int]) -> dict[Status, int]:
    """The numbers by status, without those that are zero."""
    return {status: count for status, count in zip(statuses, numbers, strict=True) if count}


def queue_records(
    counts: Mapping[str, Mapping[Status, int]],
    oldest: Mapping[str, datetime],
    paused: Mapping[str, PausedQueue],
    pruned: Mapping[str, Mapping[Status, int]],
) -> tuple[QueueRecord, ...]:
    """All queues that have or had jobs, or that are paused, by name."""
    return tuple(
        QueueRecord(
            name,
            counts.get(name, {}),
            oldest.get(name),
            paused.get(name),
            totals(counts.get(name, {}), pruned.get(name, {})),
        )
        for name in sorted({*counts, *paused, *pruned})
    )
