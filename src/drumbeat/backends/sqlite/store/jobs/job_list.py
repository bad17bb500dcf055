"""The query of a list of jobs, made of fixed parts and parameters only.

Jobs are read newest first, until the page is full. Two kinds of filter need no full scan: by time,
since ids rise with time, so a binary search finds the range of ids; and by a bad end, which has an
index.
"""

from __future__ import annotations

import sqlite3
from datetime import datetime, timedelta

from drumbeat.backends.sqlite.connection.times import to_microseconds, to_number
from drumbeat.backends.sqlite.store.sql import VIEWS
from drumbeat.model.jobs.job import JobFilter, Status
from drumbeat.model.page import PageRequest
from drumbeat.model.time.instant import aware
from drumbeat.rules.page_position import no_place, place_after

_STATUS = {
    Status.PENDING: "jobs.id IN (SELECT id FROM pending)",
    Status.QUEUED: "jobs.id IN (SELECT id FROM queued)",
    Status.RUNNING: "jobs.id IN (SELECT id FROM running)",
    Status.COMPLETED: "finished.status = 'completed'",
    Status.FAILED: "jobs.id IN (SELECT id FROM finished WHERE status = 'failed')",
    Status.CANCELLED: "jobs.id IN (SELECT id FROM finished WHERE status = 'cancelled')",
}
BADLY = frozenset({Status.FAILED, Status.CANCELLED})
LARGEST = 2**62
SKEW = to_microseconds(timedelta(minutes=1))
"""How far creation times may differ from the order of the ids."""
_LANE = (
    "jobs.limit_group IN (SELECT limit_groups.id FROM limit_groups"
    " JOIN lanes ON lanes.id = limit_groups.lane WHERE {})"
)


class JobQuery:
    """One page of a list of jobs, newest first, and one job more to see whether there are more."""

    def __init__(self, wanted: JobFilter, page: PageRequest) -> None:
        self.values: dict[str, object] = {"limit": page.size + 1, "high": LARGEST, "low": -LARGEST}
        self._parts: list[str] = ["jobs.id < :high", "jobs.id > :low"]
        self._wanted = wanted
        after = place_after(page, "job")
        if after is not None:
            if not after.isdecimal():
                raise no_place(page)
            self.values["high"] = min(int(after), LARGEST)
        if wanted.statuses and wanted.statuses <= BADLY and _asks_only_for_statuses(wanted):
            self._parts.append(_ended(wanted.statuses))
        elif wanted.statuses:
            self._parts.append(_has_status(wanted.statuses))
        if wanted.task is not None:
            self._add(_LANE.format("lanes.task = :task"), task=wanted.task)
        if wanted.queue is not None:
            self._add(_LANE.format("lanes.queue = :queue"), queue=wanted.queue)
        if wanted.schedule is not None:
            self._add("jobs.schedule = :schedule", schedule=wanted.schedule)
        if wanted.tag is not None:
            tagged = "EXISTS (SELECT 1 FROM json_each(jobs.tags) WHERE value = :tag)"
            self._add(tagged, tag=wanted.tag)
        marked = ((wanted.expired, VIEWS.expired), (wanted.skipped, VIEWS.skipped))
        self._parts += [f"jobs.id IN ({ids})" for asked, ids in marked if asked]
        self._between(wanted.created_from, wanted.created_to)

    def narrow(self, connection: sqlite3.Connection) -> None:
        """Find the range of ids that the wanted times allow."""
        start, end = self._wanted.created_from, self._wanted.created_to
        if start is not None:
            self.values["low"] = _id_at(connection, to_number(start) - SKEW)
        if end is not None:
            last = _id_at(connection, to_number(end) + SKEW) + 1
            high = self.values["high"]
            assert isinstance(high, int), "it is the id of a job"
            self.values["high"] = min(high, last)

    @property
    def text(self) -> str:
        condition = " AND ".join(self._parts) or "TRUE"
        return VIEWS.jobs % f"{condition} ORDER BY jobs.id DESC LIMIT :limit"

    def _between(self, start: datetime | None, end: datetime | None) -> None:
        if start is not None:
            first = to_number(aware("created_from", start))
            self._add("jobs.created_at >= :created_from", created_from=first)
        if end is not None:
            last = to_number(aware("created_to", end))
            self._add("jobs.created_at < :created_to", created_to=last)

    def _add(self, part: str, **values: object) -> None:
        self._parts.append(part)
        self.values.update(values)


def _asks_only_for_statuses(wanted: JobFilter) -> bool:
    return wanted == JobFilter(wanted.statuses)


def _ended(statuses: frozenset[Status]) -> str:
    """One page of each status, by the index of those that ended badly."""
    pages = " UNION ALL ".join(VIEWS.ended % status for status in sorted(statuses))
    return f"jobs.id IN ({pages})"


def _id_at(connection: sqlite3.Connection, moment: int) -> int:
    """The largest id of a job that was created before an instant, approximately."""
    (newest,) = connection.execute(VIEWS.newest).fetchone()
    low, high = 0, (newest or 0) + 1
    while low + 1 < high:
        middle = (low + high) // 2
        found = connection.execute(VIEWS.created_from_on, (middle,)).fetchone()
        job_id, created_at = found or (middle, moment)
        if created_at < moment:
            low = job_id
        else:
            high = middle  # there is none from there to the one that was found
    return low


def _has_status(statuses: frozenset[Status]) -> str:
    return f"({' OR '.join(_STATUS[status] for status in sorted(statuses))})"
