"""The schedule table: all schedules, by name and by their next tick."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from datetime import datetime
from itertools import islice

from drumbeat.backends.memory.store.hints import Hints
from drumbeat.backends.memory.store.schedules.due_index import DueIndex
from drumbeat.backends.store_rules import page_of
from drumbeat.model.page import Page, PageRequest
from drumbeat.model.schedules.schedule import StoredSchedule
from drumbeat.ports.store import Topic
from drumbeat.rules.page_position import place_after


class ScheduleTable:
    """All schedules. They are kept as the immutable values that are returned."""

    def __init__(self, hints: Hints) -> None:
        self._schedules: dict[str, StoredSchedule] = {}
        self._due_index = DueIndex()
        self._hints = hints
        self._names: list[str] | None = []
        """The names in order; None: they are sorted at the next query."""
        self.get = self._schedules.get

    def __len__(self) -> int:
        return len(self._schedules)

    def write(self, stored: StoredSchedule) -> None:
        name = stored.schedule.name
        before = self._schedules.get(name)
        if before is None:
            self._names = None
        self._schedules[name] = stored
        ticked, ticks = before.next_tick if before else None, stored.next_tick
        if ticked == ticks:
            return
        if ticks is not None:
            if ticked is None or ticks < ticked:
                self._hints.note(Topic.TIMES)
            self._due_index.add(name, ticks)
        if ticked is not None:
            self._due_index.remove(name, ticked)

    def remove(self, name: str) -> None:
        stored = self._schedules.pop(name)
        self._names = None
        if stored.next_tick is not None:
            self._due_index.remove(name, stored.next_tick)

    def due(self, at: datetime, limit: int) -> tuple[list[StoredSchedule], datetime | None]:
        """Those whose tick has come, longest overdue first, and the tick of the next one."""
        names, next_at = self._due_index.due(at, limit)
        return [self._schedules[name] for name in names], next_at

    def page(self, page: PageRequest, prefix: str) -> Page[StoredSchedule]:
        """Those whose name has the prefix, by name."""
        after = place_after(page, "schedule")
        return page_of(self._from(prefix, after), page.size, "schedule", lambda stored: stored.name)

    def after(self, name: str, limit: int) -> Iterator[StoredSchedule]:
        """Those whose names come after one, by name."""
        return islice(self._from("", name), limit)

    def _from(self, prefix: str, after: str | None) -> Iterator[StoredSchedule]:
        if self._names is None:
            self._names = sorted(self._schedules)
        names = self._names
        start = bisect_left(names, prefix)
        if after is not None:
            start = max(start, bisect_right(names, after))
        for index in range(start, len(names)):
            if not names[index].startswith(prefix):
                return
            yield self._schedules[names[index]]
