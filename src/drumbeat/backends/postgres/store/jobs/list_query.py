"""The query of a list of jobs: SQL made of fixed parts and parameters only.

A list is found by ids first. Each part of the query (an arm) reads one page of ids from an index
that has them in the order of the list; the largest ids of all arms are the page. So the effort is
that of a few pages, however many jobs there are and whatever the planner knows about them.

The filter decides which arms there are: by tag, else by schedule, else by lane. For each of these
and for each status, an index has the finished jobs by id. An arm says `lane = ANY (ARRAY[...])`,
with one lane, and orders by it: then only the intended index has that order, and the planner does
not consider the primary key, which might have to read everything. The rest of the filter is checked
for each job on the way. Unfinished jobs, usually few, are read newest first, unless the tallies say
that there are none.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from drumbeat.backends.postgres.connection.statements import Bound
from drumbeat.model.jobs.job import FINAL, UNFINISHED, JobFilter, Status
from drumbeat.model.page import PageRequest
from drumbeat.model.time.instant import aware
from drumbeat.rules.page_position import number_after

LARGEST_ID = 2**63 - 1
TAG_KEPT = 100
"""How many characters of a tag are indexed."""
BETWEEN = ("id < (SELECT high FROM bounds)", "id > (SELECT low FROM bounds)")


class ListQuery:
    """One page of a list of jobs, newest first, and one job more."""

    def __init__(self, wanted: JobFilter, page: PageRequest, lists: Bound) -> None:
        self.values: list[object] = []
        self._wanted = wanted
        self._lists = lists
        self._size = page.size + 1
        self._times: list[str] = []
        self._high, self._low = [f"{LARGEST_ID}"], f"{-LARGEST_ID}::bigint"
        before = number_after(page, "job")
        if before is not None:
            self._high.append(f"{self._value(min(before, LARGEST_ID))}::bigint")
        self._between()
        self._lanes = self._lanes_of(wanted.task, wanted.queue)
        self._schedule = None if wanted.schedule is None else self._value(wanted.schedule)
        self._tag = None if wanted.tag is None else self._value(wanted.tag)

    def text(self, sql: Bound) -> str:
        """The whole statement, over the hot table and the archive."""
        statuses = self._wanted.statuses or frozenset(Status)
        if self._wanted.expired or self._wanted.skipped:
            statuses = frozenset({Status.CANCELLED})
        waiting, ended = statuses & UNFINISHED, statuses & FINAL
        parts: list[str] = []
        if waiting:
            parts.append(f"{sql.unfinished} WHERE id = ANY (ARRAY({self._waiting(waiting)}))")
        if ended:
            numbers = self._largest(self._arms(ended))
            parts.append(f"{sql.finished} WHERE id = ANY (ARRAY({numbers}))")
        return self._lists.page.format(
            high=", ".join(self._high),
            low=self._low,
            parts=" UNION ALL ".join(parts),
            size=self._size,
        )

    def _between(self) -> None:
        """Bound the list by creation time, and so roughly by id."""
        start, end = self._wanted.created_from, self._wanted.created_to
        if start is not None:
            mark = self._value(aware("created_from", start))
            self._times.append(f"created_at >= {mark}")
            self._low = self._lists.created_before.format(moment=mark)
        if end is not None:
            mark = self._value(aware("created_to", end))
            self._times.append(f"created_at < {mark}")
            self._high.append(self._lists.created_after.format(moment=mark))

    def _lanes_of(self, task: str | None, queue: str | None) -> str | None:
        parts = [
            f"{column} = {self._value(value)}"
            for column, value in (("task", task), ("queue", queue))
            if value is not None
        ]
        return self._lists.lanes.format(fits=" AND ".join(parts)) if parts else None

    def _waiting(self, statuses: frozenset[Status]) -> str:
        lists, size = self._lists, self._size
        in_lanes = [] if self._lanes is None else [_one_of(self._lanes)]
        fits = [*BETWEEN, *self._times, *in_lanes]
        if statuses != UNFINISHED:
            fits.append(f"status IN ({_texts(statuses)})")
        if self._schedule is not None:
            fits.append(f"schedule = {self._schedule}")
        if self._tag is not None:
            fits.append(f"tags @> ARRAY[{self._tag}::text]")
        counted = " + ".join(sorted(statuses))
        fits.append(lists.are_waiting.format(counted=counted, fits=_all(in_lanes)))
        if statuses == frozenset({Status.RUNNING}):
            return self._largest([lists.running.format(fits=_all(fits))])
        return lists.waiting.format(fits=_all(fits), size=size)

    def _arms(self, statuses: frozenset[Status]) -> Sequence[str]:
        """The ids of finished jobs, by the indexes that have them in order."""
        lists, size = self._lists, self._size
        between = [*BETWEEN, *self._times]
        if self._wanted.expired or self._wanted.skipped:
            both = ["FALSE"] if self._wanted.expired and self._wanted.skipped else []
            conditions = _all([*between, *self._all_fields(), *both])
            arm = lists.expired if self._wanted.expired else lists.skipped
            return [arm.format(fits=conditions, size=size)]
        if self._tag is not None:
            return [self._of_tag(self._tag, status) for status in sorted(statuses)]
        if self._schedule is not None:
            fits = _all(between if self._lanes is None else [*between, _one_of(self._lanes)])
            arm, given = lists.of_schedule, {"schedule": self._schedule, "fits": fits}
        elif self._lanes is None and statuses == FINAL:
            return [lists.all.format(fits=_all(between), size=size)]
        elif self._lanes is None and Status.COMPLETED not in statuses:
            arm, given = lists.not_completed, {"fits": _all(between)}
        else:
            lanes = self._lanes or lists.lanes.format(fits="TRUE")
            arm, given = lists.of_lanes, {"lanes": lanes, "fits": _all(between)}
        return [arm.format(status=status, size=size, **given) for status in sorted(statuses)]

    def _all_fields(self) -> Sequence[str]:
        """The conditions of the filter, apart from times."""
        fits = [] if self._lanes is None else [_one_of(self._lanes)]
        if self._wanted.statuses:
            fits.append(f"status IN ({_texts(self._wanted.statuses)})")
        if self._schedule is not None:
            fits.append(f"schedule = {self._schedule}")
        if self._tag is not None:
            fits.append(f"tags @> ARRAY[{self._tag}::text]")
        return fits

    def _of_tag(self, tag: str, status: Status) -> str:
        fits = [*self._times]
        if len(self._wanted.tag or "") > TAG_KEPT:
            fits.append(f"tags @> ARRAY[{tag}::text]")
        if self._schedule is not None:
            fits.append(f"schedule = {self._schedule}")
        if self._lanes is not None:
            fits.append(_one_of(self._lanes))
        return self._lists.of_tag.format(
            tag=tag, kept=TAG_KEPT, status=status, fits=_all(fits), size=self._size
        )

    def _largest(self, arms: Sequence[str]) -> str:
        return self._lists.largest.format(arms=" UNION ALL ".join(arms), size=self._size)

    def _value(self, value: object) -> str:
        self.values.append(value)
        return f"${len(self.values)}"


def _texts(statuses: frozenset[Status]) -> str:
    return ", ".join(f"'{status}'" for status in sorted(statuses))


def _one_of(lanes: str) -> str:
    return f"lane = ANY (ARRAY({lanes}))"


def _all(conditions: Collection[str]) -> str:
    return " AND ".join(conditions) or "TRUE"
