"""The shared ticker: takes ticks for the whole fleet before it fires them. In-process mode only.

The store is this instance's own, so its cursor proves nothing to others. What does is the mark, a
value at the coordinator that every leader moves by compare-and-set. A tick that was taken and not
run, since the leader died between the two, is lost; the reverse order would run it twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from drumbeat.engine.bus import Bus
from drumbeat.engine.leadership import Term
from drumbeat.engine.marks import Mark, Marks
from drumbeat.engine.passing import Passing
from drumbeat.engine.patience import within
from drumbeat.engine.ticker import Ticker, TickerSettings
from drumbeat.model.part import Part
from drumbeat.model.plan import Plan
from drumbeat.ports.runtime import Runtime
from drumbeat.ports.store import ScheduleStore
from drumbeat.rules.in_step import means_its_start

OVERTAKEN = "another instance has taken ticks since"


class SharedTicker(Ticker):
    """A ticker that moves the mark before it commits. Its store is in memory."""

    backend = Part.COORDINATOR

    def __init__(
        self,
        term: Term,
        schedules: ScheduleStore,
        settings: TickerSettings,
        marks: Marks,
        passing: Passing,
        runtime: Runtime,
        bus: Bus,
    ) -> None:
        super().__init__(term, schedules, settings, runtime, bus)
        self._marks = marks
        self._passing = passing
        self._mark: Mark | None = None
        self._unsure = False
        """Whether the last move of the mark was not answered: perhaps it was made."""

    async def once(self) -> float | None:
        """Take the mark over when the term begins; then fire what is due, batch by batch."""
        if self._mark is None:
            async with within(self._runtime.clock, self._term.patience):
                await self._take_over()
            if self._mark is None:
                return None
        return await super().once()

    async def _take_over(self) -> None:
        """Write our term into the mark, so that no earlier leader can move it any more."""
        found = await self._marks.read()
        lease = self._term.lease
        through = found.through if found is not None else None
        if through is not None:
            through = self._passing.believable(through)
            await self._passing.over(through)
        ours = Mark(through, lease.holder, lease.token, found.revision if found else 0)
        if found is not None and found.same_term(ours):  # moved by us, and the answer got lost
            self._mark = found
            return
        self._mark = await self._marks.move(ours)
        if self._mark is None:
            self._term.resign(OVERTAKEN)

    async def _commit(self, plans: Sequence[Plan]) -> list[Plan] | None:
        if not await self._take(max(made.cursor for made in plans)):
            self._term.resign(OVERTAKEN)
            return None
        return await super()._commit([made for made in plans if await self._is_ours(made)])

    async def _take(self, through: datetime) -> bool:
        mark = await self._known_mark()
        if mark is None:
            return False
        if mark.through is not None and through <= mark.through:
            return True
        self._unsure = True
        moved = await self._marks.move(replace(mark, through=through))
        self._unsure = False
        if moved is not None:
            self._mark = moved
        return moved is not None

    async def _known_mark(self) -> Mark | None:
        """The mark as we left it; None: it is not ours any more."""
        mark = self._mark
        assert mark is not None, "it was taken over before"
        if not self._unsure:
            return mark
        found = await self._marks.read()
        if found is None or not found.same_term(mark):
            return None
        self._mark, self._unsure = found, False
        return found

    async def _is_ours(self, made: Plan) -> bool:
        """Whether the plan may be written: the one tick of `once()` is taken by its name."""
        stored = made.before
        if not made.fires or not means_its_start(stored.schedule):
            return True
        if await self._marks.take_once(made.name, self._term.lease.holder):
            return True
        await self._passing.each([stored], made.as_of)
        return False
