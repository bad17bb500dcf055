"""Schedule sync: writes the schedules that an app's code declares to the store.

A changed schedule whose ticks are due keeps its stored definition until the leader has handled
them (`rules.schedule_edit`, ADR 0030). The declaring process retries the change until then; if it
exits before, the next process that starts with the same code does so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from drumbeat.engine.plumbing.bus import Bus
from drumbeat.engine.plumbing.service import Service, ServiceContext
from drumbeat.model.errors import Contended
from drumbeat.model.events import (
    ScheduleChangeWaits,
    ScheduleDeclared,
    ScheduleDrifted,
    TicksDropped,
)
from drumbeat.model.schedules.plan import Edit, Raced, SkipReason
from drumbeat.model.schedules.schedule import Schedule
from drumbeat.ports.store import ScheduleStore
from drumbeat.rules.schedules import schedule_edit

TRIES = 50
"""How often a guarded write is tried again before it gives up against other writers."""
TRY_AGAIN_EVERY = 0.5
"""Seconds between two tries of a change that waits for the leader."""


@dataclass(frozen=True, slots=True)
class WaitingChange:
    """A schedule that code changed, and since when the change waits (by the store's clock)."""

    schedule: Schedule
    since: datetime


@dataclass(frozen=True, slots=True)
class _Asked:
    """A declaration that is not settled yet."""

    schedule: Schedule
    since: datetime | None = None


async def declare(
    store: ScheduleStore, schedules: Sequence[Schedule], bus: Bus
) -> Sequence[WaitingChange]:
    """Write the schedules to the store; return the changes that have to wait."""
    waiting = await _settle(store, [_Asked(schedule) for schedule in schedules], bus)
    for change in waiting:
        bus.emit(ScheduleChangeWaits(change.schedule.name, change.schedule.task))
    return waiting


async def declare_waiting(
    store: ScheduleStore, changes: Sequence[WaitingChange], bus: Bus
) -> Sequence[WaitingChange]:
    """Retry changes that had to wait; return those that still have to."""
    asked = [_Asked(change.schedule, change.since) for change in changes]
    return await _settle(store, asked, bus)


def tell_dropped(edit: Edit, bus: Bus) -> None:
    """Report the due ticks that an edit drops; a pause does not drop ticks but pauses them."""
    for skip in edit.skips:
        if skip.reason is SkipReason.OVERRIDDEN:
            bus.emit(TicksDropped(edit.name, skip.tick_at, skip.through, skip.count))


class Declarer(Service):
    """Writes changes of schedules that had to wait when the node started."""

    name = "declarer"

    def __init__(
        self,
        store: ScheduleStore,
        changes: Sequence[WaitingChange],
        context: ServiceContext,
    ) -> None:
        super().__init__(context)
        self._store = store
        self._changes = changes

    async def once(self) -> float | None:
        """Retry what still waits; return how long to pause (None: nothing waits any more)."""
        if self._changes:
            self._changes = await declare_waiting(self._store, self._changes, self._bus)
        return TRY_AGAIN_EVERY if self._changes else None


async def _settle(
    store: ScheduleStore, asked: Sequence[_Asked], bus: Bus
) -> Sequence[WaitingChange]:
    waiting: list[WaitingChange] = []
    for _ in range(TRIES):
        if not asked:
            return waiting
        asked = await _pass(store, asked, waiting, bus)
    names = [each.schedule.name for each in asked]
    raise Contended(f"schedules {names} kept changing while declared")


async def _pass(
    store: ScheduleStore, asked: Sequence[_Asked], waiting: list[WaitingChange], bus: Bus
) -> list[_Asked]:
    """Decide and write once; collect what waits, and return what another writer changed first."""
    found = await store.get([each.schedule.name for each in asked])
    edits: list[Edit] = []
    edited: list[_Asked] = []
    for each, stored in zip(asked, found.schedules, strict=True):
        schedule = each.schedule
        declared = schedule_edit.declare(stored, schedule, found.as_of, each.since)
        if declared.waits:
            waiting.append(WaitingChange(schedule, each.since or found.as_of))
            continue
        if declared.drifted:
            bus.emit(ScheduleDrifted(schedule.name))
        if declared.edit is None:
            bus.emit(ScheduleDeclared(schedule.name, schedule.task, created=False))
        else:
            edits.append(declared.edit)
            edited.append(each)
    verdicts = await store.put(edits) if edits else ()
    raced: list[_Asked] = []
    for each, edit, verdict in zip(edited, edits, verdicts, strict=True):
        if isinstance(verdict, Raced):
            raced.append(each)
        else:
            created = edit.before is None
            bus.emit(ScheduleDeclared(each.schedule.name, each.schedule.task, created))
            tell_dropped(edit, bus)
    return raced
