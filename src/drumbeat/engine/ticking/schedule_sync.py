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
    """A declaration by code that is not written yet."""

    schedule: Schedule
    since: datetime | None = None
    """Since when it waits for due ticks, by the store's clock; None: it was not tried yet."""


async def declare(
    store: ScheduleStore, schedules: Sequence[Schedule], bus: Bus
) -> Sequence[WaitingChange]:
    """Write the schedules to the store; return the changes that have to wait."""
    waiting = await declare_waiting(store, [WaitingChange(each) for each in schedules], bus)
    for change in waiting:
        bus.emit(ScheduleChangeWaits(change.schedule.name, change.schedule.task))
    return waiting


async def declare_waiting(
    store: ScheduleStore, changes: Sequence[WaitingChange], bus: Bus
) -> Sequence[WaitingChange]:
    """Write changes, again if another writer is faster; return those that have to wait."""
    waiting: list[WaitingChange] = []
    for _ in range(TRIES):
        if not changes:
            return waiting
        changes = await _pass(store, changes, waiting, bus)
    names = [change.schedule.name for change in changes]
    raise Contended(f"schedules {names} kept changing while declared")


def report_dropped(edit: Edit, bus: Bus) -> None:
    """Report the due ticks that an edit drops; a pause does not drop ticks but pauses them."""
    for skip in edit.skips:
        if skip.reason is SkipReason.OVERRIDDEN:
            bus.emit(TicksDropped(edit.name, skip.tick_at, skip.through, skip.count))


class Declarer(Service):
    """Writes changes of schedules that had to wait when the node started."""

    name = "declarer"

    def __init__(
        self, store: ScheduleStore, changes: Sequence[WaitingChange], context: ServiceContext
    ) -> None:
        super().__init__(context)
        self._store = store
        self._changes = changes

    async def once(self) -> float | None:
        """Retry what still waits; return how long to pause (None: nothing waits any more)."""
        if self._changes:
            self._changes = await declare_waiting(self._store, self._changes, self._bus)
        return TRY_AGAIN_EVERY if self._changes else None


async def _pass(
    store: ScheduleStore,
    changes: Sequence[WaitingChange],
    waiting: list[WaitingChange],
    bus: Bus,
) -> list[WaitingChange]:
    """Decide and write once; collect what waits, and return what another writer changed first."""
    found = await store.get([each.schedule.name for each in changes])
    edits: list[Edit] = []
    edited: list[WaitingChange] = []
    for each, stored in zip(changes, found.schedules, strict=True):
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
    raced: list[WaitingChange] = []
    for each, edit, verdict in zip(edited, edits, verdicts, strict=True):
        if isinstance(verdict, Raced):
            raced.append(each)
        else:
            created = edit.before is None
            bus.emit(ScheduleDeclared(each.schedule.name, each.schedule.task, created))
            report_dropped(edit, bus)
    return raced
