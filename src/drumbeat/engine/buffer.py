"""The buffer: attempts that this node has claimed and not started yet.

None stays for long. One alarm, not a timer for each, finds those that have waited longer than the
patience; they are handed back, so that another node can run them. The alarm rings on the event
loop, which a handler may have kept to itself for longer still, or the whole process was asleep. So
an attempt's age is looked at once more when its turn comes: one that is too old does not start.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from drumbeat.model.job import Attempt, Hold
from drumbeat.ports.clock import Alarm, Clock
from drumbeat.rules.prefetching import PATIENCE


class Batch:
    """Attempts that came together, in their order."""

    __slots__ = ("attempts", "since")

    def __init__(self, attempts: Iterable[Attempt], since: float) -> None:
        self.attempts = deque(attempts)
        self.since = since


class Buffer:
    """First in, first out; too long in, handed back."""

    def __init__(
        self,
        clock: Clock,
        hand_back: Callable[[Attempt], None],
        patience: float = PATIENCE,
    ) -> None:
        self._clock = clock
        self._hand_back = hand_back
        self._patience = patience
        self._batches: deque[Batch] = deque()
        """None is empty."""
        self._alarm: Alarm | None = None
        self.count = 0
        """How many wait."""
        self.waited = 0.0
        """The longest that any had waited when it left to be started, since this was reset."""
        self.gave_up = False
        """Whether any was handed back, since this was reset."""

    @property
    def holds(self) -> tuple[Hold, ...]:
        """The holds of all that wait."""
        return tuple(attempt.hold for batch in self._batches for attempt in batch.attempts)

    def put(self, attempts: Iterable[Attempt]) -> None:
        """Add attempts that were claimed just now."""
        batch = Batch(attempts, self._clock.elapsed())
        if batch.attempts:
            self._batches.append(batch)
            self.count += len(batch.attempts)
            self._watch()

    def next(self) -> Attempt | None:
        """The one whose turn it is; None: none may start."""
        while self._batches:
            batch = self._batches[0]
            waited = self._clock.elapsed() - batch.since
            if waited >= self._patience:
                self._hand_back_first()
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
        """Take some out of the line, to be ended without having started."""
        taken: list[Attempt] = []
        for batch in self._batches:
            taken += filter(unwanted, batch.attempts)
            batch.attempts = deque(each for each in batch.attempts if not unwanted(each))
        self._batches = deque(batch for batch in self._batches if batch.attempts)
        self.count -= len(taken)
        return taken

    def _watch(self) -> None:
        """Look again when the first of them will have waited too long."""
        if self._alarm is None and self._batches:
            wait = self._batches[0].since + self._patience - self._clock.elapsed()
            self._alarm = self._clock.call_later(max(0.0, wait), self._ring)

    def _ring(self) -> None:
        self._alarm = None
        now = self._clock.elapsed()
        while self._batches and now - self._batches[0].since >= self._patience:
            self._hand_back_first()
        self._watch()

    def _hand_back_first(self) -> None:
        attempts = self._batches.popleft().attempts
        self.count -= len(attempts)
        self.gave_up = True
        for attempt in attempts:
            self._hand_back(attempt)
