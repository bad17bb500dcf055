"""Schedules at run time: declare, edit, pause, trigger, skip, backfill, preview."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Unpack

from drumbeat.engine.plumbing.bus import Bus
from drumbeat.engine.submitting.submitter import Submitter
from drumbeat.engine.tasks.handle import Task
from drumbeat.engine.tasks.registry import TaskRegistry
from drumbeat.engine.tasks.scheduled import (
    Arguments,
    PolicySettings,
    ScheduleOptions,
    schedule_of,
    trigger_of,
)
from drumbeat.engine.ticking.schedule_sync import (
    TRIES,
    WaitingChange,
    declare,
    declare_waiting,
    report_dropped,
)
from drumbeat.engine.ticking.trigger_evaluation import evaluated
from drumbeat.model.encoding.json_depth import refuse_deep_arguments
from drumbeat.model.errors import Conflict, Contended, UnknownSchedule
from drumbeat.model.events import ScheduleChanged
from drumbeat.model.jobs.job import Job, JobSpec
from drumbeat.model.jobs.retry import check_storable
from drumbeat.model.page import LARGEST_PAGE, Page, PageRequest
from drumbeat.model.schedules.plan import (
    AlreadyFired,
    Backfilled,
    Edit,
    Fire,
    Outcome,
    Raced,
    TickRecord,
)
from drumbeat.model.schedules.schedule import Schedule, StoredSchedule
from drumbeat.model.time.instant import aware
from drumbeat.model.triggers.trigger import Trigger
from drumbeat.ports.store import ScheduleStore
from drumbeat.rules.schedules import schedule_edit
from drumbeat.rules.schedules.backfill import backfill
from drumbeat.rules.schedules.preview import coming_ticks, next_ticks
from drumbeat.rules.schedules.version_guard import UNGUARDED, VersionGuard

MOST_PARTS = 20
"""How many reads of the store one page of the schedules with a tag takes at most."""

DecideExisting = Callable[[StoredSchedule, datetime], Edit | None]
Decide = Callable[[StoredSchedule | None, datetime], Edit | None]


class Schedules:
    """The operations on schedules, from any node. Every edit is one guarded write."""

    def __init__(
        self, store: ScheduleStore, submitter: Submitter, registry: TaskRegistry, bus: Bus
    ) -> None:
        self._store = store
        self._submitter = submitter
        self._registry = registry
        self._bus = bus
        self._guard = UNGUARDED

    def guarded(self, guard: VersionGuard) -> Schedules:
        """The same, with changes that raise `VersionMismatch` unless the guard holds.

        The guard holds at the moment of the write, and not only before it.
        """
        schedules = Schedules(self._store, self._submitter, self._registry, self._bus)
        schedules._guard = guard
        return schedules

    def at_version(self, version: int) -> Schedules:
        """The same, with changes that are made only to a schedule at this version.

        Otherwise they raise `VersionMismatch`: somebody else has changed the schedule meanwhile.
        """
        return self.guarded(VersionGuard(frozenset({version})))

    async def declare(self, schedules: Sequence[Schedule]) -> Sequence[WaitingChange]:
        """Bring what code declares into the store; never removes or un-pauses anything.

        Returns the changes that have to wait until the leader has handled what is due.
        """
        return await declare(self._store, schedules, self._bus)

    async def declare_waiting(self, changes: Sequence[WaitingChange]) -> Sequence[WaitingChange]:
        """Try changes again that had to wait; returns those that still have to."""
        return await declare_waiting(self._store, changes, self._bus)

    async def put(
        self,
        name: str,
        when: Trigger | str,
        task: Task[..., Any] | str,
        *,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        description: str = "",
        **options: Unpack[PolicySettings],
    ) -> StoredSchedule:
        """Create a schedule for a task, or replace its definition from now on.

        Takes the policies of the schedule and the options of its jobs, which also have those of
        `task.options()`. A string is a cron expression.
        """
        named, base = (
            (task, None) if isinstance(task, str) else (task.name, task.schedule_options())
        )
        definition = self._registry.get(named)
        chosen = ScheduleOptions.sort(options)
        schedule = schedule_of(
            name,
            trigger_of(name, when),
            definition.for_schedule(chosen.task, base),
            chosen,
            Arguments(args, kwargs or {}),
            description,
        )
        return await self.write(schedule)

    async def write(self, schedule: Schedule) -> StoredSchedule:
        """Create the schedule, or replace its definition from now on."""
        return (await self.written(schedule))[0]

    async def written(self, schedule: Schedule) -> tuple[StoredSchedule, bool]:
        """The same, and whether it was created."""
        schedule = self._zoned(schedule)

        def replaced(stored: StoredSchedule | None, now: datetime) -> Edit:
            self._guard.check(schedule.name, stored)
            return schedule_edit.replace(stored, schedule, now)

        edit = await self._apply(schedule.name, replaced, "put")
        return await self.get(schedule.name), edit is not None and edit.before is None

    async def create(self, schedule: Schedule) -> StoredSchedule:
        """Create the schedule; `Conflict` if there is one of that name."""
        schedule = self._zoned(schedule)

        def created(stored: StoredSchedule | None, now: datetime) -> Edit:
            if stored is not None:
                raise Conflict(f"there is a schedule {schedule.name!r} already; replace or edit it")
            return schedule_edit.replace(None, schedule, now)

        await self._apply(schedule.name, created, "put")
        return await self.get(schedule.name)

    async def amend(self, name: str, change: Callable[[Schedule], Schedule]) -> StoredSchedule:
        """Change the definition from now on; what others change meanwhile is not lost."""
        return await self._edit(
            name,
            lambda stored, now: schedule_edit.replace(stored, change(stored.schedule), now),
            "put",
        )

    async def get(self, name: str) -> StoredSchedule:
        """The schedule; `UnknownSchedule` if there is none."""
        return (await self._find(name))[0]

    async def pause(self, name: str, reason: str = "") -> StoredSchedule:
        """Stop firing, until resumed; the ticks meanwhile are recorded as skipped."""
        return await self._edit(
            name, lambda stored, now: schedule_edit.pause(stored, reason, now), "pause", reason
        )

    async def resume(self, name: str) -> StoredSchedule:
        """Fire again, from now on."""
        return await self._edit(name, schedule_edit.resume, "resume")

    async def skip(self, name: str, tick_at: datetime) -> StoredSchedule:
        """Skip one tick that is still to come."""
        tick = aware("tick_at", tick_at)
        return await self._edit(
            name, lambda stored, now: schedule_edit.skip_tick(stored, tick, now), "skip"
        )

    async def unskip(self, name: str, tick_at: datetime) -> StoredSchedule:
        """Take the skipping of a tick back."""
        tick = aware("tick_at", tick_at)
        return await self._edit(
            name, lambda stored, now: schedule_edit.unskip(stored, tick, now), "unskip"
        )

    async def hand_back(self, name: str) -> StoredSchedule:
        """Let code define the schedule again, from its next declaration on."""
        return await self._edit(name, schedule_edit.hand_back, "hand back")

    async def remove(self, name: str) -> None:
        """Remove the schedule; its ledger stays, and its jobs run on."""
        await self._apply(name, self._existing(name, schedule_edit.remove), "remove")

    async def trigger(
        self,
        name: str,
        args: Sequence[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
    ) -> Job:
        """Submit its task now, besides its ticks; with other arguments if any are given."""
        if args is None and kwargs is None:
            return await self.trigger_with(name, lambda spec: spec)

        def changed(spec: JobSpec) -> JobSpec:
            definition = self._registry.get(spec.task)
            return definition.with_arguments(spec, tuple(args or ()), kwargs or {})

        return await self.trigger_with(name, changed)

    async def trigger_with(self, name: str, change: Callable[[JobSpec], JobSpec]) -> Job:
        """Submit its task now, with its job changed by this function."""
        stored, _ = await self._find_guarded(name)
        return await self._submitter.submit(change(replace(stored.schedule.job, schedule=name)))

    async def backfill(
        self, name: str, start: datetime, end: datetime, *, dry_run: bool = False
    ) -> Sequence[Backfilled | AlreadyFired | Fire]:
        """Fire past ticks that did not fire; a dry run only returns what would happen to each."""
        stored, now = await self._find_guarded(name)
        fires = backfill(stored, aware("start", start), aware("end", end), now)
        if not dry_run:
            return await self._store.backfill(name, fires)
        fired = await self._fired(name, fires[0].tick_at) if fires else frozenset[datetime]()
        return [AlreadyFired(each.tick_at) if each.tick_at in fired else each for each in fires]

    async def preview(self, name: str, count: int = 10) -> list[datetime]:
        """Its next ticks that will fire if nothing changes."""
        stored, now = await self._find(name)
        return await evaluated(lambda steps: coming_ticks(stored, now, count, steps))

    async def ticks(self, name: str, page: PageRequest | None = None) -> Page[TickRecord]:
        """Its ledger: the outcome of each tick, latest first."""
        return await self._store.ticks(name, page or PageRequest())

    async def _fired(self, name: str, first: datetime) -> frozenset[datetime]:
        """The ticks from the first on that the ledger has as fired."""
        fired: set[datetime] = set()
        page = PageRequest(LARGEST_PAGE)
        while True:
            rows = await self._store.ticks(name, page)
            fired |= {row.tick_at for row in rows.items if row.outcome is Outcome.FIRED}
            if rows.next is None or rows.items[-1].tick_at < first:
                return frozenset(fired)
            page = PageRequest(LARGEST_PAGE, rows.next)

    def _zoned(self, schedule: Schedule) -> Schedule:
        """The schedule with the app's zone if its trigger was written without one."""
        trigger = schedule.trigger.in_zone(self._registry.defaults.tz)
        return schedule if trigger is schedule.trigger else replace(schedule, trigger=trigger)

    async def _edit(
        self, name: str, decide: DecideExisting, change: str, reason: str = ""
    ) -> StoredSchedule:
        await self._apply(name, self._existing(name, decide), change, reason)
        return await self.get(name)

    def _existing(self, name: str, decide: DecideExisting) -> Decide:
        def decide_guarded(stored: StoredSchedule | None, now: datetime) -> Edit | None:
            if stored is None:
                raise UnknownSchedule(name)
            self._guard.check(name, stored)
            return decide(stored, now)

        return decide_guarded

    async def _apply(self, name: str, decide: Decide, change: str, reason: str = "") -> Edit | None:
        """Decide and write, again if another writer was faster; None: there was nothing to do."""
        for _ in range(TRIES):
            found = await self._store.get([name])
            edit = decide(found.schedules[0], found.as_of)
            if edit is None or await self._write(edit, change, reason):
                return edit
        raise Contended(f"schedule {name!r} kept changing")

    async def _write(self, edit: Edit, change: str, reason: str) -> bool:
        if edit.after is not None:
            job = edit.after.schedule.job
            refuse_deep_arguments(job.task, job.arguments)
            check_storable(job.retry)
        await _refuse_too_expensive(edit)
        (verdict,) = await self._store.put([edit])
        if isinstance(verdict, Raced):
            return False
        self._bus.emit(ScheduleChanged(edit.name, change, reason))
        report_dropped(edit, self._bus)
        return True

    async def _find(self, name: str) -> tuple[StoredSchedule, datetime]:
        found = await self._store.get([name])
        (stored,) = found.schedules
        if stored is None:
            raise UnknownSchedule(name)
        return stored, found.as_of

    async def _find_guarded(self, name: str) -> tuple[StoredSchedule, datetime]:
        stored, now = await self._find(name)
        self._guard.check(name, stored)
        return stored, now

    async def tagged(self, tag: str) -> Sequence[StoredSchedule]:
        """All schedules with a tag, by name."""
        found: builtins.list[StoredSchedule] = []
        page: Page[StoredSchedule] | None = None
        while page is None or page.next is not None:
            after = None if page is None else page.next
            page = await self.list(PageRequest(LARGEST_PAGE, after), tag=tag)
            found += page.items
        return found

    async def list(
        self, page: PageRequest | None = None, prefix: str = "", tag: str | None = None
    ) -> Page[StoredSchedule]:
        """All schedules, by name; with a tag, those whose jobs have it.

        A page of those with a tag may be shorter than requested; only `next` says whether there is
        more.
        """
        page = page or PageRequest()
        if tag is None:
            return await self._store.list(page, prefix)
        found: builtins.list[StoredSchedule] = []
        after = page.after
        for _ in range(MOST_PARTS):
            part = await self._store.list(PageRequest(page.size - len(found), after), prefix)
            found += [each for each in part.items if tag in each.schedule.job.tags]
            after = part.next
            if after is None or len(found) == page.size:
                break
        return Page(tuple(found), after)


async def _refuse_too_expensive(edit: Edit) -> None:
    """Refuse a new trigger whose next tick cannot be found within the budget of steps."""
    before, after = edit.before, edit.after
    if after is None or (before and before.schedule.trigger == after.schedule.trigger):
        return
    trigger, cursor = after.schedule.trigger, after.cursor
    await evaluated(lambda steps: next_ticks(trigger, cursor, 1, steps))
