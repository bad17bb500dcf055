"""Taking: the last batch is settled and the next one claimed in one round trip."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from drumbeat.model.ids import NodeId
from drumbeat.model.job import Attempt, Settlement, Taken, Wanted
from drumbeat.model.swift import swift
from drumbeat.ports.clock import Clock
from drumbeat.postgres.client import Record
from drumbeat.postgres.database import Database
from drumbeat.postgres.statements import Bound
from drumbeat.stores.postgres.instants import instant_of
from drumbeat.stores.postgres.lanes import Lane, Lanes
from drumbeat.stores.postgres.lengths import SECOND
from drumbeat.stores.postgres.rows import new_attempt, new_hold, spec_of
from drumbeat.stores.postgres.settlements import Settlements
from drumbeat.stores.postgres.watermark import Scan, Watermark

KINDS = ("plain", "done", "ended")
"""Of settlements, as the answer names them."""
MOST = 100
"""Workers, by node and by what they want, whose watermarks are kept."""

new_taken = swift(Taken)


class Taking:
    """The claims of this process."""

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
        settlements = Settlements(settled)
        watermark = self._watermark(wanted, by)
        header, *rows = await self._database.fetch(
            self._sql.take,
            by,
            wanted.queues,
            [*wanted.tasks],
            wanted.limit,
            wanted.ahead,
            *settlements.arrays,
            *watermark.arrays(),
            at,
        )
        total = wanted.limit + wanted.ahead
        if total > 0:  # who only settles learns nothing of the queue
            whole, effort, seconds = header[1] == 1, header[2], header[11] / SECOND
            watermark.learn(Scan(whole, effort, seconds, len(rows) < total), rows)
        unusual: dict[str, Any] = json.loads(header[8]) if header[8] else {}
        moment = instant_of(header[6])
        return new_taken(
            tuple(await self._attempts(rows, by, moment)),
            tuple(settlements.verdicts(*map(unusual.get, KINDS))),
            tuple(unusual.get("cancelled", ())),
            _earlier(header[10], moment, watermark.until_whole),
        )

    async def _attempts(
        self, rows: Sequence[Record], by: NodeId, moment: datetime
    ) -> list[Attempt]:
        lanes = self._lanes.by_number
        try:
            return _attempts(rows, lanes, by, moment)
        except KeyError:
            lanes = await self._lanes.load(row[3] for row in rows)
            return _attempts(rows, lanes, by, moment)

    def _watermark(self, wanted: Wanted, by: NodeId) -> Watermark:
        place = (by, wanted.queues, wanted.tasks)
        watermark = self._watermarks.get(place)
        if watermark is None:
            if len(self._watermarks) >= MOST:
                self._watermarks.clear()
            watermark = self._watermarks[place] = Watermark(self._clock)
        return watermark


def _attempts(
    rows: Sequence[Record], lanes: dict[int, Lane], by: NodeId, moment: datetime
) -> list[Attempt]:
    attempts: list[Attempt] = []
    seconds, created_at = 0.0, moment
    for row in rows:
        job_id, fence, attempt, lane, rank, _, created = row[:7]
        if created != seconds:  # else it came along with the one before
            seconds, created_at = created, instant_of(created)
        spec = spec_of(row[7:], lanes[lane], rank)
        hold = new_hold(job_id, fence)
        attempts.append(new_attempt(hold, attempt, spec, by, moment, created_at))
    return attempts


def _earlier(opens_at: datetime | None, moment: datetime, seconds: float | None) -> datetime | None:
    """When it is worth to ask again: a rate lets a job start, or a whole scan is due."""
    if seconds is None:
        return opens_at
    whole_at = moment + timedelta(seconds=seconds)
    return whole_at if opens_at is None else min(opens_at, whole_at)
