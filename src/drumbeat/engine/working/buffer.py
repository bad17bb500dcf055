"""The buffer: attempts that this node has claimed and not started yet.

None stays for long. One alarm, not a timer for each, finds those that have waited too long; they
are given back, so that another node can run them. The alarm rings on the event loop, which a
handler may have blocked for longer, or the process was suspended. So the age of an attempt is
checked again when its turn comes: one that is too old does not start.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from drumbeat.model.jobs.job import Attempt, Hold
from drumbeat.ports.clock import Alarm, Clock
from drumbeat.rules.jobs.prefetch_limit import PATIENCE


@dataclass(slots=True)
class Batch:
    """Attempts that came together, in their order."""

    attempts: deque[Attempt]
    since: float


class Buffer:
    """First in, first out; given back after too long a wait."""

    def __init__(
        self, clock: Clock, give_back: Callable[[Attempt], None], longest_wait: float = PATIENCE
    ) -> None:
        self._clock = clock
        self._give_back = give_back
        self._longest_wait = longest_wait
        self._batches: deque[Batch] = deque()
        """No batch is empty."""
        self._alarm: Alarm | None = None
        self.count = 0
        """How many wait."""
        self.waited = 0.0
        """The longest wait of an attempt that started, since this was reset."""
        self.gave_up = False
        """Whether any was given back, since this was reset."""

    @property
    def holds(self) -> tuple[Hold, ...]:
        return tuple(attempt.hold for batch in self._batches for attempt in batch.attempts)

    def put(self, attempts: Iterable[Attempt]) -> None:
        """Add attempts that were claimed just now."""
        batch = Batch(deque(attempts), self._clock.elapsed())
        if batch.attempts:
            self._batches.append(batch)
            self.count += len(batch.attempts)
            self._watch()

    def next(self) -> Attempt | None:
        """The next attempt to start; None: none may start."""
        while self._batches:
            batch = self._batches[0]
            waited = self._clock.elapsed() - batch.since
            if waited >= self._longest_wait:
                self._give_back_first()
                continue
            if waited > self.waited:
                self.waited = waited
            attempt = batch.attempts.popleft()
            self.count -= 1
            if not batch.attempts:
                self._batches.popleft()
            return attempt
        return None

    def take_out(self, unwanted: Callable[[Attempt], bool]) -> list[Attempt]:
        """Remove some attempts, which end without having started."""
        taken: list[Attempt] = []
        for batch in self._batches:
            taken += filter(unwanted, batch.attempts)
            batch.attempts = deque(each for each in batch.attempts if not unwanted(each))
        self._batches = deque(batch for batch in self._batches if batch.attempts)
        self.count -= len(taken)
        return taken

    def _watch(self) -> None:
        """Set the alarm for when the first batch will have waited too long."""
        if self._alarm is None and self._batches:
            wait = self._batches[0].since + self._longest_wait - self._clock.elapsed()
            self._alarm = self._clock.call_later(max(0.0, wait), self._ring)

    def _ring(self) -> None:
        self._alarm = None
        now = self._clock.elapsed()
        while self._batches and now - self._batches[0].since >= self._longest_wait:
            self._give_back_first()
        self._watch()

    def _give_back_first(self) -> None:
        attempts = self._batches.popleft().attempts
        self.count -= len(attempts)
        self.gave_up = True
        for attempt in attempts:
            self._give_back(attempt)
