"""What triggers that count from a start have in common."""

from __future__ import annotations

from abc import abstractmethod
from datetime import datetime

from drumbeat.model.time.instant import aware
from drumbeat.model.triggers.trigger import Trigger


class Anchored(Trigger):
    """A trigger that counts from a stored start, so that a restart neither resets nor doubles it.

    A subclass is a dataclass with the field `start`. Without a start it counts from 1970-01-01, so
    that the answer never depends on when it is asked. No tick lies before the start.
    """

    __slots__ = ()

    start: datetime | None

    @property
    def counts(self) -> bool:
        """Whether the ticks depend on the start, so that it must be stored."""
        return True

    def anchored(self, at: datetime) -> Trigger:
        """The trigger starting at the whole second of `at`, if it needs a start and has none.

        Whole seconds are easy to read, and every store keeps them exactly.
        """
        if not self.counts or self.start is not None:
            return self
        return self.starting(aware("at", at).replace(microsecond=0))

    def without_anchor(self) -> Trigger:
        return self if self.start is None else self.starting(None)

    def with_anchor_of(self, other: Trigger) -> Trigger:
        if self.start is None and isinstance(other, Anchored) and self.same_rule(other):
            return self.starting(other.start)
        return self

    @abstractmethod
    def starting(self, start: datetime | None) -> Trigger:
        """The same rule, counted from another start."""
