"""Filtering: which jobs a list shows, as SQL made of fixed parts and parameters only."""

from __future__ import annotations

from datetime import datetime

from drumbeat.model.instant import aware
from drumbeat.model.job import JobFilter, Status
from drumbeat.model.page import PageRequest
from drumbeat.rules.paging import no_place, place_after
from drumbeat.sqlite.instants import to_number
from drumbeat.stores.sqlite.sql import VIEWS

_STANDING = {
    Status.PENDING: "jobs.id IN (SELECT id FROM pending)",
    Status.QUEUED: "jobs.id IN (SELECT id FROM queued)",
    Status.RUNNING: "jobs.id IN (SELECT id FROM running)",
    Status.COMPLETED: "finished.status = 'completed'",
    Status.FAILED: "jobs.id IN (SELECT id FROM finished WHERE status = 'failed')",
    Status.CANCELLED: "jobs.id IN (SELECT id FROM finished WHERE status = 'cancelled')",
}
_LANE = "jobs.line IN (SELECT lines.id FROM lines JOIN lanes ON lanes.id = lines.lane WHERE {})"


class Filter:
    """One page of a list of jobs, newest first; one job too many is asked for."""

    def __init__(self, wanted: JobFilter, page: PageRequest) -> None:
        self.values: dict[str, object] = {"limit": page.size + 1}
        self._parts: list[str] = []
        after = place_after(page, "job")
        if after is not None:
            if not after.isdecimal():
                raise no_place(page)
            self._add("jobs.id < :after", after=int(after))
        if wanted.statuses:
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


def _standing(statuses: frozenset[Status]) -> str:
    """Where a job may stand."""
    return f"({' OR '.join(_STANDING[status] for status in sorted(statuses))})"
