"""New plain jobs of a transaction, until they are written.

Jobs that are inserted together mostly share their limit group and priority. What they have in
common is given to a statement of many rows only once, which takes two thirds of the time of giving
it every column of every row.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any, TypeAlias

from drumbeat.backends.sqlite.store.jobs.limit_groups import LimitGroup
from drumbeat.backends.sqlite.store.sql import JOBS, write_rows

Common: TypeAlias = tuple[LimitGroup, int, int, str | None]
"""What the jobs of one batch share: limit group, rank, instant of insertion, options."""
FEW = 4
"""With this many jobs per batch or fewer on average, one statement for all of them is faster."""


class NewPlainJobs:
    """Plain jobs by what they have in common."""

    __slots__ = ("_batches", "_first", "_last")

    def __init__(self) -> None:
        self._batches: dict[Common, list[Any]] = {}
        """Ids and arguments of the jobs, alternating."""
        self._first = 0
        self._last = 0

    def __bool__(self) -> bool:
        return bool(self._batches)

    def add(self, job_id: int, common: Common, arguments: bytes) -> None:
        """Add a job, with a higher id than those before."""
        batch = self._batches.get(common)
        if batch is None:
            if not self._batches:
                self._first = job_id
            batch = self._batches[common] = []
        batch += (job_id, arguments)
        self._last = job_id

    def counts(self) -> Iterator[tuple[LimitGroup, int]]:
        """How many jobs each limit group got."""
        for (group, *_), batch in self._batches.items():
            yield group, len(batch) // 2

    def write(self, connection: sqlite3.Connection) -> None:
        """Insert and queue them all.

        It queues every job from the first id to the last. Jobs of other kinds may have ids in
        between, so they must be written after these.
        """
        count = sum(count for _, count in self.counts())
        if count > FEW * len(self._batches):
            self._write_batches(connection)
        else:
            write_rows(connection, JOBS.many("insert_plain_jobs"), 7, list(self._columns()))
        connection.execute(JOBS.queue_plain, (self._first, self._last))

    def _write_batches(self, connection: sqlite3.Connection) -> None:
        statement = JOBS.many("insert_alike_jobs")
        for (group, rank, now, options), batch in self._batches.items():
            common = (group.id, rank, now, now, options)
            start = 0
            for rows, text in statement.in_pieces(len(batch) // 2):
                end = start + rows * 2
                connection.execute(text, (*common, *batch[start:end]))
                start = end

    def _columns(self) -> Iterator[Any]:
        for (group, rank, now, options), batch in self._batches.items():
            for job_id, arguments in zip(batch[::2], batch[1::2], strict=True):
                yield from (job_id, group.id, rank, now, now, arguments, options)
