"""Claimed jobs: what a claim has taken from each limit group, until it is written."""

from __future__ import annotations

from dataclasses import dataclass, field

from drumbeat.backends.sqlite.connection.times import Moment
from drumbeat.backends.sqlite.store.jobs.limit_groups import LimitGroup
from drumbeat.backends.sqlite.store.jobs.rows import QueuedRow
from drumbeat.backends.sqlite.store.session import QUEUED, RUNNING, StoreSession
from drumbeat.backends.sqlite.store.sql import CLAIMS, JOBS, write_rows
from drumbeat.model.ids import NodeId


@dataclass(slots=True, eq=False)
class ClaimedFromGroup:
    """What was taken from one group: always its first jobs."""

    group: LimitGroup
    started: list[QueuedRow] = field(default_factory=list[QueuedRow])
    cancelled: int = 0
    last: QueuedRow | None = None
    """The last job that was taken."""


class ClaimedJobs:
    """What was taken from all groups."""

    def __init__(self, session: StoreSession, by: NodeId, now: Moment) -> None:
        self._session = session
        self._by = by
        self._now = now.number
        self._by_group: dict[int, ClaimedFromGroup] = {}

    def of(self, group: LimitGroup) -> ClaimedFromGroup:
        claimed = self._by_group.get(group.id)
        if claimed is None:
            claimed = self._by_group[group.id] = ClaimedFromGroup(group)
        return claimed

    def group(self, number: int) -> LimitGroup:
        """The group of an id, from which something was taken."""
        return self._by_group[number].group

    def write(self) -> None:
        """Take the jobs out of their groups, and hold those that were claimed."""
        session = self._session
        running: list[object] = []
        singles: list[int] = []
        for claimed in self._by_group.values():
            group, started = claimed.group, len(claimed.started)
            assert claimed.last is not None, "something was taken"
            session.count(group.lane, RUNNING, started)
            session.count(group.lane, QUEUED, -started - claimed.cancelled)
            place = (group.id, *claimed.last.place)
            if started > 1 and not claimed.cancelled:
                # The file has all columns already: half the time of passing them again.
                session.execute(CLAIMS.start_through, (self._by, self._now, *place))
            else:
                for row in claimed.started:
                    attempt, fence = row.attempt + 1, row.fence + 1
                    hold = (row.id, group.id, attempt, fence)
                    running += (*hold, self._by, self._now, row.guards_for)
            if started + claimed.cancelled > 1:
                session.execute(JOBS.delete_queued_through, place)
            else:
                singles += place
        write_rows(session.connection, JOBS.many("insert_running"), 7, running)
        write_rows(session.connection, JOBS.many("delete_queued"), 4, singles)
