"""Limit groups: the jobs of one lane that share their limits and their rate."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from drumbeat.backends.sqlite.store.sql import JOBS, json_list
from drumbeat.model.encoding.document import limits_from_text, rate_from_text
from drumbeat.model.jobs.job import JobSpec, Limit, Rate, Wanted

MOST = 100_000
"""Limit groups that are kept in memory."""

Kind: TypeAlias = tuple[str, str, tuple[Limit, ...], Rate | None]
"""Queue, task, limits and rate."""


class GroupRow(NamedTuple):
    """A limit group as the file has it."""

    id: int
    lane: int
    queue: str
    task: str
    limits: str
    rate: str


class LimitGroup:
    """What its jobs have in common. Its id is never given to another group."""

    __slots__ = ("id", "keys", "lane", "limited", "limits", "queue", "rate", "task")

    def __init__(self, number: int, lane: int, kind: Kind) -> None:
        self.id = number
        self.lane = lane
        self.queue, self.task, self.limits, self.rate = kind
        self.keys = tuple(limit.key for limit in self.limits)
        self.limited = bool(self.limits) or self.rate is not None


class LimitGroups:
    """The limit groups and lanes that this process has read, shared by all its threads."""

    def __init__(self) -> None:
        self._by_id: dict[int, LimitGroup] = {}
        self._by_kind: dict[Kind, LimitGroup] = {}
        self._lanes: dict[tuple[str, str], int] = {}
        self._generation = -1
        self._newest = 0

    def get(self, connection: sqlite3.Connection, number: int) -> LimitGroup:
        group = self._by_id.get(number)
        if group is None:
            row = connection.execute(JOBS.group_by_id, (number,)).fetchone()
            group = self._keep(GroupRow._make(row))
        return group

    def load(self, connection: sqlite3.Connection, numbers: Iterable[int]) -> None:
        """Read many at once."""
        missing = {number for number in numbers if number not in self._by_id}
        if missing:
            for row in connection.execute(JOBS.groups_by_id, (json_list(missing),)).fetchall():
                self._keep(GroupRow._make(row))

    def known(self, spec: JobSpec) -> LimitGroup | None:
        """The group of a job, if this process has met it since the last deletion of groups."""
        return self._by_kind.get((spec.queue, spec.task, spec.limits, spec.rate))

    def learn(self, group: LimitGroup) -> None:
        """Remember the group for the jobs that belong to it."""
        if len(self._by_kind) >= MOST:
            self._by_kind.clear()
        self._by_kind[group.queue, group.task, group.limits, group.rate] = group
        self._by_id[group.id] = group

    def refresh(self, connection: sqlite3.Connection, newest: int, generation: int) -> None:
        """Learn what other processes did: lanes that they created, groups that they deleted."""
        if generation != self._generation:
            self.forget()
            self._generation = generation
        if newest > self._newest:
            for number, queue, task in connection.execute(JOBS.lanes_after, (self._newest,)):
                self._lanes[queue, task] = number
            self._newest = newest

    def lane(self, queue: str, task: str) -> int | None:
        return self._lanes.get((queue, task))

    def add_lane(self, queue: str, task: str, number: int) -> None:
        self._lanes[queue, task] = number

    def wanted(self, wanted: Wanted) -> list[int]:
        """The lanes that a worker looks at."""
        queues, tasks = wanted.queues, wanted.tasks
        return [
            number
            for (queue, task), number in self._lanes.items()
            if queue in queues and task in tasks
        ]

    def forget(self) -> None:
        """Drop every id that was found by the fields of a job: it may have been deleted."""
        self._by_kind.clear()
        self._lanes.clear()
        self._newest = 0

    def _keep(self, row: GroupRow) -> LimitGroup:
        if len(self._by_id) >= MOST:
            self._by_id.clear()
        kind = (row.queue, row.task, limits_from_text(row.limits), rate_from_text(row.rate))
        group = self._by_id[row.id] = LimitGroup(row.id, row.lane, kind)
        return group
