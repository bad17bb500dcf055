"""LoopWatchdog: notices that the event loop of a node's services is blocked.

The lease is renewed in a thread of its own, which a handler that never awaits does not block. But a
leader whose services stand still must not keep the other nodes from leading for long.
"""

from __future__ import annotations

from collections.abc import Callable

from drumbeat.ports.clock import Clock


class LoopWatchdog:
    """Sends the loop one call at a time, and knows for how long the answer has been missing."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._called_at: float | None = None
        """When the unanswered call was made; None: there is none."""

    def blocked_for(self, call_loop: Callable[[Callable[[], None]], None]) -> float:
        """Seconds for which the loop has not answered; sends the next call, so poll it regularly.

        A pause of the whole process does not count: the call before the pause was answered.
        """
        now, called_at = self._clock.elapsed(), self._called_at
        if called_at is not None:
            return now - called_at
        self._called_at = now
        call_loop(self._answer)
        return 0.0

    def _answer(self) -> None:
        self._called_at = None
