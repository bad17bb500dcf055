"""The ticker: fires the ticks that are due.

Read shortly before the instant, decide purely, and write once, at the instant. The store judges the
time, the plan is a pure function of what was read, and the commit happens as a whole at our epoch
or not at all. Plans for instants to come are kept for a tenth of a second (`upcoming.py`); a plan
that the store refuses is forgotten, and its schedule is read again.

If much is due at once, it is committed in portions (`portions.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import inf

from drumbeat.engine.leading.leadership import Term
from drumbeat.engine.plumbing.service import Service, ServiceContext
from drumbeat.engine.plumbing.time_outs import timeout_after
from drumbeat.engine.ticking.portions import PORTION, PortionedCommit
from drumbeat.engine.ticking.tick_clock import TickClock
from drumbeat.engine.ticking.unknown_tasks import StrandedJobs
from drumbeat.engine.ticking.upcoming import Upcoming
from drumbeat.model.errors import StaleEpoch
from drumbeat.model.events import ClockSkewed, PlanFailed, TickFired, TickRaced, TickSkipped
from drumbeat.model.fast_construction import fast_replace
from drumbeat.model.jobs.job import Ticket
from drumbeat.model.schedules.plan import Committed, Plan, Raced
from drumbeat.model.schedules.schedule import DueSchedule
from drumbeat.ports.queue import Queue
from drumbeat.ports.store import ScheduleStore, Topic
from drumbeat.rules.planning.ahead import is_fresh, may_be_planned_ahead
from drumbeat.rules.planning.plan import plan

WIDEST_SKEW = timedelta(seconds=5)
AHEAD = timedelta(milliseconds=100)
"""How far ahead schedules are read and planned."""
LEAD = 0.05
"""Seconds before a tick by which its schedule is read."""
AGAIN = 0.1
"""Pause in seconds when something is due by one clock only, or was changed meanwhile."""
FAILED_AGAIN = 5.0

dated = fast_replace(Plan)


@dataclass(frozen=True, slots=True)
class TickerSettings:
    """Batch size and longest pause."""

    batch: int = 2_000
    """Schedules that are read at a time."""
    poll: float | None = 1.0
    """Seconds after which to look even without a hint. None: the store's hints are enough."""
    writers: int = 1
    """How many portions are committed at once."""


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
        self._clock = TickClock(context.runtime.clock)
        self._upcoming = Upcoming()
        self._portions = PortionedCommit(
            self._commit_if_confirmed, settings.writers, context.runtime.clock
        )
        self._read_at = -inf
        """When to read next, in elapsed seconds."""
        self._failing_since: float | None = None
        self._trouble: Exception | None = None
        """The last error of the backend during the failure."""
        self._stranded = stranded
        """Counts jobs of tasks that are unknown here; None: all instances have the same tasks."""
        self._tickets = tickets
        """Gets tickets for what was fired; None: the store's hints are enough."""
        self._failed: dict[str, int] = {}
        """Schedules that could not be planned, and which version of them."""

    def wake(self) -> None:
        """Read again: there may be an earlier tick."""
        self._read_at = -inf
        super().wake()

    async def once(self) -> float | None:
        """Fire what is due, or read what comes next; return how long there is nothing to do."""
        clock = self._runtime.clock
        if self._failing_since is None:
            self._failing_since = clock.elapsed()  # unless this pass succeeds
        give_up_at = self._failing_since + self._term.store_timeout
        try:
            async with timeout_after(clock, give_up_at - clock.elapsed()):
                pause = await self._fire()
        except Exception as error:
            # Perhaps something was written: only the store knows what is due.
            self._upcoming.forget()
            self._read_at = -inf
            if self._trouble is None or not isinstance(error, TimeoutError):
                self._trouble = error
            if clock.elapsed() >= give_up_at:
                self._term.resign(f"the {self.backend} cannot be reached: {self._trouble}")
            raise
        self._failing_since = self._trouble = None
        return pause

    async def _pause(self, seconds: float | None) -> None:
        if seconds is None or self._upcoming.first_at is None:
            await super()._pause(seconds)
        else:
            await self._wake_up.wait_punctually(seconds)

    async def _fire(self) -> float | None:
        """Commit the plans whose instant has come; else read, if it is time to."""
        now = self._clock.now()
        planned = self._upcoming.take_due(now)
        if planned:
            goes_on = await self._fire_planned(planned, now)
        else:
            goes_on = self._until_read() > 0 or await self._read_and_fire()
        if goes_on:
            return self._until_next()
        # The term is over, and with it this service; or it was only suspended for a moment.
        self._upcoming.forget()
        self._read_at = -inf
        return AGAIN

    async def _fire_planned(self, planned: Sequence[Plan], now: datetime) -> bool:
        """Commit plans that were made ahead. False: the term is over."""
        fresh = [made for made in planned if is_fresh(made, now)]
        committed = await self._portions.run(fresh, lambda plans: self._dated(plans, now))
        if committed is None:
            return False
        if len(committed) < len(planned):  # changed meanwhile, or the store's clock is behind
            self._clock.forget()
            self._read_at = -inf
        self._read_before_ticks_of(committed)
        return True

    async def _read_and_fire(self) -> bool:
        """Read what is due and what comes next, and fire the former. False: the term is over."""
        self._read_at = inf  # or earlier, if a hint comes from now on
        asked_at = self._runtime.clock.elapsed()
        # Schedules that cannot be planned stay due: they must not fill the batch of the others.
        due = await self._schedules.due(self._settings.batch + len(self._failed), ahead=AHEAD)
        skew = self._clock.skew(due.as_of, asked_at)
        if abs(skew) > WIDEST_SKEW:
            self._give_up_by_clock(skew)
            return False
        local = self._runtime.clock.now()
        self._clock.learn(due.as_of, asked_at)
        if self._settings.poll is not None:
            self._read_within(self._settings.poll)
        ready = [each for each in due.schedules if _tick_of(each) <= due.as_of]
        # The earlier of two clocks, so that one that runs ahead cannot fire anything early.
        now = min(local, due.as_of)
        committed = await self._portions.run(ready, lambda some: self._planned(some, now))
        if committed is None:
            return False
        self._read_before_ticks_of(committed)
        if len(committed) < len(ready):  # some are due by one clock only, failed, or raced
            failed = all(each.stored.name in self._failed for each in ready)
            self._read_within(FAILED_AGAIN if failed else AGAIN)
        await self._plan_ahead(due.schedules[len(ready) :])
        if due.next_at is not None:
            is_beyond = due.next_at > due.as_of + AHEAD  # else it did not fit into the batch
            self._read_within(self._clock.until(due.next_at) - (LEAD if is_beyond else 0))
        return True

    async def _plan_ahead(self, schedules: Sequence[DueSchedule]) -> None:
        """Plan the next ticks of these; those that cannot be are read at their instants."""
        if self._stranded is not None:
            schedules = await self._stranded.counted(schedules)
        planned: list[Plan] = []
        for number, each in enumerate(schedules, 1):
            if number % PORTION == 0:  # others may use the event loop meanwhile
                await self._runtime.clock.sleep(0)
            made = self._plan(each, _tick_of(each)) if may_be_planned_ahead(each) else None
            if made is None:
                self._read_within(self._clock.until(_tick_of(each)))
            else:
                planned.append(made)
        self._upcoming.replace(planned)

    def _read_before_ticks_of(self, plans: Sequence[Plan]) -> None:
        """Read again in time for the next tick of these."""
        ticks = [made.next_tick for made in plans if made.next_tick is not None]
        if ticks:
            self._read_within(self._clock.until(min(ticks)) - LEAD)

    def _read_within(self, seconds: float) -> None:
        self._read_at = min(self._read_at, self._runtime.clock.elapsed() + seconds)

    def _until_next(self) -> float | None:
        """Seconds until there is something to read or to commit; None: a hint will come."""
        wait = self._until_read()
        if (first_at := self._upcoming.first_at) is not None:
            wait = min(wait, self._clock.until(first_at))
        return None if wait == inf else max(0.0, wait)

    def _until_read(self) -> float:
        """Rounded, since a sum of seconds may miss the instant of a tick by a fraction."""
        return round(self._read_at - self._runtime.clock.elapsed(), 6)

    async def _planned(self, schedules: Sequence[DueSchedule], now: datetime) -> Sequence[Plan]:
        if self._stranded is not None:
            schedules = await self._stranded.counted(schedules)
        return [made for schedule in schedules if (made := self._plan(schedule, now))]

    async def _dated(self, plans: Sequence[Plan], now: datetime) -> Sequence[Plan]:
        """The plans as of now, which the events tell the lateness by."""
        return [dated(made, as_of=now) for made in plans]

    def _plan(self, schedule: DueSchedule, now: datetime) -> Plan | None:
        try:
            made = plan(schedule, now)
        except Exception as error:  # noqa: BLE001 - one schedule must not stop the others
            self._report(schedule, error)
            return None
        if made.cursor == made.before.cursor and made.next_tick == made.before.next_tick:
            return None  # due by the store's clock, not yet by ours
        return made

    async def _commit_if_confirmed(self, plans: Sequence[Plan]) -> list[Plan] | None:
        return await self._commit(plans) if await self._term.confirm() else None

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

    def _report(self, schedule: DueSchedule, error: Exception) -> None:
        """Report a failure once per version: the schedule fails again until it is edited."""
        name, version = schedule.stored.name, schedule.stored.version
        if self._failed.get(name) != version:
            self._failed[name] = version
            self._bus.emit(PlanFailed(name, error))

    def _give_up_by_clock(self, skew: timedelta) -> None:
        self._bus.emit(ClockSkewed(self._term.lease.holder, skew))
        self._term.resign(f"its clock is {skew.total_seconds():+.1f} s from the store's")


def _tick_of(due: DueSchedule) -> datetime:
    tick = due.stored.next_tick
    assert tick is not None, "a schedule that is read as due has a next tick"
    return tick


def _tickets(plans: Sequence[Plan], verdicts: Sequence[Committed | Raced]) -> Sequence[Ticket]:
    """A ticket for each job that was fired; one that is not due yet does no harm."""
    return [
        Ticket(job_id, made.fires[0].job.queue, made.fires[0].job.priority)
        for made, verdict in zip(plans, verdicts, strict=True)
        if isinstance(verdict, Committed)
        for job_id in verdict.jobs
    ]
