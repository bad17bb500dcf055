"""Filtering: which jobs a list shows, as SQL made of fixed parts and parameters only."""

from __future__ import annotations

from datetime import datetime

from drumbeat.model.instant import aware
from drumbeat.model.job import FINAL, UNFINISHED, JobFilter
from drumbeat.model.page import PageRequest
from drumbeat.postgres.statements import Bound
from drumbeat.rules.paging import no_place, place_after

_LANES = "lane = ANY (ARRAY(SELECT l.id FROM {schema}.lanes AS l WHERE l.{column} = {value}))"
LARGEST_ID = 2**63 - 1


class Filter:
    """One page of a list of jobs, newest first; one job too many is asked for."""

    def __init__(self, wanted: JobFilter, page: PageRequest, schema: str) -> None:
        self.values: list[object] = []
        self._schema = schema
        self._wanted = wanted
        self._size = page.size + 1
        self._parts: list[str] = []
        after = place_after(page, "job")
        if after is not None:
            if not after.isdecimal() or int(after) > LARGEST_ID:
                raise no_place(page)
            self._add("id < {}", int(after))
        if wanted.statuses:
            self._add("status = ANY ({})", [status.value for status in sorted(wanted.statuses)])
        for column, value in (("task", wanted.task), ("queue", wanted.queue)):
            if value is not None:
                self._add_lanes(column, value)
        if wanted.schedule is not None:
            self._add("schedule = {}", wanted.schedule)
        if wanted.tag is not None:
            self._add("tags @> ARRAY[{}::text]", wanted.tag)
        self._between(wanted.created_from, wanted.created_to)

    def text(self, sql: Bound) -> str:
        """The whole statement: of the hot table and the archive, as far as they may have some."""
        statuses = self._wanted.statuses
        condition = " AND ".join(self._parts) or "TRUE"
        tail = f" WHERE {condition} ORDER BY id DESC LIMIT {self._size:d}"
        parts: list[str] = []
        if not statuses or statuses & UNFINISHED:
            parts.append(f"({sql.unfinished}{tail})")
        if not statuses or statuses & FINAL:
            parts.append(f"({sql.finished}{tail})")
        if len(parts) == 1:
            return parts[0]
        return f"{' UNION ALL '.join(parts)} ORDER BY id DESC LIMIT {self._size:d}"

    def _between(self, start: datetime | None, end: datetime | None) -> None:
        if start is not None:
            self._add("created_at >= {}", aware("created_from", start))
        if end is not None:
            self._add("created_at < {}", aware("created_to", end))

    def _add(self, part: str, value: object) -> None:
        self.values.append(value)
        self._parts.append(part.format(f"${len(self.values)}"))

    def _add_lanes(self, column: str, value: str) -> None:
        self.values.append(value)
        self._parts.append(
            _LANES.format(schema=self._schema, column=column, value=f"${len(self.values)}")
        )
