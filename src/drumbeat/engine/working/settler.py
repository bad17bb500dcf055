"""The settler: settles attempts, concurrently with the claims.

Usually the worker settles the last batch and claims the next in one step, which is the least work.
During a backlog of quick jobs, that step is the bottleneck. A store that can work on two writes at
once then gets two: the worker only claims, and the settler settles what has ended meanwhile. So
claiming, running and settling overlap, each in its own order.
"""

from __future__ import annotations

from collections.abc import Sequence

from drumbeat.engine.plumbing.service import Service, ServiceContext
from drumbeat.engine.working.attempts import Attempts
from drumbeat.model.events import AttemptSuperseded, JobSettled
from drumbeat.model.jobs.job import Hold, Settled, Settlement, Superseded
from drumbeat.ports.store import JobStore

SETTLE_WITHIN = 0.005
"""Seconds that an ending waits at most while the slots have enough to do."""


class Settler(Service):
    """Settles endings by itself while `concurrent` is set; the worker does so otherwise."""

    name = "settler"

    def __init__(self, jobs: JobStore, attempts: Attempts, context: ServiceContext) -> None:
        super().__init__(context)
        self._jobs = jobs
        self._attempts = attempts
        self._unsure: set[Hold] = set()
        """Holds that may have been settled: a refusal may only mean that they were."""
        self.concurrent = False
        self.under_way: Sequence[Settlement] = ()
        """What it is settling now."""

    async def once(self) -> float | None:
        """Settle what has ended, once the first ending is old enough to form a batch."""
        if not self.concurrent:
            return None
        pause = self.until_due()
        if pause > 0:
            return pause
        settled = self.under_way = self.take()
        try:
            verdicts = await self._jobs.settle(settled)
        except BaseException:
            self.put_back(settled)
            self._attempts.changed.set()  # the worker may have to settle them
            raise
        finally:
            self.under_way = ()
        self.report(settled, verdicts)
        return 0.0

    def until_due(self) -> float:
        """How long the endings can still wait to form a batch."""
        attempts = self._attempts
        if not attempts.settled:
            return SETTLE_WITHIN
        return SETTLE_WITHIN - (self._runtime.clock.elapsed() - attempts.settled_since)

    def take(self) -> list[Settlement]:
        """Take all unsettled endings: only the caller settles them."""
        settled, self._attempts.settled = self._attempts.settled, []
        return settled

    def put_back(self, settled: Sequence[Settlement]) -> None:
        """The store did not answer, so it may or may not have settled them.

        Settling again is harmless, since a hold that was settled is over.
        """
        self._attempts.settled[:0] = settled
        self._unsure.update(settlement.hold for settlement in settled)

    def report(
        self, settled: Sequence[Settlement], verdicts: Sequence[Settled | Superseded]
    ) -> None:
        """Emit the verdicts of the store."""
        self._attempts.counts.settled(verdicts)
        hears = self._bus.hears(JobSettled)
        for settlement, verdict in zip(settled, verdicts, strict=True):
            if isinstance(verdict, Superseded):
                if verdict.hold not in self._unsure:
                    self._bus.emit(AttemptSuperseded(verdict.hold))
            elif hears:
                self._bus.emit(JobSettled(settlement, verdict.status))
        if self._unsure:
            self._unsure.difference_update(verdict.hold for verdict in verdicts)
