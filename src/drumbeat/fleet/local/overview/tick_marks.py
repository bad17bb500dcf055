"""The last ticks of schedules, with the state of their jobs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import Job, Status
from drumbeat.model.page import PageRequest
from drumbeat.model.schedules.plan import TickRecord
from drumbeat.ports.store import Store
from drumbeat.wire.schedule_state import TickMarkView

PORTION = 200
"""Jobs that are read at a time: of each only what a mark tells is kept."""


@dataclass(frozen=True, slots=True)
class RunState:
    """What a mark tells of a job."""

    status: Status
    started_at: datetime | None
    finished_at: datetime | None


async def last_marks(
    store: Store, names: Sequence[str], count: int
) -> list[tuple[TickMarkView, ...]]:
    """The last rows of the ledgers of these schedules, the latest first."""
    if count == 0:
        return [() for _ in names]
    pages = await asyncio.gather(
        *(store.schedules.ticks(name, PageRequest(count)) for name in names)
    )
    return await marks_of(store, [page.items for page in pages])


async def marks_of(
    store: Store, ledgers: Sequence[Sequence[TickRecord]]
) -> list[tuple[TickMarkView, ...]]:
    """Rows of ledgers with the state of their jobs."""
    wanted = (tick.job_id for ledger in ledgers for tick in ledger if tick.job_id is not None)
    runs = await _runs(store, wanted)
    return [tuple(_mark(tick, runs) for tick in ledger) for ledger in ledgers]


def runs_of(jobs: Iterable[Job | None]) -> dict[JobId, RunState]:
    return {
        job.id: RunState(job.status, job.started_at, job.finished_at)
        for job in jobs
        if job is not None
    }


async def _runs(store: Store, wanted: Iterable[JobId]) -> Mapping[JobId, RunState]:
    ids = list(dict.fromkeys(wanted))
    found: dict[JobId, RunState] = {}
    for first in range(0, len(ids), PORTION):
        found |= runs_of(await store.jobs.get(ids[first : first + PORTION]))
    return found


def _mark(tick: TickRecord, runs: Mapping[JobId, RunState]) -> TickMarkView:
    run = None if tick.job_id is None else runs.get(tick.job_id)
    return TickMarkView(
        at=tick.tick_at,
        through=tick.through,
        count=tick.count,
        outcome=tick.outcome,
        reason=tick.reason,
        lateness_seconds=tick.lateness.total_seconds(),
        job_id=tick.job_id,
        status=None if run is None else run.status,
        started_at=None if run is None else run.started_at,
        finished_at=None if run is None else run.finished_at,
    )
