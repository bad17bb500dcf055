"""The teller: tells the store how attempts ended, beside the claims.

Usually the worker settles the last batch and claims the next in one step, which is the least work
for all. While a backlog of quick jobs is worked through, that step is what everybody waits for. A
store that can work on two writes at once then gets two: the worker only claims, and the teller
settles what has ended meanwhile. So claiming, running and settling go on at the same time, each in
its own order.
"""

from __future__ import annotations

from collections.abc import Sequence

from drumbeat.engine.attempts import Attempts
from drumbeat.engine.bus import Bus
from drumbeat.engine.service import Service
from drumbeat.model.events import AttemptSuperseded, JobSettled
from drumbeat.model.job import Hold, Settled, Settlement, Superseded
from drumbeat.ports.runtime import Runtime
from drumbeat.ports.store import JobStore

LINGER = 0.005
"""Seconds that an ending goes untold at most while the slots have plenty to do."""


class Teller(Service):
    """Knows which endings are being told, and what the store said to them."""

    name = "teller"

    def __init__(self, jobs: JobStore, attempts: Attempts, runtime: Runtime, bus: Bus) -> None:
        super().__init__(runtime, bus)
        self._jobs = jobs
        self._attempts = attempts
        self._unsure: set[Hold] = set()
        """Holds that were settled perhaps: refusing them now may only mean that they were."""
        self.beside = False
        """Whether it settles what ends; else the worker does so with its claims."""
        self.under_way: Sequence[Settlement] = ()
        """What it is telling just now."""

    async def once(self) -> float | None:
        """Settle what has ended, once the first of it is old enough to have company."""
        if not self.beside:
            return None
        pause = self.until_due()
        if pause > 0:
            return pause
        settled = self.under_way = self.take_up()
        try:
            verdicts = await self._jobs.settle(settled)
        except BaseException:
            self.put_back(settled)
            self._attempts.on_change()  # by then the worker may have to do it
            raise
        finally:
            self.under_way = ()
        self.heard(settled, verdicts)
        return 0.0

    def until_due(self) -> float:
        """How long the endings can still wait for company."""
        attempts = self._attempts
        if not attempts.settled:
            return LINGER
        return LINGER - (self._runtime.clock.elapsed() - attempts.settled_since)

    def take_up(self) -> list[Settlement]:
        """All endings that the store does not know yet. Nobody else tells of them from here on."""
        settled, self._attempts.settled = self._attempts.settled, []
        return settled

    def put_back(self, settled: Sequence[Settlement]) -> None:
        """The store did not answer, so perhaps it was done and perhaps not.

        Settling again is harmless, since a hold that was settled is over.
        """
        self._attempts.settled[:0] = settled
        self._unsure.update(settlement.hold for settlement in settled)

    def heard(
        self, settled: Sequence[Settlement], verdicts: Sequence[Settled | Superseded]
    ) -> None:
        """Say what the store answered."""
        hears = self._bus.hears(JobSettled)
        for settlement, verdict in zip(settled, verdicts, strict=True):
            if isinstance(verdict, Superseded):
                if verdict.hold not in self._unsure:
                    self._bus.emit(AttemptSuperseded(verdict.hold))
            elif hears:
                self._bus.emit(JobSettled(settlement, verdict.status))
        if self._unsure:
            self._unsure.difference_update(verdict.hold for verdict in verdicts)
