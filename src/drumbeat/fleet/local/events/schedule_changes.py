"""Finds the schedules that were changed, by comparing reads of the store.

Each read takes one portion of the schedules, by name: with a few thousand that is all of them,
with more it takes several reads. A change through this node comes as an event of the
bus, and that schedule is read by its name the next time; the published event then has the change's
own word. Changes through other nodes are published by their difference.
"""

from __future__ import annotations

from collections.abc import Sequence

from drumbeat.fleet.local.events.feed import Feed
from drumbeat.model.events import ScheduleChanged
from drumbeat.model.schedules.schedule import Revision, StoredSchedule
from drumbeat.ports.store import Store
from drumbeat.wire.event import EventKind, ScheduleToldView

PORTION = 2_000
"""Schedules that one look reads."""
PUT, PAUSE, RESUME, REMOVE = "put", "pause", "resume", "remove"


class ScheduleChanges:
    """The last known revision of each schedule."""

    def __init__(self, store: Store, feed: Feed) -> None:
        self._store = store
        self._feed = feed
        self._known: dict[str, Revision] = {}
        self._noted: dict[str, ScheduleChanged] = {}
        self._after = ""
        """The name at which the last portion ended."""
        self._has_seen_all = False
        """Whether all schedules were seen once."""

    def note(self, event: ScheduleChanged) -> None:
        """A schedule was changed through this node: look at it soon."""
        self._noted[event.schedule] = event

    async def look(self) -> None:
        """Publish the changes in the next portion. The first look reads all, and publishes none."""
        while not await self._look_at_portion():
            if self._has_seen_all:
                return
        self._has_seen_all = True

    async def look_at_noted(self) -> None:
        """Publish the changes through this node."""
        if not self._noted or not self._has_seen_all:
            return
        noted, self._noted = self._noted, {}
        found = await self._store.schedules.get(list(noted))
        for event, stored in zip(noted.values(), found.schedules, strict=True):
            self._compare_one(event.schedule, None if stored is None else _revision(stored), event)

    async def _look_at_portion(self) -> bool:
        """Whether it was the last."""
        portion = await self._store.schedules.revisions(self._after, PORTION)
        self._compare(portion)
        is_last = len(portion) < PORTION
        self._after = "" if is_last else portion[-1].name
        return is_last

    def _compare(self, portion: Sequence[Revision]) -> None:
        found = {revision.name: revision for revision in portion}
        through = portion[-1].name if len(portion) == PORTION else None
        gone = [
            name
            for name in self._known
            if name not in found and name > self._after and (through is None or name <= through)
        ]
        for name in gone:
            self._compare_one(name, None)
        for name, revision in found.items():
            self._compare_one(name, revision)

    def _compare_one(
        self, name: str, now: Revision | None, noted: ScheduleChanged | None = None
    ) -> None:
        before = self._known.get(name)
        if now == before:
            return
        if now is None:
            del self._known[name]
        else:
            self._known[name] = now
        if self._has_seen_all:
            change, reason = _words(before, now, noted)
            view = ScheduleToldView(schedule=name, change=change, reason=reason)
            self._feed.publish(EventKind.SCHEDULE, view)


def _revision(stored: StoredSchedule) -> Revision:
    return Revision(
        stored.name, stored.version, stored.updated_at, stored.paused, stored.pause_reason
    )


def _words(
    before: Revision | None, now: Revision | None, noted: ScheduleChanged | None
) -> tuple[str, str]:
    """The change and its reason. The noted change counts only if there was no other."""
    if now is None:
        return REMOVE, ""
    if noted is not None and now.version == (before.version if before else 0) + 1:
        return noted.change, noted.reason
    if before is None:
        return PUT, ""
    if now.paused and (before.paused, before.pause_reason) != (True, now.pause_reason):
        return PAUSE, now.pause_reason
    return (RESUME, "") if before.paused and not now.paused else (PUT, "")
