"""What the triggers that count from a start have in common."""

from __future__ import annotations

from abc import abstractmethod
from datetime import datetime

from drumbeat.model.instant import aware
from drumbeat.model.trigger import Trigger


class Anchored(Trigger):
    """A trigger that counts from a stored start, so that a restart neither resets nor doubles it.

    A subclass is a dataclass with the field `start`. Without a start it counts from 1970-01-01, so
    that the answer never depends on when it is asked. No tick lies before the start.
    """

    __slots__ = ()

    start: datetime | None

    @property
    def counts(self) -> bool:
        """Whether the start moves any tick, so that it must be fixed."""
        return True

    def anchored(self, at: datetime) -> Trigger:
        """The trigger counted from the second of `at`, if it counts and has no start yet.

        From the whole second: such ticks read well, and every store keeps them exactly.
        """
        if not self.counts or self.start is not None:
            return self
        return self.starting(aware("at", at).replace(microsecond=0))

    def without_anchor(self) -> Trigger:
        """The bare rule."""
        return self if self.start is None else self.starting(None)

    def with_anchor_of(self, other: Trigger) -> Trigger:
        """The trigger with the start of a stored one of the same rule, if it has none itself."""
        if self.start is None and isinstance(other, Anchored) and self.same_rule(other):
            return self.starting(other.start)
        return self

    @abstractmethod
    def starting(self, start: datetime | None) -> Trigger:
        """The same rule, counted from another start."""
