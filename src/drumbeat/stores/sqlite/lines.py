"""Lines: what jobs of one lane, with the same limits and the same rate, have in common."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Any, TypeAlias

from drumbeat.model.document import limits_from_text, rate_from_text
from drumbeat.model.job import JobSpec, Limit, Rate, Wanted
from drumbeat.stores.sqlite.sql import JOBS, listed

MOST = 100_000
"""Lines that are kept in memory."""

Kind: TypeAlias = tuple[str, str, tuple[Limit, ...], Rate | None]


class Line:
    """One of them. Its number is never given to another."""

    __slots__ = ("id", "keys", "lane", "limited", "limits", "queue", "rate", "task")

    def __init__(self, number: int, lane: int, kind: Kind) -> None:
        self.id = number
        self.lane = lane
        self.queue, self.task, self.limits, self.rate = kind
        self.keys = tuple(limit.key for limit in self.limits)
        self.limited = bool(self.limits) or self.rate is not None


class Lines:
    """The lines that this process has met, shared by all its threads."""

    def __init__(self) -> None:
        self._by_number: dict[int, Line] = {}
        self._by_kind: dict[Kind, Line] = {}
        self._lanes: dict[tuple[str, str], int] = {}
        self._generation = -1
        self._newest = 0

    def get(self, connection: sqlite3.Connection, number: int) -> Line:
        """The line of a number."""
        line = self._by_number.get(number)
        if line is None:
            line = self._keep(connection.execute(JOBS.line_by_id, (number,)).fetchone())
        return line

    def load(self, connection: sqlite3.Connection, numbers: Iterable[int]) -> None:
        """Make sure of many at once."""
        missing = {number for number in numbers if number not in self._by_number}
        if missing:
            for row in connection.execute(JOBS.lines_by_id, (listed(missing),)).fetchall():
                self._keep(row)

    def known(self, spec: JobSpec) -> Line | None:
        """The line that a job belongs to, if it was met since the last one was forgotten."""
        return self._by_kind.get((spec.queue, spec.task, spec.limits, spec.rate))

    def learn(self, line: Line) -> None:
        """Remember a line for the jobs that belong to it."""
        if len(self._by_kind) >= MOST:
            self._by_kind.clear()
        self._by_kind[line.queue, line.task, line.limits, line.rate] = line
        self._by_number[line.id] = line

    def refresh(self, connection: sqlite3.Connection, newest: int, generation: int) -> None:
        """Take up what other processes did: lanes that they made, lines that they forgot."""
        if generation != self._generation:
            self.forget()
            self._generation = generation
        if newest > self._newest:
            for number, queue, task in connection.execute(JOBS.lanes_after, (self._newest,)):
                self._lanes[queue, task] = number
            self._newest = newest

    def lane(self, queue: str, task: str) -> int | None:
        """The lane of a task in a queue, if there is one."""
        return self._lanes.get((queue, task))

    def add_lane(self, queue: str, task: str, number: int) -> None:
        """A lane was made just now."""
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
        """Trust no number any more that a job's description led to."""
        self._by_kind.clear()
        self._lanes.clear()
        self._newest = 0

    def _keep(self, row: tuple[Any, ...]) -> Line:
        number, lane, queue, task, limits, rate = row
        if len(self._by_number) >= MOST:
            self._by_number.clear()
        kind = (queue, task, limits_from_text(limits), rate_from_text(rate))
        line = self._by_number[number] = Line(number, lane, kind)
        return line
