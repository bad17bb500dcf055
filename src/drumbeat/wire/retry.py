"""Retries on the wire."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from drumbeat.model.jobs.retry import HIGHEST_RETRIES, Retry, Strategy
from drumbeat.wire.fields import Seconds


class RetryView(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How often and when a failed job is retried."""

    strategy: Strategy = Strategy.BACKPRESSURE
    """`linear`: the same delay each time; `backpressure`: twice as long each time."""
    max_retries: Annotated[int, Meta(ge=0, le=HIGHEST_RETRIES)] = 3
    base_delay: Seconds = 1.0
    """Seconds before the first retry."""
    max_delay: Seconds = 3600.0
    """No delay is longer than this; it is not shorter than `base_delay`."""

    def __post_init__(self) -> None:
        if self.max_delay < self.base_delay:
            raise ValueError(
                f"max_delay, {self.max_delay:g} s, must not be shorter than base_delay, "
                f"{self.base_delay:g} s"
            )


def retry_view(retry: Retry) -> RetryView:
    return RetryView(
        strategy=retry.strategy,
        max_retries=retry.max_retries,
        base_delay=retry.base_delay,
        max_delay=retry.max_delay,
    )


def retry_of(view: RetryView) -> Retry:
    return Retry(view.strategy, view.max_retries, view.base_delay, view.max_delay)
