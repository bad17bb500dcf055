"""Arrivals: new jobs of the usual kind, to run at once, until they are written.

Jobs that come together are mostly of few tasks and priorities. So they gather by what they have in
common, which is then given to a statement of many rows only once: two thirds of the time of giving
it every column of every row.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any, TypeAlias

from drumbeat.stores.sqlite.lines import Line
from drumbeat.stores.sqlite.sql import JOBS, write_rows

Common: TypeAlias = tuple[Line, int, int, str | None]
"""Line, rank, the instant of arrival, options."""
FEW = 4
"""Jobs with the same in common, on the average, up to which it is not worth the statements."""


class Arrivals:
    """New jobs, by what they have in common."""

    __slots__ = ("_first", "_groups", "_last")

    def __init__(self) -> None:
        self._groups: dict[Common, list[Any]] = {}
        """Numbers and arguments of the jobs, one after the other."""
        self._first = 0
        self._last = 0

    def __bool__(self) -> bool:
        return bool(self._groups)

    def add(self, job_id: int, common: Common, arguments: bytes) -> None:
        """A new job, with a higher number than those before."""
        group = self._groups.get(common)
        if group is None:
            if not self._groups:
                self._first = job_id
            group = self._groups[common] = []
        group += (job_id, arguments)
        self._last = job_id

    def counts(self) -> Iterator[tuple[Line, int]]:
        """How many jobs came to which line."""
        for (line, *_), group in self._groups.items():
            yield line, len(group) // 2

    def write(self, connection: sqlite3.Connection) -> None:
        """Write them all, and queue them.

        Jobs of other kinds may have got numbers between theirs, and must be written after them:
        whatever has a number from the first to the last is queued here.
        """
        count = sum(count for _, count in self.counts())
        if count > FEW * len(self._groups):
            self._write_groups(connection)
        else:
            write_rows(connection, JOBS.many("insert_plain_jobs"), 7, list(self._columns()))
        connection.execute(JOBS.queue_new, (self._first, self._last))

    def _write_groups(self, connection: sqlite3.Connection) -> None:
        statement = JOBS.many("insert_alike_jobs")
        for (line, rank, now, options), group in self._groups.items():
            common = (line.id, rank, now, now, options)
            start = 0
            for rows, text in statement.in_pieces(len(group) // 2):
                end = start + rows * 2
                connection.execute(text, (*common, *group[start:end]))
                start = end

    def _columns(self) -> Iterator[Any]:
        for (line, rank, now, options), group in self._groups.items():
            for job_id, arguments in zip(group[::2], group[1::2], strict=True):
                yield from (job_id, line.id, rank, now, now, arguments, options)
