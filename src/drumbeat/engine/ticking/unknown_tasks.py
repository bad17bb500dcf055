"""Unknown tasks and dropped declarations: schedules that the code of this node does not cover."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from drumbeat.engine.plumbing.service import Service, ServiceContext
from drumbeat.engine.tasks.registry import TaskRegistry
from drumbeat.model.errors import UnknownSchedule
from drumbeat.model.events import SchedulesUndeclared, SchedulesUnknown
from drumbeat.model.jobs.job import JobFilter, Status
from drumbeat.model.page import LARGEST_PAGE, PageRequest
from drumbeat.model.schedules.schedule import DueSchedule, Origin
from drumbeat.ports.store import JobStore, ScheduleStore
from drumbeat.rules.planning.stranded_jobs import MOST_STRANDED, may_be_stranded
from drumbeat.rules.schedules.undeclared import is_undeclared

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


@dataclass(frozen=True, slots=True)
class DeclaredCode:
    """What the code of this node declares, and whether nothing else may remain in the store."""

    registry: TaskRegistry
    schedules: Collection[str]
    remove: Callable[[str], Awaitable[None]] | None = None
    """Removes a schedule that code no longer declares; None: they are only reported."""


class UnknownSchedules(Service):
    """Reports schedules from code whose task is unknown here, or that code no longer declares."""

    name = "unknown schedules"

    def __init__(
        self, schedules: ScheduleStore, code: DeclaredCode, context: ServiceContext
    ) -> None:
        super().__init__(context)
        self._schedules = schedules
        self._code = code
        self._unknown_told = 0
        self._undeclared_told = 0

    async def once(self) -> float | None:
        """Check all schedules, and report if the number of either kind has changed."""
        unknown, undeclared = await self._found()
        if len(unknown) != self._unknown_told:
            self._unknown_told = len(unknown)
            self._bus.emit(SchedulesUnknown(tuple(unknown[:MOST_NAMED]), len(unknown)))
        if self._code.remove is not None:
            for name in undeclared:
                with suppress(UnknownSchedule):  # another node was faster
                    await self._code.remove(name)
        elif len(undeclared) != self._undeclared_told:
            self._undeclared_told = len(undeclared)
            self._bus.emit(SchedulesUndeclared(tuple(undeclared[:MOST_NAMED]), len(undeclared)))
        return LOOK_EVERY

    async def _found(self) -> tuple[list[str], list[str]]:
        """The names of the schedules of either kind."""
        known, declared = self._code.registry.runnable, self._code.schedules
        unknown: list[str] = []
        undeclared: list[str] = []
        page: PageRequest | None = PageRequest(LARGEST_PAGE)
        while page is not None:
            found = await self._schedules.list(page)
            for stored in found.items:
                if stored.origin is Origin.CODE and stored.schedule.task not in known:
                    unknown.append(stored.name)
                elif is_undeclared(stored, declared, known):
                    undeclared.append(stored.name)
            page = PageRequest(LARGEST_PAGE, found.next) if found.next is not None else None
        return unknown, undeclared
