"""Filtering: which jobs a list shows, as SQL made of fixed parts and parameters only.

Jobs are read newest first, until the page is full. Two kinds of question that would look through
everything are spared that: by time, since numbers and times rise together and so the numbers in
question can be searched for by halves; and for those that ended badly, which have an index.
"""

from __future__ import annotations

import sqlite3
from datetime import datetime, timedelta

from drumbeat.model.instant import aware
from drumbeat.model.job import JobFilter, Status
from drumbeat.model.page import PageRequest
from drumbeat.rules.paging import no_place, place_after
from drumbeat.sqlite.instants import to_microseconds, to_number
from drumbeat.stores.sqlite.sql import VIEWS

_STANDING = {
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
"""How far the times of jobs may stray from the order of their numbers."""
_LANE = "jobs.line IN (SELECT lines.id FROM lines JOIN lanes ON lanes.id = lines.lane WHERE {})"


class Filter:
    """One page of a list of jobs, newest first; one job too many is asked for."""

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
            self._parts.append(_standing(wanted.statuses))
        if wanted.task is not None:
            self._add(_LANE.format("lanes.task = :task"), task=wanted.task)
        if wanted.queue is not None:
            self._add(_LANE.format("lanes.queue = :queue"), queue=wanted.queue)
        if wanted.schedule is not None:
            self._add("jobs.schedule = :schedule", schedule=wanted.schedule)
        if wanted.tag is not None:
            tagged = "EXISTS (SELECT 1 FROM json_each(jobs.tags) WHERE value = :tag)"
            self._add(tagged, tag=wanted.tag)
        self._between(wanted.created_from, wanted.created_to)

    def narrow(self, connection: sqlite3.Connection) -> None:
        """Find out between which numbers the jobs of the wanted times are."""
        start, end = self._wanted.created_from, self._wanted.created_to
        if start is not None:
            self.values["low"] = _number_at(connection, to_number(start) - SKEW)
        if end is not None:
            last = _number_at(connection, to_number(end) + SKEW) + 1
            high = self.values["high"]
            assert isinstance(high, int), "it is a number of a job"
            self.values["high"] = min(high, last)

    @property
    def text(self) -> str:
        """The whole statement."""
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


def _number_at(connection: sqlite3.Connection, moment: int) -> int:
    """The largest number of a job that was created before an instant, about."""
    (newest,) = connection.execute(VIEWS.newest).fetchone()
    low, high = 0, (newest or 0) + 1
    while low + 1 < high:
        middle = (low + high) // 2
        found = connection.execute(VIEWS.created_from_on, (middle,)).fetchone()
        if found is not None and found[1] < moment:
            low = found[0]
        else:
            high = middle  # from there to the one that was found there is none
    return low


def _standing(statuses: frozenset[Status]) -> str:
    """Where a job may stand."""
    return f"({' OR '.join(_STANDING[status] for status in sorted(statuses))})"
