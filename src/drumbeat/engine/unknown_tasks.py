"""Unknown tasks: schedules whose task this node does not know, as after code was rolled back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from drumbeat.engine.bus import Bus
from drumbeat.engine.registry import Registry
from drumbeat.engine.service import Service
from drumbeat.model.events import SchedulesUnknown
from drumbeat.model.job import JobFilter, Status
from drumbeat.model.page import LARGEST_PAGE, PageRequest
from drumbeat.model.schedule import DueSchedule, Origin
from drumbeat.ports.runtime import Runtime
from drumbeat.ports.store import JobStore, ScheduleStore
from drumbeat.rules.stranding import MOST_STRANDED, may_be_stranded

LOOK_EVERY = 3600.0
"""Seconds between two looks at all schedules."""
MOST_NAMED = 20
_WAITING = frozenset({Status.QUEUED})


class StrandedJobs:
    """Counts the waiting jobs of schedules whose task the leader does not know."""

    def __init__(self, jobs: JobStore, registry: Registry) -> None:
        self._jobs = jobs
        self._registry = registry

    async def counted(self, schedules: Sequence[DueSchedule]) -> Sequence[DueSchedule]:
        """The schedules, those with an unknown task with the number of their waiting jobs."""
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
    """Tells of schedules that code declared and whose task is unknown here."""

    name = "unknown schedules"

    def __init__(
        self, schedules: ScheduleStore, registry: Registry, runtime: Runtime, bus: Bus
    ) -> None:
        super().__init__(runtime, bus)
        self._schedules = schedules
        self._registry = registry
        self._told = 0

    async def once(self) -> float | None:
        """Look at all schedules, and tell if there are more or fewer unknown ones than before."""
        unknown = await self._unknown()
        if len(unknown) != self._told:
            self._told = len(unknown)
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
