"""Options that say how often a job is tried again, and when."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from drumbeat.model.jobs.retry import DEFAULT_RETRY, HIGHEST_RETRIES, Retry, Strategy
from drumbeat.model.time.duration import parse_duration

F = TypeVar("F", bound=Callable[..., Any])

OPTIONS = (
    click.option(
        "--max-retries",
        type=click.IntRange(0, HIGHEST_RETRIES),
        help="How often it is tried again if it fails.",
    ),
    click.option("--retry-delay", metavar="DURATION", help="How long it waits before that."),
    click.option("--max-retry-delay", metavar="DURATION", help="How long it waits at most."),
    click.option(
        "--retry-strategy",
        type=click.Choice([each.value for each in Strategy]),
        help="The same delay each time, or twice as long each time.",
    ),
)


def retry_options(function: F) -> F:
    """Give a command these options. It receives them by name, None if not given."""
    for option in reversed(OPTIONS):
        function = option(function)
    return function


def read_retry(given: dict[str, Any]) -> Retry | None:
    """The retry that the options make, taken out of them; None: none of them was given.

    What is not given is as by default. It is not the task's own: nobody here may know the task.
    """
    retries, delay, longest, strategy = (
        given.pop(name)
        for name in ("max_retries", "retry_delay", "max_retry_delay", "retry_strategy")
    )
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
