"""Followers: skip the ticks that the leader runs. In-process mode only.

With a coordinator, the shared cursor decides: a follower skips a tick when, and only when, some
leader has claimed it, so that an unclaimed tick is still there for the next leader. With only a
user's elector, its answer decides: it is asked when a tick comes due, and a no skips the tick.
"""

from __future__ import annotations

from drumbeat.engine.in_process.cursor_skip import TickSkipper
from drumbeat.engine.in_process.shared_cursor import SharedCursor
from drumbeat.engine.leading.leadership import Leadership
from drumbeat.engine.plumbing.service import Service, ServiceContext
from drumbeat.model.events import LabelShared
from drumbeat.model.ids import NodeId, label_of
from drumbeat.model.part import Part
from drumbeat.ports.store import Topic

LOOK_AGAIN = 5.0
"""Seconds after which a watch that ended is restarted."""
LONGEST_WAIT = 1.0
SOON = 0.25
"""Seconds after which to check whether a requested term has begun."""


class CursorFollower(Service):
    """Skips what other instances have claimed, according to the shared cursor."""

    name = "follower"
    backend = Part.COORDINATOR  # the elector reports its outages

    def __init__(
        self, node: NodeId, cursor: SharedCursor, skipper: TickSkipper, context: ServiceContext
    ) -> None:
        super().__init__(context)
        self._node = node
        self._cursor = cursor
        self._skipper = skipper
        self._alike: set[NodeId] = set()

    async def once(self) -> float | None:
        """Follow the shared cursor for as long as it can be watched."""
        first = True
        async for position in self._cursor.watch():
            self._succeed()
            if position.holder != self._node:
                if not first:  # the first may be from a previous run of this instance
                    self._compare_label(position.holder)
                if position.through is not None:
                    await self._skipper.over(self._skipper.believable(position.through))
            first = False
        return LOOK_AGAIN

    def _compare_label(self, other: NodeId) -> None:
        if label_of(other) == label_of(self._node) and other not in self._alike:
            self._alike.add(other)
            self._bus.emit(LabelShared(self._node, other))


class ElectorFollower(Service):
    """Skips what comes due while this instance does not lead, by its own clock."""

    name = "follower"
    topics = (Topic.TIMES,)

    def __init__(
        self, leadership: Leadership, skipper: TickSkipper, context: ServiceContext
    ) -> None:
        super().__init__(context)
        self._leadership = leadership
        self._skipper = skipper

    async def once(self) -> float | None:
        """Skip what is due if the elector says right now that another instance leads."""
        if self._leadership.term is not None or not self._leadership.elector.tries:
            return LONGEST_WAIT
        now = self._runtime.clock.now()
        if await self._skipper.is_due(now) and await self._leadership.elector.would_lead():
            return SOON  # a term begins, whose ticker fires what is due
        next_at = await self._skipper.over(now)
        wait = LONGEST_WAIT if next_at is None else (next_at - now).total_seconds()
        return min(LONGEST_WAIT, max(0.001, wait))
