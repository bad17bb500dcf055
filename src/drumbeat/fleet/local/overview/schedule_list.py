"""The list of all schedules, kept for a moment.

A search, an order other than by name and a count all need every schedule. Reading ten thousand
takes a store longer than a page may take to load, so that they share one read, and whoever shows
single schedules reads those again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from drumbeat.fleet.local.overview.tick_marks import last_marks
from drumbeat.model.jobs.job import Job, JobFilter, Status
from drumbeat.model.page import LARGEST_PAGE, PageRequest
from drumbeat.model.schedules.schedule import StoredSchedule
from drumbeat.rules.schedules.schedule_state import AllSchedules
from drumbeat.rules.schedules.undeclared import is_undeclared, is_unknown
from drumbeat.wire.schedule_state import TickMarkView

if TYPE_CHECKING:
    from drumbeat.fleet.local.services import Services

KEPT = 5.0
"""Seconds for which a read is good."""
LATELY = timedelta(days=1)
"""Jobs that were created before and failed do not make their schedules failing ones."""
NEWEST = 200
"""The failed jobs that are looked at."""
PORTION = 50
LAST = 5
"""The last ticks of a schedule that say whether it fails."""


class ScheduleList:
    """Reads all schedules when somebody asks, at most every few seconds."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._read: AllSchedules | None = None
        self._failures: Sequence[Job] = ()
        self._read_at = 0.0
        self._reading = asyncio.Lock()

    async def all(self) -> AllSchedules:
        """All schedules, as they were up to `KEPT` seconds ago."""
        async with self._reading:
            now = self._services.runtime.clock.elapsed()
            if self._read is None or now - self._read_at >= KEPT:
                self._read = await self._all()
                self._read_at = now
            return self._read

    async def failures(self) -> Sequence[Job]:
        """The last failed job of each failing schedule, the newest first."""
        await self.all()
        return self._failures

    def forget(self) -> None:
        """Read again: this process has changed a schedule."""
        self._read = None

    async def _all(self) -> AllSchedules:
        services = self._services
        stored: list[StoredSchedule] = []
        after: str | None = None
        while True:
            page = await services.store.schedules.list(PageRequest(LARGEST_PAGE, after))
            stored += page.items
            after = page.next
            if after is None:
                break
        declared, tasks = services.declared, services.registry.runnable
        self._failures = await self._failing({each.name for each in stored})
        return AllSchedules(
            await services.store.now(),
            stored,
            frozenset(job.spec.schedule or "" for job in self._failures),
            frozenset(each.name for each in stored if is_undeclared(each, declared, tasks)),
            frozenset(each.name for each in stored if is_unknown(each, declared, tasks)),
        )

    async def _failing(self, known: set[str]) -> list[Job]:
        """The newest failed job of each schedule whose last run that has ended failed."""
        newest: dict[str, Job] = {}
        store = self._services.store
        since = await store.now() - LATELY
        wanted = JobFilter(statuses=frozenset({Status.FAILED}), created_from=since)
        after: str | None = None
        for _ in range(NEWEST // PORTION):
            page = await store.jobs.list(wanted, PageRequest(PORTION, after))
            for job in page.items:
                if job.spec.schedule in known:
                    newest.setdefault(job.spec.schedule, job)
            after = page.next
            if after is None:
                break
        marks = await last_marks(store, list(newest), LAST)
        return [job for job, last in zip(newest.values(), marks, strict=True) if fails(last)]


def fails(marks: Sequence[TickMarkView]) -> bool:
    """Whether the last run that has ended failed."""
    ended = (each.status for each in marks if each.status is not None and each.status.final)
    return next(ended, None) is Status.FAILED
