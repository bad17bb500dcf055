"""Schedules of the local fleet."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from drumbeat.engine.schedules import Schedules
from drumbeat.engine.ticking.trigger_evaluation import evaluated
from drumbeat.fleet.local.audit import AuditTrail
from drumbeat.fleet.local.bounded_page import bounded_page
from drumbeat.fleet.local.explanation import explanation_of
from drumbeat.fleet.local.fault import fault_of
from drumbeat.fleet.local.job_request import with_arguments
from drumbeat.fleet.local.large_values import schedule_bytes
from drumbeat.fleet.local.preview import preview_view
from drumbeat.fleet.local.schedule_request import changed, definition_of, trigger_of
from drumbeat.fleet.local.services import Services
from drumbeat.fleet.written import WriteResult
from drumbeat.model.errors import InvalidInput, NoTick
from drumbeat.model.jobs.job import JobSpec
from drumbeat.model.page import Page, PageRequest
from drumbeat.model.schedules.schedule import LONGEST_NAME, StoredSchedule
from drumbeat.model.time.instant import in_range
from drumbeat.rules.schedules.preview import next_ticks
from drumbeat.rules.schedules.undeclared import is_undeclared
from drumbeat.rules.schedules.version_guard import UNGUARDED, VersionGuard
from drumbeat.wire.explanation import ExplanationView
from drumbeat.wire.fields import Arguments
from drumbeat.wire.job import JobView, job_view
from drumbeat.wire.new_schedule import (
    NewScheduleView,
    ScheduleChangesView,
    ScheduleDefinitionView,
)
from drumbeat.wire.preview import PreviewView
from drumbeat.wire.schedule import ScheduleView, schedule_view
from drumbeat.wire.tick import BackfilledView, TickView, backfilled_view, tick_view

MOST_CHANGED = 1_000
"""How many schedules one change by a tag changes at most."""


class LocalSchedules:
    """Implements `FleetSchedules`."""

    def __init__(self, services: Services, trail: AuditTrail) -> None:
        self._services = services
        self._schedules = services.schedules
        self._trail = trail

    async def create(self, new: NewScheduleView, reason: str = "") -> ScheduleView:
        async with self._trail.change("schedule.create", new.name, reason, new):
            definition = definition_of(new.name, new, self._services)
            return self._view(await self._schedules.create(definition))

    async def replace(
        self,
        name: str,
        definition: ScheduleDefinitionView,
        reason: str = "",
        guard: VersionGuard = UNGUARDED,
    ) -> WriteResult[ScheduleView]:
        async with self._trail.change("schedule.put", name, reason, definition):
            if len(name) > LONGEST_NAME:
                rule = f"at most {LONGEST_NAME} characters"
                raise InvalidInput(
                    f"the name of a schedule has {rule}, and not {len(name)}",
                    parameter="name",
                    rule=rule,
                )
            wanted = definition_of(name, definition, self._services)
            stored, is_new = await self._guarded(guard).written(wanted)
            return WriteResult(self._view(stored), is_new)

    async def patch(
        self,
        name: str,
        changes: ScheduleChangesView,
        reason: str = "",
        guard: VersionGuard = UNGUARDED,
    ) -> ScheduleView:
        async with self._trail.change("schedule.patch", name, reason, changes):
            stored = await self._guarded(guard).amend(
                name, lambda schedule: changed(schedule, changes, self._services)
            )
            return self._view(stored)

    async def remove(self, name: str, reason: str = "", guard: VersionGuard = UNGUARDED) -> None:
        async with self._trail.change("schedule.delete", name, reason):
            await self._guarded(guard).remove(name)

    async def get(self, name: str) -> ScheduleView:
        return self._view(await self._schedules.get(name))

    async def list(
        self, page: PageRequest | None = None, prefix: str = "", tag: str | None = None
    ) -> Page[ScheduleView]:
        found = await bounded_page(
            lambda part: self._schedules.list(part, prefix, tag),
            page or PageRequest(),
            schedule_bytes,
        )
        return Page(tuple(self._view(stored) for stored in found.items), found.next)

    async def pause(
        self, name: str, reason: str = "", guard: VersionGuard = UNGUARDED
    ) -> ScheduleView:
        async with self._trail.change("schedule.pause", name, reason) as because:
            return self._view(await self._guarded(guard).pause(name, because))

    async def resume(
        self, name: str, reason: str = "", guard: VersionGuard = UNGUARDED
    ) -> ScheduleView:
        async with self._trail.change("schedule.resume", name, reason):
            return self._view(await self._guarded(guard).resume(name))

    async def pause_tagged(self, tag: str, reason: str = "") -> Sequence[ScheduleView]:
        running = [each for each in await self._schedules.tagged(tag) if not each.paused]
        return [await self.pause(each.name, reason) for each in running[:MOST_CHANGED]]

    async def resume_tagged(self, tag: str, reason: str = "") -> Sequence[ScheduleView]:
        paused = [each for each in await self._schedules.tagged(tag) if each.paused]
        return [await self.resume(each.name, reason) for each in paused[:MOST_CHANGED]]

    async def remove_tagged(self, tag: str, reason: str = "") -> Sequence[ScheduleView]:
        removed = (await self._schedules.tagged(tag))[:MOST_CHANGED]
        for each in removed:
            await self.remove(each.name, reason)
        return [self._view(each) for each in removed]

    async def hand_back(
        self, name: str, reason: str = "", guard: VersionGuard = UNGUARDED
    ) -> ScheduleView:
        async with self._trail.change("schedule.hand-back", name, reason):
            return self._view(await self._guarded(guard).hand_back(name))

    async def trigger(
        self,
        name: str,
        args: Arguments | None = None,
        reason: str = "",
        guard: VersionGuard = UNGUARDED,
    ) -> JobView:
        def with_given(spec: JobSpec) -> JobSpec:
            return spec if args is None else with_arguments(spec, args, self._services)

        async with self._trail.change("schedule.trigger", name, reason):
            job = await self._guarded(guard).trigger_with(name, with_given)
            return job_view(job, self._services.registry.secrets)

    async def skip(
        self,
        name: str,
        tick_at: datetime | None = None,
        reason: str = "",
        guard: VersionGuard = UNGUARDED,
    ) -> ScheduleView:
        async with self._trail.change("schedule.skip", name, reason, {"tick_at": tick_at}):
            schedules = self._guarded(guard)
            if tick_at is None:
                coming = await schedules.preview(name, 1)
                if not coming:
                    raise NoTick(f"schedule {name!r} has no tick to come")
                (tick_at,) = coming
            with fault_of("tick_at"):
                in_range("tick_at", tick_at)
                return self._view(await schedules.skip(name, tick_at))

    async def unskip(
        self,
        name: str,
        tick_at: datetime | None = None,
        reason: str = "",
        guard: VersionGuard = UNGUARDED,
    ) -> ScheduleView:
        async with self._trail.change("schedule.unskip", name, reason, {"tick_at": tick_at}):
            schedules = self._guarded(guard)
            tick_at = tick_at or min((await schedules.get(name)).skips, default=None)
            if tick_at is None:
                raise NoTick(f"schedule {name!r} has no tick that is skipped")
            with fault_of("tick_at"):
                in_range("tick_at", tick_at)
                return self._view(await schedules.unskip(name, tick_at))

    async def backfill(
        self,
        name: str,
        start: datetime,
        end: datetime | None = None,
        *,
        dry_run: bool = False,
        reason: str = "",
        guard: VersionGuard = UNGUARDED,
    ) -> Sequence[BackfilledView]:
        schedules = self._guarded(guard)

        async def fill() -> Sequence[BackfilledView]:
            now = await self._services.store.now()
            until = end or now
            _check_past("to", until, f"not after now, {now.isoformat()}", now)
            _check_past("from", start, f"not after to, {until.isoformat()}", until)
            with fault_of("from"):
                found = await schedules.backfill(name, start, until, dry_run=dry_run)
            return [backfilled_view(verdict) for verdict in found]

        if dry_run:
            return await fill()
        span = {"from": start, "to": end}
        async with self._trail.change("schedule.backfill", name, reason, span):
            return await fill()

    async def preview(self, name: str, count: int = 10) -> PreviewView:
        stored = await self._schedules.get(name)
        ticks = await self._schedules.preview(name, count)
        now = await self._services.store.now()
        return preview_view(stored.schedule.trigger, ticks, now, name)

    async def preview_rule(
        self, when: str | dict[str, Any], tz: str | None = None, count: int = 10
    ) -> PreviewView:
        now = await self._services.store.now()
        trigger = trigger_of(when, tz).in_zone(self._services.registry.defaults.tz).anchored(now)
        with fault_of("when"):
            ticks = await evaluated(lambda steps: next_ticks(trigger, now, count, steps))
        return preview_view(trigger, ticks, now)

    async def ticks(self, name: str, page: PageRequest | None = None) -> Page[TickView]:
        found = await self._schedules.ticks(name, page)
        return Page(tuple(tick_view(tick) for tick in found.items), found.next)

    async def explain(self, name: str, ticks: int = 10, tz: str = "UTC") -> ExplanationView:
        return await explanation_of(name, ticks, tz, self._services)

    def _guarded(self, guard: VersionGuard) -> Schedules:
        return self._schedules if guard is UNGUARDED else self._schedules.guarded(guard)

    def _view(self, stored: StoredSchedule) -> ScheduleView:
        registry, declared = self._services.registry, self._services.declared
        undeclared = is_undeclared(stored, declared, registry.runnable)
        return schedule_view(stored, registry.secrets, undeclared=undeclared)


def _check_past(parameter: str, given: datetime, rule: str, last: datetime) -> None:
    in_range(parameter, given)
    if given > last:
        raise InvalidInput(
            f"{parameter} is {given.isoformat()}, and has to be {rule}",
            parameter=parameter,
            rule=rule,
        )
