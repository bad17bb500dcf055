"""Retries on the wire."""

from __future__ import annotations

from typing import Annotated, TypeAlias, TypeVar

from msgspec import UNSET, Meta, Struct, UnsetType

from drumbeat.model.jobs.retry import (
    DEFAULT_RETRY,
    HIGHEST_RETRIES,
    Retry,
    Strategy,
    check_storable,
)
from drumbeat.wire.fields import Seconds

T = TypeVar("T")

Retries: TypeAlias = Annotated[int, Meta(ge=0, le=HIGHEST_RETRIES)]
Delays: TypeAlias = Annotated[tuple[Seconds, ...], Meta(max_length=HIGHEST_RETRIES)]


class RetryView(Struct, frozen=True, kw_only=True):
    """How often and when a failed job is retried."""

    strategy: Strategy
    """`linear`: the same delay each time; `backpressure`: twice as long each time; `delays`: one
    after the other; `function`: as the task's own function says."""
    max_retries: int
    base_delay: float
    """Seconds before the first retry; with `delays` the shortest of them."""
    max_delay: float
    """No delay is longer than this."""
    delays: tuple[float, ...] = ()
    """With `delays`: the seconds before each retry."""


class NewRetryView(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How often and when a failed job is retried: `delays`, or the other fields."""

    strategy: Strategy | UnsetType = UNSET
    """`linear`: the same delay each time; `backpressure`, if not given: twice as long each time;
    `delays`: as `delays` says; `function`: as the task's own function says."""
    max_retries: Retries | UnsetType = UNSET
    """3 if not given."""
    base_delay: Seconds | UnsetType = UNSET
    """Seconds before the first retry; 1 if not given."""
    max_delay: Seconds | UnsetType = UNSET
    """No delay is longer than this; it is not shorter than `base_delay`. 3,600 if not given."""
    delays: Delays = ()
    """Seconds before each retry, one for each. The other fields need not be given then."""

    def __post_init__(self) -> None:
        retry = self.retry()
        if not self.delays:
            return
        for name in ("strategy", "max_retries", "base_delay", "max_delay"):
            given = getattr(self, name)
            if given is not UNSET and given != getattr(retry, name):
                raise ValueError(
                    f"with delays, {name} need not be given, and is {getattr(retry, name)}"
                )

    def retry(self) -> Retry:
        """The retry of a job; `ValueError` if there is none such."""
        if self.delays:
            return Retry.delays(*self.delays)
        usual = DEFAULT_RETRY
        strategy = _or(self.strategy, usual.strategy)
        if strategy is Strategy.DELAYS:
            raise ValueError("the strategy delays needs delays, such as [1, 10, 60]")
        base_delay = _or(self.base_delay, usual.base_delay)
        max_delay = _or(self.max_delay, usual.max_delay)
        if max_delay < base_delay:
            raise ValueError(
                f"max_delay, {max_delay:g} s, must not be shorter than base_delay, {base_delay:g} s"
            )
        return Retry(strategy, _or(self.max_retries, usual.max_retries), base_delay, max_delay)


def retry_view(retry: Retry) -> RetryView:
    return RetryView(
        strategy=retry.strategy,
        max_retries=retry.max_retries,
        base_delay=retry.base_delay,
        max_delay=retry.max_delay,
        delays=retry.each_delay,
    )


def new_retry_view(retry: Retry) -> NewRetryView:
    """The request for a retry; `InvalidOption` if it has conditions, which stay in code."""
    check_storable(retry)
    return NewRetryView(
        strategy=retry.strategy,
        max_retries=retry.max_retries,
        base_delay=retry.base_delay,
        max_delay=retry.max_delay,
        delays=retry.each_delay,
    )


def _or(given: T | UnsetType, usual: T) -> T:
    return usual if isinstance(given, UnsetType) else given
