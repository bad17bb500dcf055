"""Drain mode: run what is queued, and what that submits, until nothing is left to run."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime

from drumbeat.app import Drumbeat
from drumbeat.model.errors import ConfigurationError
from drumbeat.model.jobs.job import Change, Status
from drumbeat.testing import inside
from drumbeat.testing.clock import FakeClock
from drumbeat.testing.hand import Hand, Worked

BATCH = 1_000
RUNAWAY = 10_000
"""Attempts after which jobs that submit jobs without end are to blame."""


@dataclass(frozen=True, slots=True)
class Drained:
    """How many attempts ended how: a job that failed twice and then completed counts thrice."""

    completed: int = 0
    failed: int = 0
    """For good: no retry is left."""
    retried: int = 0
    """Failed, and waits for the next attempt."""
    snoozed: int = 0
    cancelled: int = 0

    @property
    def attempts(self) -> int:
        """All of them."""
        return self.completed + self.failed + self.retried + self.snoozed + self.cancelled


async def drain(
    app: Drumbeat, *, include_pending: bool = False, limit: int | None = None
) -> Drained:
    """Run all queued jobs, and those that they submit, one after the other, without a node.

    Retries, snoozed and delayed jobs are pending, and stay so until their time has come by the
    app's clock. `include_pending` moves the app's `FakeClock` on to each of their times, so that
    nothing at all is left. `limit` stops after so many attempts.
    """
    draining = _Draining(app, _fake_clock(app) if include_pending else None)
    most = RUNAWAY if limit is None else limit
    while draining.attempts < most:
        if not await draining.once():
            break
    else:
        if limit is None:
            raise AssertionError(
                f"not drained after {RUNAWAY:,} attempts: jobs seem to submit jobs without end; "
                f"give a limit to stop earlier"
            )
    return draining.result()


class _Draining:
    def __init__(self, app: Drumbeat, clock: FakeClock | None) -> None:
        self._setup = inside.setup(app)
        self._jobs = self._setup.backends.store.jobs
        self._hand = Hand(app)
        self._clock = clock
        self._ended: Counter[str] = Counter()

    @property
    def attempts(self) -> int:
        return self._ended.total()

    def result(self) -> Drained:
        return Drained(**self._ended)

    async def once(self) -> bool:
        """Run one job, or make one ready to run. False: there is none."""
        promoted = await self._jobs.promote(BATCH)
        counts = await self._jobs.counts()
        queues = [queue for queue, jobs in counts.items() if jobs.get(Status.QUEUED)]
        taken = await self._hand.take(queues, self._setup.registry.runnable)
        self._ended["cancelled"] += len(taken.cancelled) + len(taken.expired)
        for attempt in taken.attempts:
            self._ended[_how(await self._hand.work(attempt))] += 1
        if taken.attempts or taken.cancelled or taken.expired:
            return True
        return await self._wait_for(taken.try_at, promoted.next_at)

    async def _wait_for(self, *moments: datetime | None) -> bool:
        times = [moment for moment in moments if moment is not None]
        if self._clock is None or not times:
            return False
        await self._clock.advance(min(times) - self._clock.now())
        return True


def _how(worked: Worked) -> str:
    match worked.status:
        case Status.COMPLETED | Status.FAILED | Status.CANCELLED as status:
            return status.value
        case _:
            return "snoozed" if worked.settlement.change is Change.SNOOZE else "retried"


def _fake_clock(app: Drumbeat) -> FakeClock:
    clock = inside.setup(app).runtime.clock
    if isinstance(clock, FakeClock):
        return clock
    raise ConfigurationError(
        "include_pending moves the clock on, which only a FakeClock allows; "
        "make the app with runtime=FakeRuntime()"
    )
