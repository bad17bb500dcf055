"""Queues: the PostgreSQL store's `QueueStore`."""

from __future__ import annotations

from drumbeat.backends.postgres.connection.client import Record
from drumbeat.backends.postgres.connection.database import Database
from drumbeat.backends.postgres.store.jobs.tallies import STATUSES, Tallies, counted
from drumbeat.backends.postgres.store.statements import QUEUES
from drumbeat.backends.postgres.store.storable_text import name as kept_name
from drumbeat.backends.postgres.store.storable_text import readable
from drumbeat.backends.postgres.store.time import checked
from drumbeat.model.jobs.queue import PausedQueue, QueueRecord, Queues
from drumbeat.ports.store import At
from drumbeat.rules.jobs.totals import ENDED, totals


class PostgresQueues:
    """Queues: how many jobs they have, and which are paused."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = QUEUES.of(database.names)
        self._tallies = Tallies(database)

    async def list(self, at: At = None) -> Queues:
        rows = await self._database.fetch(self._sql.queues, checked(at))
        await self._tallies.compact_after(sum(row["deltas"] for row in rows))
        found = [_record(row) for row in rows if row["queue"] is not None]
        return Queues(rows[0]["as_of"], tuple(each for each in found if _has_content(each)))

    async def pause(self, name: str, reason: str = "", at: At = None) -> PausedQueue:
        ((paused_for, since),) = await self._database.fetch(
            self._sql.pause, kept_name("the queue", name), readable(reason), checked(at)
        )
        return PausedQueue(paused_for, since)

    async def resume(self, name: str) -> PausedQueue | None:
        row = await self._database.fetch_row(self._sql.resume, kept_name("the queue", name))
        return None if row is None else PausedQueue(row["reason"], row["since"])


def _record(row: Record) -> QueueRecord:
    counts = counted(STATUSES, [row[status] or 0 for status in STATUSES])
    forgotten = counted(ENDED, [row[f"forgotten_{status}"] for status in ENDED])
    return QueueRecord(
        row["queue"],
        counts,
        row["oldest_at"],
        None if row["since"] is None else PausedQueue(row["reason"], row["since"]),
        totals(counts, forgotten),
    )


def _has_content(record: QueueRecord) -> bool:
    return bool(record.counts or record.totals or record.paused)
