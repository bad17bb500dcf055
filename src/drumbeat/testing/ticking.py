"""Ticking by hand: fire what is due, without a node and without an election."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count

from drumbeat.app import Drumbeat
from drumbeat.model.events import TickFired, TickSkipped
from drumbeat.model.fleet.lease import SCHEDULER, Epoch, Lease, Outranked
from drumbeat.model.schedules.plan import Committed, Plan
from drumbeat.ports.store import Fence, ScheduleStore
from drumbeat.rules.planning.plan import plan
from drumbeat.testing import inside
from drumbeat.testing.hand import NAME

BATCH = 500
DOMAIN = "drumbeat.testing"
_TOKENS = count(1)


@dataclass(frozen=True, slots=True)
class Ticked:
    """What became of the ticks that were due, oldest first for each schedule."""

    fired: tuple[TickFired, ...] = ()
    skipped: tuple[TickSkipped, ...] = ()


async def tick(app: Drumbeat, *, at: datetime | None = None) -> Ticked:
    """Fire the ticks of all schedules that are due now, or at an instant.

    The schedules that the app declares are made known first, so the first call is where their
    time begins: a tick before it is none. The jobs of the ticks are queued; `drain` runs them.
    The term of a node that leads at the same time ends by this.
    """
    setup = inside.setup(app)
    schedules = setup.backends.store.schedules
    changes = await app.schedules.declare(inside.declared(app))
    epoch = await _claim(setup.backends.store.fence)
    fired: list[TickFired] = []
    skipped: list[TickSkipped] = []
    while plans := await _plans(schedules, at):
        verdicts = await schedules.commit(plans, epoch, at)
        for made, verdict in zip(plans, verdicts, strict=True):
            if isinstance(verdict, Committed):
                fired += _fired(made, verdict, epoch)
                skipped += _skipped(made, epoch)
    if changes:
        await app.schedules.declare_waiting(changes)
    for event in (*fired, *skipped):
        setup.bus.emit(event)
    await setup.bus.flush()
    return Ticked(tuple(fired), tuple(skipped))


async def _claim(fence: Fence) -> Epoch:
    while True:  # tokens start anew with each process, and the store may remember higher ones
        lease = Lease(SCHEDULER, NAME, DOMAIN, next(_TOKENS), timedelta(seconds=10))
        match await fence.claim(lease):
            case Epoch() as epoch:
                return epoch
            case Outranked():
                pass


async def _plans(schedules: ScheduleStore, at: datetime | None) -> list[Plan]:
    """Plans for what is due; none for a schedule that would stay where it stands."""
    due = await schedules.due(BATCH, at)
    return [
        made
        for made in (plan(schedule, due.as_of) for schedule in due.schedules)
        if (made.cursor, made.next_tick) != (made.before.cursor, made.before.next_tick)
    ]


def _fired(made: Plan, committed: Committed, epoch: Epoch) -> list[TickFired]:
    return [
        TickFired(made.name, fire.tick_at, job_id, epoch.number, made.as_of - fire.tick_at)
        for fire, job_id in zip(made.fires, committed.jobs, strict=True)
    ]


def _skipped(made: Plan, epoch: Epoch) -> list[TickSkipped]:
    return [
        TickSkipped(made.name, skip.tick_at, skip.through, skip.count, skip.reason, epoch.number)
        for skip in made.skips
    ]
