"""FleetTicker: claims ticks for the whole fleet before it fires them. In-process mode only.

The store belongs to this instance, so its cursor proves nothing to others. The shared cursor does:
a value at the coordinator that every leader moves by compare-and-set. A tick that was claimed and
not run, because the leader died in between, is lost; the reverse order would run it twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from drumbeat.engine.in_process.cursor_skip import TickSkipper
from drumbeat.engine.in_process.shared_cursor import CursorPosition, SharedCursor
from drumbeat.engine.leading.leadership import Term
from drumbeat.engine.plumbing.service import ServiceContext
from drumbeat.engine.plumbing.time_outs import timeout_after
from drumbeat.engine.ticking.ticker import Ticker, TickerSettings
from drumbeat.model.part import Part
from drumbeat.model.schedules.plan import Plan
from drumbeat.ports.store import ScheduleStore
from drumbeat.rules.schedules.in_process import means_its_start

OVERTAKEN = "another instance has taken ticks since"


class FleetTicker(Ticker):
    """A ticker that moves the shared cursor before it commits. Its store is in memory."""

    backend = Part.COORDINATOR

    def __init__(
        self,
        term: Term,
        schedules: ScheduleStore,
        settings: TickerSettings,
        context: ServiceContext,
        *,
        cursor: SharedCursor,
    ) -> None:
        super().__init__(term, schedules, settings, context)
        self._cursor = cursor
        self._skipper = TickSkipper(schedules, context.runtime.clock, context.bus)
        self._position: CursorPosition | None = None
        self._move_unanswered = False
        """Whether the last move of the position was not answered: perhaps it was made."""

    async def once(self) -> float | None:
        """Take over the shared cursor when the term begins; then fire what is due."""
        if self._position is None:
            async with timeout_after(self._runtime.clock, self._term.store_timeout):
                await self._take_over()
            if self._position is None:
                return None
        return await super().once()

    async def _take_over(self) -> None:
        """Write our term into the shared cursor, so that no earlier leader can move it any more."""
        found = await self._cursor.read()
        lease = self._term.lease
        through = found.through if found is not None else None
        if through is not None:
            through = self._skipper.believable(through)
            await self._skipper.over(through)
        ours = CursorPosition(through, lease.holder, lease.token, found.revision if found else 0)
        if found is not None and found.same_term(ours):  # moved by us, and the answer got lost
            self._position = found
            return
        self._position = await self._cursor.move(ours)
        if self._position is None:
            self._term.resign(OVERTAKEN)

    async def _commit(self, plans: Sequence[Plan]) -> list[Plan] | None:
        if not await self._take(max(made.cursor for made in plans)):
            self._term.resign(OVERTAKEN)
            return None
        return await super()._commit([made for made in plans if await self._is_ours(made)])

    async def _take(self, through: datetime) -> bool:
        position = await self._known_position()
        if position is None:
            return False
        if position.through is not None and through <= position.through:
            return True
        self._move_unanswered = True
        moved = await self._cursor.move(replace(position, through=through))
        self._move_unanswered = False
        if moved is not None:
            self._position = moved
        return moved is not None

    async def _known_position(self) -> CursorPosition | None:
        """The cursor as we left it; None: another instance has moved it."""
        position = self._position
        assert position is not None, "it was taken over before"
        if not self._move_unanswered:
            return position
        found = await self._cursor.read()
        if found is None or not found.same_term(position):
            return None
        self._position, self._move_unanswered = found, False
        return found

    async def _is_ours(self, made: Plan) -> bool:
        """Whether the plan may be written: the single tick of `once()` is claimed by its name."""
        stored = made.before
        if not made.fires or not means_its_start(stored.schedule):
            return True
        if await self._cursor.take_once(made.name, self._term.lease.holder):
            return True
        await self._skipper.each([stored], made.as_of)
        return False
