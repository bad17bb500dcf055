"""Retry: how often a failed job is retried, and after which delays."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import inf

from drumbeat.model.errors import InvalidOption

HIGHEST_RETRIES = 1_000


class Strategy(StrEnum):
    """How the delay grows from one retry to the next."""

    LINEAR = "linear"
    """The same delay each time."""
    BACKPRESSURE = "backpressure"
    """Twice as long each time, with jitter, up to the longest delay."""


@dataclass(frozen=True, slots=True)
class Retry:
    """How often and when a job is retried. It is part of the job, so any node can apply it."""

    strategy: Strategy
    max_retries: int
    base_delay: float
    max_delay: float

    def __post_init__(self) -> None:
        if not 0 <= self.max_retries <= HIGHEST_RETRIES:
            raise InvalidOption(
                f"max_retries must lie between 0 and {HIGHEST_RETRIES:,}, not {self.max_retries}"
            )
        if not 0 <= self.base_delay < inf:  # written so that a NaN is rejected too
            raise InvalidOption(f"base_delay must be zero or more, not {self.base_delay}")
        if not self.base_delay <= self.max_delay < inf:
            raise InvalidOption(
                f"max_delay {self.max_delay} must be finite, and not shorter than "
                f"base_delay {self.base_delay}"
            )

    @property
    def max_attempts(self) -> int:
        return self.max_retries + 1

    @classmethod
    def never(cls) -> Retry:
        """One attempt only. A job whose worker dies is then failed, not run again."""
        return cls(Strategy.LINEAR, 0, 0.0, 0.0)

    @classmethod
    def linear(cls, max_retries: int = 3, delay: float = 1.0) -> Retry:
        """The same delay, in seconds, before each retry."""
        return cls(Strategy.LINEAR, max_retries, delay, delay)

    @classmethod
    def backpressure(
        cls, max_retries: int = 3, base_delay: float = 1.0, max_delay: float = 3600.0
    ) -> Retry:
        """A delay that doubles with each retry, with jitter, up to `max_delay` seconds."""
        return cls(Strategy.BACKPRESSURE, max_retries, base_delay, max_delay)


DEFAULT_RETRY = Retry.backpressure()
