"""Queues: the PostgreSQL store's `QueueStore`."""

from __future__ import annotations

from collections.abc import Sequence

from drumbeat.model.job import Status
from drumbeat.model.queue import PausedQueue, QueueRecord, Queues
from drumbeat.ports.store import At
from drumbeat.postgres.client import Record
from drumbeat.postgres.database import Database
from drumbeat.rules.totals import ENDED, totals
from drumbeat.stores.postgres.instants import checked
from drumbeat.stores.postgres.jobs import MANY, STATUSES
from drumbeat.stores.postgres.sql import JOBS, QUEUES
from drumbeat.stores.postgres.texts import name as kept_name
from drumbeat.stores.postgres.texts import readable


class PostgresQueues:
    """The queues that jobs wait in."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = QUEUES.of(database.names)
        self._fold = JOBS.of(database.names).fold_tallies

    async def list(self, at: At = None) -> Queues:
        """All queues that have or had jobs, or that are paused, by name."""
        rows = await self._database.fetch(self._sql.queues, checked(at))
        if sum(row[14] for row in rows) > MANY:
            await self._database.fetch(self._fold)
        found = [_record(row) for row in rows if row[1] is not None]
        return Queues(rows[0][0], tuple(each for each in found if _is_there(each)))

    async def pause(self, name: str, reason: str = "", at: At = None) -> PausedQueue:
        """Claim no job of a queue any more."""
        ((because, since),) = await self._database.fetch(
            self._sql.pause, kept_name("the queue", name), readable(reason), checked(at)
        )
        return PausedQueue(because, since)

    async def resume(self, name: str) -> PausedQueue | None:
        """Claim jobs of a queue again, and hint workers at them."""
        row = await self._database.fetch_row(self._sql.resume, kept_name("the queue", name))
        return None if row is None else PausedQueue(row[0], row[1])


def _record(row: Record) -> QueueRecord:
    _, queue, oldest_at, reason, since, *numbers = tuple(row)
    counts = _counted(STATUSES, numbers[:6])
    forgotten = _counted(ENDED, numbers[6:9])
    return QueueRecord(
        queue,
        counts,
        oldest_at,
        None if since is None else PausedQueue(reason, since),
        totals(counts, forgotten),
    )


def _counted(statuses: Sequence[Status], numbers: Sequence[int]) -> dict[Status, int]:
    return {status: count for status, count in zip(statuses, numbers, strict=True) if count}


def _is_there(record: QueueRecord) -> bool:
    """A queue whose last job was forgotten before totals were kept has nothing left to tell."""
    return bool(record.counts or record.totals or record.paused)
