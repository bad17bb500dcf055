"""The ticker: fires the ticks that are due.

Read what is due, decide purely, write once. The store judges the time, the plan is a pure function
of what was read, and the commit happens as a whole at our epoch or not at all. Between two passes
only the next wake-up time is kept in memory.

If much is due at once, it is committed in portions, one after the other; the next portion is
planned while the store writes one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from drumbeat.engine.leading.leadership import Term
from drumbeat.engine.plumbing.service import Service, ServiceContext
from drumbeat.engine.plumbing.time_outs import timeout_after
from drumbeat.engine.ticking.unknown_tasks import StrandedJobs
from drumbeat.model.errors import StaleEpoch
from drumbeat.model.events import ClockSkewed, PlanFailed, TickFired, TickRaced, TickSkipped
from drumbeat.model.jobs.job import Ticket
from drumbeat.model.schedules.plan import Committed, Plan, Raced
from drumbeat.model.schedules.schedule import Due, DueSchedule
from drumbeat.ports.queue import Queue
from drumbeat.ports.store import ScheduleStore, Topic
from drumbeat.rules.planning.plan import plan

WIDEST_SKEW = timedelta(seconds=5)
AGAIN = timedelta(milliseconds=100)
"""Pause when something is due by one clock only, or was changed meanwhile."""
FAILED_AGAIN = timedelta(seconds=5)
PORTION = 500
"""Schedules whose plans are committed together."""


@dataclass(frozen=True, slots=True)
class TickerSettings:
    """Batch size and longest pause."""

    batch: int = 2_000
    """Schedules that are read at a time."""
    poll: float | None = 1.0
    """Seconds after which to look even without a hint. None: the store's hints are enough."""


class Ticker(Service):
    """Fires ticks for as long as its term may act."""

    name = "ticker"
    topics = (Topic.TIMES,)

    def __init__(
        self,
        term: Term,
        schedules: ScheduleStore,
        settings: TickerSettings,
        context: ServiceContext,
        *,
        stranded: StrandedJobs | None = None,
        tickets: Queue | None = None,
    ) -> None:
        super().__init__(context)
        self._term = term
        self._schedules = schedules
        self._settings = settings
        self._failing_since: float | None = None
        self._trouble: Exception | None = None
        """The last error of the backend during the failure."""
        self._stranded = stranded
        """Counts jobs of tasks that are unknown here; None: all instances have the same tasks."""
        self._tickets = tickets
        """Gets tickets for what was fired; None: the store's hints are enough."""
        self._failed: dict[str, int] = {}
        """Schedules that could not be planned, and which version of them."""

    async def once(self) -> float | None:
        """Fire one batch of due ticks; return how long nothing will be due."""
        clock = self._runtime.clock
        if self._failing_since is None:
            self._failing_since = clock.elapsed()  # unless this pass succeeds
        give_up_at = self._failing_since + self._term.store_timeout
        try:
            async with timeout_after(clock, give_up_at - clock.elapsed()):
                pause = await self._fire()
        except Exception as error:
            if self._trouble is None or not isinstance(error, TimeoutError):
                self._trouble = error
            if clock.elapsed() >= give_up_at:
                self._term.resign(f"the {self.backend} cannot be reached: {self._trouble}")
            raise
        self._failing_since = self._trouble = None
        return pause

    async def _fire(self) -> float | None:
        # Schedules that cannot be planned stay due: they must not fill the batch of the others.
        due = await self._schedules.due(self._settings.batch + len(self._failed))
        read_at = self._runtime.clock.elapsed()
        local = self._runtime.clock.now()
        if abs(local - due.as_of) > WIDEST_SKEW:
            self._give_up_by_clock(local - due.as_of)
            return None
        # The earlier of two clocks, so that one that runs ahead cannot fire anything early.
        now = min(local, due.as_of)
        committed = await self._plan_and_commit(due.schedules, now)
        if committed is None:
            return None
        pause = self._pause(due, committed, now)
        return pause and max(0.0, pause - (self._runtime.clock.elapsed() - read_at))

    async def _plan_and_commit(
        self, schedules: Sequence[DueSchedule], now: datetime
    ) -> Sequence[Plan] | None:
        """Plan and commit portion by portion; return what was written. None: the term is over."""
        committed: list[Plan] = []
        writing: asyncio.Task[list[Plan] | None] | None = None
        try:
            for first in range(0, len(schedules), PORTION):
                portion = schedules[first : first + PORTION]
                if self._stranded is not None:
                    portion = await self._stranded.counted(portion)
                plans = [made for schedule in portion if (made := self._plan(schedule, now))]
                if writing is not None:
                    written, writing = await writing, None
                    if written is None:
                        return None
                    committed += written
                if not plans:
                    continue
                if not await self._term.confirm():
                    return None
                if first + PORTION >= len(schedules):  # nothing is left to plan meanwhile
                    written = await self._commit(plans)
                    return None if written is None else committed + written
                writing = asyncio.create_task(self._commit(plans), name="drumbeat-commit")
                await self._runtime.clock.sleep(0)  # let it be sent before the next is planned
        finally:
            if writing is not None and not writing.done():
                writing.cancel()
                await asyncio.wait([writing])
        return committed

    def _plan(self, schedule: DueSchedule, now: datetime) -> Plan | None:
        try:
            made = plan(schedule, now)
        except Exception as error:  # noqa: BLE001 - one schedule must not stop the others
            self._report(schedule, error)
            return None
        if made.cursor == made.before.cursor and made.next_tick == made.before.next_tick:
            return None  # due by the store's clock, not yet by ours
        return made

    async def _commit(self, plans: Sequence[Plan]) -> list[Plan] | None:
        """Write the plans; return those that were written. None: the term is over."""
        try:
            verdicts = await self._schedules.commit(plans, self._term.epoch)
        except StaleEpoch as error:
            self._term.resign(str(error))
            return None
        committed: list[Plan] = []
        for made, verdict in zip(plans, verdicts, strict=True):
            match verdict:
                case Committed():
                    committed.append(made)
                    self._emit_ticks(made, verdict)
                case Raced():
                    self._bus.emit(TickRaced(verdict.name))
        if self._tickets is not None:
            await self._tickets.publish(_tickets(plans, verdicts))
        return committed

    def _emit_ticks(self, made: Plan, committed: Committed) -> None:
        epoch = self._term.epoch.number
        if self._bus.hears(TickFired) and len(made.fires) == len(committed.jobs):
            for fire, job_id in zip(made.fires, committed.jobs, strict=True):
                lateness = made.as_of - fire.tick_at
                self._bus.emit(TickFired(made.name, fire.tick_at, job_id, epoch, lateness))
        for skip in made.skips:
            self._bus.emit(
                TickSkipped(made.name, skip.tick_at, skip.through, skip.count, skip.reason, epoch)
            )

    def _pause(self, due: Due, plans: Sequence[Plan], now: datetime) -> float | None:
        """How long nothing is due, by the clock that judges the ticks."""
        moments = [made.next_tick for made in plans if made.next_tick is not None]
        if due.next_at is not None:
            moments.append(due.next_at)
        if len(plans) < len(due.schedules):  # some are due by one clock only, failed, or raced
            failed = all(each.stored.name in self._failed for each in due.schedules)
            moments.append(now + (FAILED_AGAIN if failed else AGAIN))
        if not moments:
            return self._settings.poll
        wait = max(0.0, (min(moments) - now).total_seconds())
        return wait if self._settings.poll is None else min(wait, self._settings.poll)

    def _report(self, schedule: DueSchedule, error: Exception) -> None:
        """Report a failure once per version: the schedule fails again until it is edited."""
        name, version = schedule.stored.name, schedule.stored.version
        if self._failed.get(name) != version:
            self._failed[name] = version
            self._bus.emit(PlanFailed(name, error))

    def _give_up_by_clock(self, skew: timedelta) -> None:
        self._bus.emit(ClockSkewed(self._term.lease.holder, skew))
        self._term.resign(f"its clock is {skew.total_seconds():+.1f} s from the store's")


def _tickets(plans: Sequence[Plan], verdicts: Sequence[Committed | Raced]) -> Sequence[Ticket]:
    """A ticket for each job that was fired; one that is not due yet does no harm."""
    return [
        Ticket(job_id, made.fires[0].job.queue, made.fires[0].job.priority)
        for made, verdict in zip(plans, verdicts, strict=True)
        if isinstance(verdict, Committed)
        for job_id in verdict.jobs
    ]
