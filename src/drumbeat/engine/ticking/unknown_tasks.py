"""Unknown tasks: schedules whose task this node does not know, as after a rollback of code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from drumbeat.engine.plumbing.service import Service, ServiceContext
from drumbeat.engine.tasks.registry import TaskRegistry
from drumbeat.model.events import SchedulesUnknown
from drumbeat.model.jobs.job import JobFilter, Status
from drumbeat.model.page import LARGEST_PAGE, PageRequest
from drumbeat.model.schedules.schedule import DueSchedule, Origin
from drumbeat.ports.store import JobStore, ScheduleStore
from drumbeat.rules.planning.stranded_jobs import MOST_STRANDED, may_be_stranded

LOOK_EVERY = 3600.0
"""Seconds between two looks at all schedules."""
MOST_NAMED = 20
_WAITING = frozenset({Status.QUEUED})


class StrandedJobs:
    """Counts the waiting jobs of schedules whose task the leader does not know."""

    def __init__(self, jobs: JobStore, registry: TaskRegistry) -> None:
        self._jobs = jobs
        self._registry = registry

    async def counted(self, schedules: Sequence[DueSchedule]) -> Sequence[DueSchedule]:
        """The schedules; those with an unknown task carry the number of their waiting jobs."""
        known = self._registry.runnable
        if not any(may_be_stranded(each, known) for each in schedules):
            return schedules
        return [
            replace(each, stranded=await self._waiting(each.stored.name))
            if may_be_stranded(each, known)
            else each
            for each in schedules
        ]

    async def _waiting(self, schedule: str) -> int:
        wanted = JobFilter(_WAITING, schedule=schedule)
        return len((await self._jobs.list(wanted, PageRequest(MOST_STRANDED))).items)


class UnknownSchedules(Service):
    """Reports schedules that code declared and whose task is unknown here."""

    name = "unknown schedules"

    def __init__(
        self, schedules: ScheduleStore, registry: TaskRegistry, context: ServiceContext
    ) -> None:
        super().__init__(context)
        self._schedules = schedules
        self._registry = registry
        self._reported = 0

    async def once(self) -> float | None:
        """Check all schedules, and report if the number of unknown ones has changed."""
        unknown = await self._unknown()
        if len(unknown) != self._reported:
            self._reported = len(unknown)
            self._bus.emit(SchedulesUnknown(tuple(unknown[:MOST_NAMED]), len(unknown)))
        return LOOK_EVERY

    async def _unknown(self) -> list[str]:
        known = self._registry.runnable
        unknown: list[str] = []
        page: PageRequest | None = PageRequest(LARGEST_PAGE)
        while page is not None:
            found = await self._schedules.list(page)
            unknown += [
                stored.name
                for stored in found.items
                if stored.origin is Origin.CODE and stored.schedule.task not in known
            ]
            page = PageRequest(LARGEST_PAGE, found.next) if found.next is not None else None
        return unknown
