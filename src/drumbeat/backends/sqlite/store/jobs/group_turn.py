"""Group turn: how far a claim has come with one limit group that has limits or a rate."""

from __future__ import annotations

from drumbeat.backends.sqlite.store.jobs.limit_groups import LimitGroup
from drumbeat.backends.sqlite.store.jobs.rows import Place, QueuedRow
from drumbeat.backends.sqlite.store.session import StoreSession
from drumbeat.backends.sqlite.store.sql import CLAIMS

AT_ONCE = 2
"""Jobs of a group that are read together with those of other groups."""
MORE = 100
"""Jobs of a group that are read at once when it turns out to have room for many."""


class GroupTurn:
    """A limit group, and its first jobs that have been read already."""

    __slots__ = ("_all_read", "_front", "_jobs", "_next", "empty", "group", "parked")

    def __init__(self, group: LimitGroup, front: Place, jobs: list[QueuedRow]) -> None:
        self.group = group
        self.parked = False
        """A limit or a rate blocks the group: this claim is done with it."""
        self.empty = False
        """The group has no queued job left."""
        self._front = front
        self._jobs = jobs
        self._next = 0
        self._all_read = len(jobs) < AT_ONCE

    def first(self, session: StoreSession) -> QueuedRow | None:
        """The first job of the group that was not taken."""
        if self._next == len(self._jobs) and not self._all_read:
            place = self._jobs[-1].place
            rows = session.execute(CLAIMS.next_of_group, (self.group.id, *place, MORE))
            self._jobs = list(map(QueuedRow._make, rows))
            self._next = 0
            self._all_read = len(self._jobs) < MORE
        return self._jobs[self._next] if self._next < len(self._jobs) else None

    def advance(self) -> None:
        self._next += 1

    def moved_to(self) -> Place | None:
        """The place of the first job, if the tables have another one in front."""
        if self.parked or self.empty or self._next >= len(self._jobs):
            return None
        place = self._jobs[self._next].place
        return place if place != self._front else None
