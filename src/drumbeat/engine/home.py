"""Home: whether the event loop that a node's services run on still turns.

The lease is renewed in a thread of its own, which a handler that never awaits does not hold up. A
leader whose services stand still for long must not keep the others out by that.
"""

from __future__ import annotations

from drumbeat.ports.clock import Clock
from drumbeat.ports.runtime import Isolated


class Home:
    """Calls home, one call at a time, and knows for how long the answer has been missing."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._called_at: float | None = None
        """When the call was made that is not answered yet; None: there is none."""

    def silent_for(self, isolated: Isolated) -> float:
        """Seconds for which home has not answered. To be asked again and again: this is the call.

        A pause of the whole process is no silence: the call before it was answered.
        """
        now, called_at = self._clock.elapsed(), self._called_at
        if called_at is not None:
            return now - called_at
        self._called_at = now
        isolated.call_home(self._answer)
        return 0.0

    def _answer(self) -> None:
        self._called_at = None
