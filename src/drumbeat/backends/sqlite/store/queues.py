"""Queues: the SQLite store's `QueueStore`."""

from __future__ import annotations

import sqlite3

from drumbeat.backends.sqlite.connection.database import Database
from drumbeat.backends.sqlite.connection.hints import topics
from drumbeat.backends.sqlite.connection.times import moment, to_instant
from drumbeat.backends.sqlite.store.session import STATUSES, StoreSession
from drumbeat.backends.sqlite.store.sql import QUEUES, VIEWS
from drumbeat.backends.store_rules import counted, queue_records
from drumbeat.model.jobs.job import Status
from drumbeat.model.jobs.queue import PausedQueue, QueueRecord, Queues
from drumbeat.ports.clock import Clock
from drumbeat.ports.store import At
from drumbeat.rules.jobs.totals import ENDED


class SqliteQueues:
    """The queues that jobs wait in."""

    def __init__(self, database: Database[StoreSession], clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def list(self, at: At = None) -> Queues:
        now = moment(self._clock, at).instant
        return Queues(now, await self._database.view(_queues))

    async def pause(self, name: str, reason: str = "", at: At = None) -> PausedQueue:

        def step(session: StoreSession) -> PausedQueue:
            since = session.moment(at).number
            ((why, first),) = session.execute(QUEUES.pause, (name, reason, since)).fetchall()
            session.paused = 1
            return PausedQueue(why, to_instant(first))

        return await self._database.write(step)

    async def resume(self, name: str) -> PausedQueue | None:
        def step(session: StoreSession) -> PausedQueue | None:
            rows = session.execute(QUEUES.resume, (name,)).fetchall()
            if not rows:
                return None
            session.hints |= topics.JOBS
            ((reason, since),) = rows
            return PausedQueue(reason, to_instant(since))

        return await self._database.write(step)


def counts_by_queue(connection: sqlite3.Connection) -> dict[str, dict[Status, int]]:
    return {
        queue: counted(STATUSES, numbers)
        for queue, *numbers in connection.execute(VIEWS.counts)
        if any(numbers)
    }


def _queues(connection: sqlite3.Connection) -> tuple[QueueRecord, ...]:
    connection.execute("BEGIN")  # so that the four answers are of one moment
    try:
        counts = counts_by_queue(connection)
        oldest = {queue: to_instant(at) for queue, at in connection.execute(QUEUES.oldest)}
        paused = {
            queue: PausedQueue(reason, to_instant(since))
            for queue, reason, since in connection.execute(QUEUES.paused)
        }
        forgotten = {
            queue: counted(ENDED, numbers)
            for queue, *numbers in connection.execute(QUEUES.forgotten)
        }
    finally:
        connection.execute("ROLLBACK")
    return queue_records(counts, oldest, paused, forgotten)
