"""Retry: how often a failed job is retried, and after which delays."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from math import inf
from typing import Any, TypeAlias

from drumbeat.model.errors import InvalidInput, InvalidOption
from drumbeat.model.time.duration import parse_duration

HIGHEST_RETRIES = 1_000
Delay: TypeAlias = float | str | timedelta
"""A length of time: seconds, or as in "10s"."""
DelayFunction: TypeAlias = Callable[[int, BaseException], Delay | None]
"""The delay after an attempt (from 1) that raised an exception; None: no retry."""


class Strategy(StrEnum):
    """How the delay grows from one retry to the next."""

    LINEAR = "linear"
    """The same delay each time."""
    BACKPRESSURE = "backpressure"
    """Twice as long each time, with jitter, up to the longest delay."""
    DELAYS = "delays"
    """A list of delays, one for each retry."""
    FUNCTION = "function"
    """As a function of the task says; where there is none, as `BACKPRESSURE`."""


@dataclass(frozen=True, slots=True)
class RetryCondition:
    """What a task's code decides: which exceptions are worth a retry, and after which delays."""

    only: tuple[type[BaseException], ...] = ()
    """The exceptions that are worth one; empty: all."""
    never: tuple[type[BaseException], ...] = ()
    function: DelayFunction | None = None


ALWAYS = RetryCondition()


@dataclass(frozen=True, slots=True)
class Retry:
    """How often and when a job is retried. It is part of the job, so any node can apply it.

    Only its `condition` belongs to the task's code, and is never stored: the node that runs a job
    applies the condition of its own task.
    """

    strategy: Strategy
    max_retries: int
    base_delay: float
    max_delay: float
    each_delay: tuple[float, ...] = ()
    """With `DELAYS`: the seconds before each retry."""
    condition: RetryCondition | None = None

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
        if len(self.each_delay) != (self.max_retries if self.strategy is Strategy.DELAYS else 0):
            raise InvalidOption(
                "a retry with delays needs one for each retry, and no other has any"
            )

    @property
    def max_attempts(self) -> int:
        return self.max_retries + 1

    @property
    def stored(self) -> Retry:
        """What of it is part of a job: all but the condition."""
        return self if self.condition is None else replace(self, condition=None)

    @classmethod
    def never(cls) -> Retry:
        """One attempt only. A job whose worker dies is then failed, not run again."""
        return cls(Strategy.LINEAR, 0, 0.0, 0.0)

    @classmethod
    def linear(cls, max_retries: int = 3, delay: Delay = 1.0) -> Retry:
        """The same delay before each retry."""
        seconds = _seconds("delay", delay)
        return cls(Strategy.LINEAR, max_retries, seconds, seconds)

    @classmethod
    def backpressure(
        cls, max_retries: int = 3, base_delay: Delay = 1.0, max_delay: Delay = 3600.0
    ) -> Retry:
        """A delay that doubles with each retry, with jitter, up to `max_delay`."""
        base, longest = _seconds("base_delay", base_delay), _seconds("max_delay", max_delay)
        return cls(Strategy.BACKPRESSURE, max_retries, base, longest)

    @classmethod
    def delays(cls, *delays: Delay) -> Retry:
        """One retry after each of these delays: `Retry.delays("1s", "10s", "1m")`."""
        if not delays:
            raise InvalidOption("Retry.delays needs a delay, such as '10s'; or use Retry.never()")
        each = tuple(_seconds("delay", delay) for delay in delays)
        for seconds in each:
            if not 0 <= seconds < inf:
                raise InvalidOption(f"a delay must be zero or more, not {seconds}")
        return cls(Strategy.DELAYS, len(each), min(each), max(each), each)

    @classmethod
    def by(cls, function: DelayFunction, max_retries: int = 5) -> Retry:
        """The delay that a function of the attempt (from 1) and its exception returns.

        It returns None for no retry. It runs on the event loop, where it must not block, or with
        `process=True` in the process of the handler. After the death of a node, and if it raises,
        the delay is that of `Retry.backpressure()`.
        """
        _check_function(function)
        usual = cls.backpressure(max_retries)
        condition = RetryCondition(function=function)
        return replace(usual, strategy=Strategy.FUNCTION, condition=condition)

    def on(self, *exceptions: type[BaseException]) -> Retry:
        """The same, only for these exceptions and their subclasses; others fail the job.

        A time-out counts as a `TimeoutError`. A group of exceptions is worth a retry if each of
        them is.
        """
        condition = self.condition or ALWAYS
        only = (*condition.only, *_classes("on", exceptions))
        return replace(self, condition=replace(condition, only=only))

    def never_on(self, *exceptions: type[BaseException]) -> Retry:
        """The same, but these exceptions and their subclasses fail the job, also within a group."""
        condition = self.condition or ALWAYS
        never = (*condition.never, *_classes("never_on", exceptions))
        return replace(self, condition=replace(condition, never=never))


def check_storable(retry: Retry) -> None:
    """Reject a retry whose condition would be lost, since jobs and schedules cannot keep it."""
    if retry.condition is not None:
        raise InvalidOption(
            "on(), never_on() and Retry.by() belong to the task, since no job can store code: "
            "give them to @app.task"
        )


def _check_function(function: object) -> None:
    if not callable(function) or inspect.iscoroutinefunction(function):
        raise InvalidOption(f"Retry.by needs a function that is not async, not {function!r}")


def _seconds(name: str, delay: Delay) -> float:
    if not isinstance(delay, str | timedelta):
        return delay
    try:
        return parse_duration(delay).total_seconds()
    except InvalidInput as error:
        raise InvalidOption(f"{name}: {error}") from None


def _classes(method: str, exceptions: tuple[Any, ...]) -> tuple[type[BaseException], ...]:
    for each in exceptions:
        if not isinstance(each, type) or not issubclass(each, BaseException):
            raise InvalidOption(f"{method} takes classes of exceptions, not {each!r}")
    if not exceptions:
        raise InvalidOption(f"{method} needs an exception, such as ConnectionError")
    return exceptions


DEFAULT_RETRY = Retry.backpressure()
