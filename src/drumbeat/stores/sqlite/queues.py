"""Queues: the SQLite store's `QueueStore`."""

from __future__ import annotations

import sqlite3

from drumbeat.model.job import Status
from drumbeat.model.queue import PausedQueue, QueueRecord, Queues
from drumbeat.ports.clock import Clock
from drumbeat.ports.store import At
from drumbeat.rules.totals import ENDED, totals
from drumbeat.sqlite.database import Database
from drumbeat.sqlite.instants import to_instant
from drumbeat.sqlite.news import JOBS as JOBS_NEWS
from drumbeat.stores.sqlite.moment import check_at, moment
from drumbeat.stores.sqlite.session import STATUSES, StoreSession
from drumbeat.stores.sqlite.sql import QUEUES, VIEWS


class SqliteQueues:
    """The queues that jobs wait in."""

    def __init__(self, database: Database[StoreSession], clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def list(self, at: At = None) -> Queues:
        """All queues that have or had jobs, or that are paused, by name."""
        now = moment(self._clock, at).instant
        return Queues(now, await self._database.view(_queues))

    async def pause(self, name: str, reason: str = "", at: At = None) -> PausedQueue:
        """Claim no job of a queue any more."""
        check_at(at)

        def step(session: StoreSession) -> PausedQueue:
            since = session.moment(at).number
            ((why, first),) = session.execute(QUEUES.pause, (name, reason, since)).fetchall()
            session.paused = 1
            return PausedQueue(why, to_instant(first))

        return await self._database.write(step)

    async def resume(self, name: str) -> PausedQueue | None:
        """Claim jobs of a queue again, and hint workers at them."""

        def step(session: StoreSession) -> PausedQueue | None:
            rows = session.execute(QUEUES.resume, (name,)).fetchall()
            if not rows:
                return None
            session.news |= JOBS_NEWS
            ((reason, since),) = rows
            return PausedQueue(reason, to_instant(since))

        return await self._database.write(step)


def _queues(connection: sqlite3.Connection) -> tuple[QueueRecord, ...]:
    connection.execute("BEGIN")  # the five answers are of one moment
    try:
        counts = {
            queue: _counted(STATUSES, numbers)
            for queue, *numbers in connection.execute(VIEWS.counts)
            if any(numbers)
        }
        oldest = {queue: to_instant(at) for queue, at in connection.execute(QUEUES.oldest)}
        paused = {
            queue: PausedQueue(reason, to_instant(since))
            for queue, reason, since in connection.execute(QUEUES.paused)
        }
        forgotten = {
            queue: _counted(ENDED, numbers)
            for queue, *numbers in connection.execute(QUEUES.forgotten)
        }
    finally:
        connection.execute("ROLLBACK")
    return tuple(
        QueueRecord(
            name,
            counts.get(name, {}),
            oldest.get(name),
            paused.get(name),
            totals(counts.get(name, {}), forgotten.get(name, {})),
        )
        for name in sorted({*counts, *paused, *forgotten})
    )


def _counted(statuses: tuple[Status, ...], numbers: list[int]) -> dict[Status, int]:
    return {status: count for status, count in zip(statuses, numbers, strict=True) if count}
