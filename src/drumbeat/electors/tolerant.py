"""Tolerant electors: a leader stays leader while its elector fails for a short time."""

from __future__ import annotations

from drumbeat.electors.wrapped import WrappedElector, positive
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.engine.plumbing.time_outs import timeout_after
from drumbeat.ports.clock import Clock
from drumbeat.ports.elector import Elector
from drumbeat.rules.leadership.elector_check import require_answer


def tolerant(
    elector: Elector,
    grace: float | str = 10.0,
    *,
    answer_within: float | str = 1.0,
    clock: Clock | None = None,
) -> WrappedElector:
    """Keep the last yes for the grace while the elector fails or does not answer in time.

    Without it an error means "not the leader". The grace counts from the question of the last yes.
    Another instance may lead meanwhile, so keep it shorter than the elector's own lease.
    """
    longest, patience = positive("grace", grace), positive("answer_within", answer_within)
    return _Tolerant(elector, longest, patience, clock or SystemClock())


class _Tolerant(WrappedElector):
    def __init__(self, elector: Elector, grace: float, patience: float, clock: Clock) -> None:
        super().__init__(elector)
        self._grace = grace
        self._patience = patience
        self._clock = clock
        self._trusted_until = float("-inf")

    async def is_leader(self) -> bool:
        asked_at = self._clock.elapsed()
        try:
            async with timeout_after(self._clock, self._patience):
                leads = require_answer(await self._elector.is_leader(), self._elector)
        except Exception:
            if self._clock.elapsed() < self._trusted_until:
                return True
            raise
        self._trusted_until = asked_at + self._grace if leads else float("-inf")
        return leads

    async def resign(self, reason: str = "resigned") -> None:
        self._trusted_until = float("-inf")
        await super().resign(reason)

    def step_down(self, reason: str) -> None:
        self._trusted_until = float("-inf")
        super().step_down(reason)
