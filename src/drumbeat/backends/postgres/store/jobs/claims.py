"""Claims: the last batch is settled and the next one claimed in one round trip."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from drumbeat.backends.postgres.connection.client import Record
from drumbeat.backends.postgres.connection.database import Database
from drumbeat.backends.postgres.connection.statements import Bound
from drumbeat.backends.postgres.store.jobs.job_row import new_attempt, new_hold, spec_of
from drumbeat.backends.postgres.store.jobs.lanes import Lane, Lanes
from drumbeat.backends.postgres.store.jobs.settlement_batch import SettlementBatch
from drumbeat.backends.postgres.store.jobs.watermark import Scan, Watermark
from drumbeat.backends.postgres.store.time import SECOND, instant_of
from drumbeat.model.fast_construction import fast_constructor
from drumbeat.model.ids import JobId, NodeId
from drumbeat.model.jobs.job import Attempt, Settlement, Taken, Wanted
from drumbeat.ports.clock import Clock

KEPT = 100
"""How many watermarks are kept, by node, queues and tasks."""

new_taken = fast_constructor(Taken)


class ClaimRequest(NamedTuple):
    """The composite type `claim_request`."""

    holder: str
    queues: tuple[str, ...]
    tasks: list[str]
    at_once: int
    ahead: int


class Claims:
    """Settles and claims in one statement, and keeps the watermarks of this process."""

    def __init__(self, database: Database, sql: Bound, lanes: Lanes, clock: Clock) -> None:
        self._database = database
        self._sql = sql
        self._lanes = lanes
        self._clock = clock
        self._watermarks: dict[tuple[object, ...], Watermark] = {}

    async def take(
        self, wanted: Wanted, by: NodeId, settled: Sequence[Settlement], at: datetime | None
    ) -> Taken:
        """Settle the last batch, then claim the next."""
        batch = SettlementBatch(settled)
        watermark = self._watermark(wanted, by)
        (row,) = await self._database.fetch(
            self._sql.take,
            ClaimRequest(by, wanted.queues, [*wanted.tasks], wanted.limit, wanted.ahead),
            batch.settlements,
            watermark.marks(),
            at,
        )
        as_of, try_at, scanned_all, effort, microseconds, verdicts, cancelled, claimed = row
        jobs: Sequence[Record] = claimed or ()
        most = wanted.limit + wanted.ahead
        if most > 0:  # a call that only settles learns nothing about the queue
            short = len(jobs) < most
            watermark.learn(Scan(scanned_all, effort, microseconds / SECOND, short), jobs)
        moment = instant_of(as_of)
        ended: Sequence[int] = cancelled or ()
        return new_taken(
            tuple(await self._attempts(jobs, by, moment)),
            tuple(batch.verdicts(verdicts)),
            tuple(JobId(number) for number in ended if number > 0),
            _earlier(try_at, moment, watermark.until_whole),
            tuple(JobId(-number) for number in ended if number < 0),
        )

    async def _attempts(
        self, jobs: Sequence[Record], by: NodeId, moment: datetime
    ) -> list[Attempt]:
        try:
            return _attempts(jobs, self._lanes.by_number, by, moment)
        except KeyError:
            lanes = await self._lanes.load(job["lane"] for job in jobs)
            return _attempts(jobs, lanes, by, moment)

    def _watermark(self, wanted: Wanted, by: NodeId) -> Watermark:
        worker = (by, wanted.queues, wanted.tasks)
        watermark = self._watermarks.get(worker)
        if watermark is None:
            if len(self._watermarks) >= KEPT:
                self._watermarks.clear()
            watermark = self._watermarks[worker] = Watermark(self._clock)
        return watermark


def _attempts(
    jobs: Sequence[Record], lanes: dict[int, Lane], by: NodeId, moment: datetime
) -> list[Attempt]:
    """The attempts of `claimed_job`s."""
    attempts: list[Attempt] = []
    seconds, created_at = 0.0, moment
    for job_id, fence, attempt, lane, rank, _, created, *columns in jobs:
        if created != seconds:  # jobs of one batch were created at the same instant
            seconds, created_at = created, instant_of(created)
        spec = spec_of((rank, *columns), lanes[lane])
        hold = new_hold(job_id, fence)
        attempts.append(new_attempt(hold, attempt, spec, by, moment, created_at))
    return attempts


def _earlier(opens_at: datetime | None, moment: datetime, seconds: float | None) -> datetime | None:
    """When to ask again: a rate allows a start, or the next whole scan is due."""
    if seconds is None:
        return opens_at
    whole_at = moment + timedelta(seconds=seconds)
    return whole_at if opens_at is None else min(opens_at, whole_at)
