"""How many jobs of each queue end in a minute, by the totals of two reads of the queues.

Every read of the queues is kept for a while, so that no store has to count for this. A queue that
was read only once has no rate yet.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

from msgspec.structs import replace

from drumbeat.model.jobs.job import Status
from drumbeat.model.jobs.queue import QueueRecord, Queues
from drumbeat.wire.queue import QueueView, queue_view

WINDOW = timedelta(minutes=5)
"""The time that rates are reckoned over, if there were looks often enough."""
APART = timedelta(seconds=2)
"""Looks that are closer together than this are one."""
MOST = 200
MOST_QUEUES = 2_000
"""Queues that a look remembers; more have no rates."""


@dataclass(frozen=True, slots=True)
class QueueRate:
    """How many jobs ended how in a minute, over a stretch of time."""

    per_minute: Mapping[Status, float]
    over: timedelta


@dataclass(frozen=True, slots=True)
class _Look:
    at: datetime
    totals: Mapping[str, Mapping[Status, int]]


class QueueRates:
    """The last looks at the queues."""

    def __init__(self) -> None:
        self._looks: deque[_Look] = deque(maxlen=MOST)

    def note(self, seen: Queues) -> None:
        """Remember a look."""
        if self._looks and seen.as_of - self._looks[-1].at < APART:
            return
        self._looks.append(_Look(seen.as_of, _totals(seen)))
        while len(self._looks) > 2 and self._looks[1].at <= seen.as_of - WINDOW:
            self._looks.popleft()

    def of(self, queue: QueueRecord, as_of: datetime) -> QueueRate | None:
        """The rate of a queue up to this look; None: there was none long enough before it."""
        first = self._looks[0] if self._looks else None
        if first is None or as_of - first.at < APART:
            return None
        over = as_of - first.at
        now = queue.totals
        before: Mapping[Status, int] = first.totals.get(queue.name, {})
        if not before and len(first.totals) >= MOST_QUEUES:
            return None
        minutes = over / timedelta(minutes=1)
        return QueueRate(
            {
                status: max(0, now.get(status, 0) - before.get(status, 0)) / minutes
                for status in Status
                if status.final
            },
            over,
        )


def queue_with_rate(record: QueueRecord, seen: Queues, rates: QueueRates) -> QueueView:
    """The view of a queue, with its rate if there is one."""
    view = queue_view(record, seen.as_of)
    rate = rates.of(record, seen.as_of)
    if rate is None:
        return view
    return replace(
        view,
        per_minute={status: round(value, 3) for status, value in rate.per_minute.items()},
        per_minute_over_seconds=rate.over.total_seconds(),
    )


def _totals(seen: Queues) -> Mapping[str, Mapping[Status, int]]:
    ended = (each for each in seen.queues if each.totals)
    return {each.name: each.totals for each in islice(ended, MOST_QUEUES)}
