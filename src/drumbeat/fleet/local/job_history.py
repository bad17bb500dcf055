"""The history of the numbers of jobs over the last hour, as this process looked at the queues."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

from drumbeat.model.jobs.job import Status
from drumbeat.model.jobs.queue import Queues
from drumbeat.wire.overview import HistoryView

APART = timedelta(seconds=4)
WINDOW = timedelta(hours=1)
MOST = 900
RESTARTED = timedelta(minutes=2)
"""After a longer time without a look the throughput between is not told as if it were even."""


@dataclass(frozen=True, slots=True)
class _Look:
    at: datetime
    waiting: dict[Status, int]
    ended: dict[Status, int]


class JobHistory:
    """The last looks, all queues together."""

    def __init__(self) -> None:
        self._looks: deque[_Look] = deque(maxlen=MOST)

    def note(self, seen: Queues) -> None:
        """Remember a look."""
        if self._looks and seen.as_of - self._looks[-1].at < APART:
            return
        waiting, ended = dict.fromkeys(Status, 0), dict.fromkeys(Status, 0)
        for queue in seen.queues:
            for status, count in queue.counts.items():
                waiting[status] += count
            for status, count in queue.totals.items():
                ended[status] += count
        self._looks.append(_Look(seen.as_of, waiting, ended))
        while self._looks[0].at < seen.as_of - WINDOW:
            self._looks.popleft()

    def view(self) -> HistoryView:
        """The history; each point tells the throughput since the one before."""
        steps = list(pairwise(self._looks))
        return HistoryView(
            at=tuple(now.at for _, now in steps),
            queued=tuple(now.waiting[Status.QUEUED] for _, now in steps),
            running=tuple(now.waiting[Status.RUNNING] for _, now in steps),
            pending=tuple(now.waiting[Status.PENDING] for _, now in steps),
            completed_per_minute=tuple(_rate(*step, Status.COMPLETED) for step in steps),
            failed_per_minute=tuple(_rate(*step, Status.FAILED) for step in steps),
        )


def _rate(before: _Look, now: _Look, status: Status) -> float | None:
    over = now.at - before.at
    if over > RESTARTED:
        return None
    ended = max(0, now.ended[status] - before.ended[status])
    return round(ended / (over / timedelta(minutes=1)), 2)
