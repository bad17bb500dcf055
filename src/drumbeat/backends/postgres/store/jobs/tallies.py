"""Tallies: the number of jobs by lane and status, summed over delta rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from drumbeat.backends.postgres.connection.database import Database
from drumbeat.backends.postgres.store.statements import JOBS
from drumbeat.model.jobs.job import Status

MANY_DELTAS = 5_000
"""Counting compacts the table once it has this many delta rows."""
STATUSES = tuple(Status)


class Tallies:
    """The tally table."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = JOBS.of(database.names)

    async def counts(self) -> Mapping[str, Mapping[Status, int]]:
        rows = await self._database.fetch(self._sql.counts)
        await self.compact_after(sum(row["deltas"] for row in rows))
        by_queue = {
            row["queue"]: counted(STATUSES, [row[status] for status in STATUSES]) for row in rows
        }
        return {queue: counts for queue, counts in by_queue.items() if counts}

    async def compact_after(self, deltas: int) -> None:
        """Compact the table if it was found to have many delta rows."""
        if deltas > MANY_DELTAS:
            await self.compact()

    async def compact(self) -> None:
        await self._database.fetch(self._sql.compact_tallies)


def counted(statuses: Sequence[Status], numbers: Sequence[int]) -> dict[Status, int]:
    """The numbers by status, without zeros."""
    return {status: count for status, count in zip(statuses, numbers, strict=True) if count}
