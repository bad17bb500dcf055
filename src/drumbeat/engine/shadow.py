"""The shadow: a follower's cursors follow what the leader takes. In-process mode only.

Two kinds, by what the instances have in common. With a coordinator it is the mark: a follower
passes a tick when, and only when, some leader has taken it, so that a tick that nobody took is
still there for the next leader. With nothing but a user's own elector there is only its answer: it
is asked when a tick comes, and the tick is passed if it says no.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from drumbeat.engine.bus import Bus
from drumbeat.engine.marks import Marks
from drumbeat.engine.passing import Passing
from drumbeat.engine.service import Service
from drumbeat.model.events import LabelShared
from drumbeat.model.ids import NodeId, label_of
from drumbeat.model.part import Part
from drumbeat.ports.runtime import Runtime
from drumbeat.ports.store import Topic

LOOK_AGAIN = 5.0
"""Seconds after which a watch that ended by itself is begun anew."""
LONGEST_WAIT = 1.0
SOON = 0.25
"""Seconds after which to look whether a term began that was asked for."""


class MarkShadow(Service):
    """Passes what other instances have taken, as the mark says."""

    name = "shadow"
    backend = Part.COORDINATOR  # the elector, which asks it all the time, tells of its outages

    def __init__(
        self, node: NodeId, marks: Marks, passing: Passing, runtime: Runtime, bus: Bus
    ) -> None:
        super().__init__(runtime, bus)
        self._node = node
        self._marks = marks
        self._passing = passing
        self._alike: set[NodeId] = set()

    async def once(self) -> float | None:
        """Follow the mark for as long as it can be watched."""
        first = True
        async for mark in self._marks.watch():
            self._succeed()
            if mark.holder != self._node:
                if not first:  # the first may be from an earlier life of this very instance
                    self._compare_label(mark.holder)
                if mark.through is not None:
                    await self._passing.over(self._passing.believable(mark.through))
            first = False
        return LOOK_AGAIN

    def _compare_label(self, other: NodeId) -> None:
        if label_of(other) == label_of(self._node) and other not in self._alike:
            self._alike.add(other)
            self._bus.emit(LabelShared(self._node, other))


class TurnShadow(Service):
    """Passes what comes while this instance does not lead, as its own clock says."""

    name = "shadow"
    topics = (Topic.TIMES,)

    def __init__(
        self,
        passes: Callable[[], bool],
        would_lead: Callable[[], Awaitable[bool]],
        passing: Passing,
        runtime: Runtime,
        bus: Bus,
    ) -> None:
        super().__init__(runtime, bus)
        self._passes = passes
        self._would_lead = would_lead
        self._passing = passing

    async def once(self) -> float | None:
        """Pass what is due, if the elector says right now that another instance leads."""
        if not self._passes():
            return LONGEST_WAIT
        now = self._runtime.clock.now()
        if await self._passing.is_due(now) and await self._would_lead():
            return SOON  # a term begins, whose ticker fires what is due
        next_at = await self._passing.over(now)
        wait = LONGEST_WAIT if next_at is None else (next_at - now).total_seconds()
        return min(LONGEST_WAIT, max(0.001, wait))
