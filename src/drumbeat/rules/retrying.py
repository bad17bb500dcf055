"""Retrying: what becomes of a job when an attempt at it has ended."""

from __future__ import annotations

from datetime import timedelta
from typing import assert_never

from drumbeat.model.ending import (
    Ending,
    GivenBack,
    Lost,
    Raised,
    Returned,
    Snoozed,
    Stopped,
    TimedOut,
)
from drumbeat.model.job import Attempt, Change, Settlement
from drumbeat.model.retry import Retry, Strategy
from drumbeat.model.swift import swift
from drumbeat.rules.error_text import bounded

new_settlement = swift(Settlement)

NO_DELAY = timedelta(0)
LONGEST_DELAY = timedelta(days=3650)
"""A longer wait is cut to this: it must stay an instant that a calendar knows."""
MOST_DOUBLINGS = 1000
"""A float ends at about 2 to the power of 1024."""


def delay(retry: Retry, number: int, chance: float) -> timedelta:
    """How long a job waits after its attempt of this number, counted from 1, has failed.

    `linear` waits the same each time. `backpressure` doubles the wait up to the longest, and
    takes between 50 % and 100 % of that by a chance in [0, 1), so that jobs which failed together
    do not come back together.
    """
    match retry.strategy:
        case Strategy.LINEAR:
            seconds = retry.base_delay
        case Strategy.BACKPRESSURE:
            doubled = retry.base_delay * 2.0 ** min(number - 1, MOST_DOUBLINGS)
            seconds = min(retry.max_delay, doubled) * (1 + chance) / 2
        case _ as never:
            assert_never(never)
    return timedelta(seconds=min(seconds, LONGEST_DELAY.total_seconds()))


def settlement(attempt: Attempt, ending: Ending, chance: float) -> Settlement:
    """What the end of an attempt asks of the store. `chance` in [0, 1) spreads the retries."""
    hold = attempt.hold
    match ending:
        case Returned(result):
            return new_settlement(hold, Change.COMPLETE, NO_DELAY, result)
        case Raised(error, final=True):
            return _fail(attempt, error)
        case Raised(error):
            return _try_again(attempt, error, chance)
        case TimedOut(after):
            return _try_again(attempt, f"timed out after {after:g} s", chance)
        case Snoozed(pause):
            return Settlement(hold, Change.SNOOZE, delay=min(pause, LONGEST_DELAY))
        case Stopped(reason):
            return Settlement(hold, Change.CANCEL, error=bounded(reason))
        case GivenBack(reason):
            return Settlement(hold, Change.GIVE_BACK, error=bounded(reason))
        case Lost(node):
            return _outlive(attempt, node, chance)
        case _ as never:
            assert_never(never)


def _try_again(attempt: Attempt, error: str, chance: float) -> Settlement:
    if not _has_attempts_left(attempt):
        return _fail(attempt, error)
    wait = delay(attempt.spec.retry, attempt.number, chance)
    return Settlement(attempt.hold, Change.RETRY, delay=wait, error=bounded(error))


def _outlive(attempt: Attempt, node: str, chance: float) -> Settlement:
    """The node died with the job, and perhaps of it: after its last attempt it is put aside.

    It waits before the next attempt as after any failure. Were it run again at once, a job that
    kills whoever runs it would go through the fleet as fast as the deaths are noticed.
    """
    if _has_attempts_left(attempt):
        return _try_again(attempt, f"node {node} died during attempt {attempt.number}", chance)
    return _fail(
        attempt,
        f"quarantined: node {node} died during attempt {attempt.number} "
        f"of {attempt.spec.retry.max_attempts}, which was the last",
    )


def _has_attempts_left(attempt: Attempt) -> bool:
    return attempt.number < attempt.spec.retry.max_attempts


def _fail(attempt: Attempt, error: str) -> Settlement:
    return Settlement(attempt.hold, Change.FAIL, error=bounded(error))
