"""The query of a list of jobs, made of fixed parts and parameters only.

Jobs are read newest first, until the page is full. Some filters need no full scan: by time, since
ids rise with time, so a binary search finds the range of ids; by an end, of which one page is read;
and by jobs that wait, if they are few: their ids are listed. Where a crowd waits, the page is full
soon.
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
    Status.QUEUED: "jobs.id IN (SELECT id FROM queued{})",
    Status.RUNNING: "jobs.id IN (SELECT id FROM running)",
    Status.COMPLETED: "finished.status = 'completed'",
    Status.FAILED: "jobs.id IN (SELECT id FROM finished WHERE status = 'failed')",
    Status.CANCELLED: "jobs.id IN (SELECT id FROM finished WHERE status = 'cancelled')",
}
_IN_A_CROWD = {
    Status.PENDING: "pending.id IS NOT NULL",
    Status.QUEUED: "coalesce(finished.id, running.id, pending.id) IS NULL",
}
CROWD = 100_000
"""So many waiting jobs are not listed: that takes longer than to look at each job of the page."""
LARGEST = 2**62
SKEW = to_microseconds(timedelta(minutes=1))
"""How far creation times may differ from the order of the ids."""
_GROUPS = (
    "limit_group IN (SELECT limit_groups.id FROM limit_groups"
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
        by_lane = {"task": wanted.task, "queue": wanted.queue}
        named = {name: value for name, value in by_lane.items() if value is not None}
        self._lanes = " AND ".join(f"lanes.{name} = :{name}" for name in named)
        if named:
            self._add(f"jobs.{_GROUPS.format(self._lanes)}", **named)
        if wanted.schedule is not None:
            self._add("jobs.schedule = :schedule", schedule=wanted.schedule)
        if wanted.tag is not None:
            tagged = "EXISTS (SELECT 1 FROM json_each(jobs.tags) WHERE value = :tag)"
            self._add(tagged, tag=wanted.tag)
        marked = ((wanted.expired, VIEWS.expired), (wanted.skipped, VIEWS.skipped))
        self._parts += [f"jobs.id IN ({ids})" for asked, ids in marked if asked]
        self._between(wanted.created_from, wanted.created_to)

    def narrow(self, connection: sqlite3.Connection) -> None:
        """Find the range of ids that the wanted times allow, and how to look for the statuses."""
        if self._wanted.statuses:
            self._parts.append(self._has_status(connection))
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

    def _has_status(self, connection: sqlite3.Connection) -> str:
        statuses = self._wanted.statuses
        if all(status.final for status in statuses) and _asks_only_for_statuses(self._wanted):
            return _ended(statuses)
        groups = f" WHERE {_GROUPS.format(self._lanes)}" if self._lanes else ""
        texts = {status: _STATUS[status].format(groups) for status in statuses}
        if statuses & _IN_A_CROWD.keys():
            text = VIEWS.waiting % (self._lanes or "TRUE")
            found = connection.execute(text, self.values).fetchone()
            for status, count in zip((Status.PENDING, Status.QUEUED), found, strict=True):
                if status in statuses and count > CROWD:
                    texts[status] = _IN_A_CROWD[status]
        return f"({' OR '.join(texts[status] for status in sorted(statuses))})"

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
    """One page of each status; those that ended badly have an index."""
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
