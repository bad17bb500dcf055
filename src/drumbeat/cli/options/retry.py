"""The options that say how often a job is retried, and when."""

from __future__ import annotations

from typing import Any

from drumbeat.cli.command import together
from drumbeat.cli.options.option import choice, text, whole
from drumbeat.model.errors import InvalidOption
from drumbeat.model.jobs.retry import DEFAULT_RETRY, HIGHEST_RETRIES, Retry, Strategy
from drumbeat.model.time.duration import parse_duration

NAMES = ("max_retries", "retry_delay", "max_retry_delay", "retry_strategy")
GROWING = (Strategy.LINEAR, Strategy.BACKPRESSURE)

RETRY = together(
    whole("--max-retries", "How often to retry a failed attempt.", least=0, most=HIGHEST_RETRIES),
    text("--retry-delay", "DURATION", "How long to wait before a retry."),
    text("--max-retry-delay", "DURATION", "The longest wait before a retry."),
    choice("--retry-strategy", GROWING, "The same delay each time, or twice as long each time."),
    text("--retry-delays", "DURATIONS", "How long to wait before each retry: 1s,10s,1m."),
)


def read_retry(given: dict[str, Any]) -> Retry | None:
    """The retry that the options make, removed from `given`; None if there are none of them.

    A missing option has the general default, not the task's own: the task may be unknown here.
    """
    delays = given.pop("retry_delays")
    retries, delay, longest, strategy = (given.pop(name) for name in NAMES)
    if delays is not None:
        if (retries, delay, longest, strategy) != (None, None, None, None):
            raise InvalidOption("--retry-delays says all of a retry: give no other option of it")
        return Retry.delays(*delays.split(","))
    if (retries, delay, longest, strategy) == (None, None, None, None):
        return None
    usual = DEFAULT_RETRY
    base = usual.base_delay if delay is None else parse_duration(delay).total_seconds()
    return Retry(
        usual.strategy if strategy is None else Strategy(strategy),
        usual.max_retries if retries is None else retries,
        base,
        max(base, usual.max_delay) if longest is None else parse_duration(longest).total_seconds(),
    )
