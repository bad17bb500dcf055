"""Decides how to settle an attempt that has ended: complete, retry, fail, ..."""

from __future__ import annotations

from datetime import timedelta
from typing import assert_never

from drumbeat.model.fast_construction import fast_constructor
from drumbeat.model.jobs.ending import (
    Ending,
    GivenBack,
    Lost,
    Raised,
    RetryAnswer,
    Returned,
    Snoozed,
    Stopped,
    TimedOut,
)
from drumbeat.model.jobs.job import Attempt, Change, Settlement
from drumbeat.model.jobs.retry import Retry, Strategy

new_settlement = fast_constructor(Settlement)

NO_DELAY = timedelta(0)
LONGEST_DELAY = timedelta(days=3650)
"""A longer delay is cut to this, so that the result is still a valid instant."""
MOST_DOUBLINGS = 1000
"""A float ends at about 2 to the power of 1024."""
ERROR_LIMIT = 16 * 1024
"""Bytes of the error text of a job."""
CUT = "\n... {left_out:,} bytes left out ...\n"


def delay(retry: Retry, number: int, chance: float) -> timedelta:
    """How long a job waits after attempt `number` (from 1) has failed.

    `linear` waits the same each time. `backpressure` doubles the delay up to `max_delay`, and takes
    50 % to 100 % of it by `chance` in [0, 1), so that jobs which failed together are not retried
    together. `delays` waits as long as its list says. `function` is `backpressure` here: where the
    function of a task was asked, its answer comes with the ending.
    """
    match retry.strategy:
        case Strategy.LINEAR:
            seconds = retry.base_delay
        case Strategy.DELAYS:
            seconds = retry.each_delay[min(number, retry.max_retries) - 1]
        case Strategy.BACKPRESSURE | Strategy.FUNCTION:
            doubled = retry.base_delay * 2.0 ** min(number - 1, MOST_DOUBLINGS)
            seconds = min(retry.max_delay, doubled) * (1 + chance) / 2
        case _ as never:
            assert_never(never)
    return timedelta(seconds=min(seconds, LONGEST_DELAY.total_seconds()))


def settlement(attempt: Attempt, ending: Ending, chance: float) -> Settlement:
    """The settlement of an attempt by its ending. `chance` in [0, 1) spreads the retries."""
    hold = attempt.hold
    match ending:
        case Returned(result):
            return new_settlement(hold, Change.COMPLETE, NO_DELAY, result)
        case Raised(error, final=True):
            return _fail(attempt, error)
        case Raised(error):
            return _as_answered(attempt, error, ending.retry, chance)
        case TimedOut(after):
            return _as_answered(attempt, f"timed out after {after:g} s", ending.retry, chance)
        case Snoozed(pause):
            return Settlement(hold, Change.SNOOZE, delay=min(pause, LONGEST_DELAY))
        case Stopped(reason):
            return Settlement(hold, Change.CANCEL, error=bounded(reason))
        case GivenBack(reason):
            return Settlement(hold, Change.GIVE_BACK, error=bounded(reason))
        case Lost(node):
            return _after_node_death(attempt, node, chance)
        case _ as never:
            assert_never(never)


def _as_answered(
    attempt: Attempt, error: str, answer: RetryAnswer | None, chance: float
) -> Settlement:
    """Try again, or not, as the code of the task answered."""
    if answer is None:
        return _try_again(attempt, error, chance)
    if answer.fault:  # in front: the last line of an error says what went wrong
        error = f"{answer.fault}\n\n{error}"
    if not answer.again:
        return _fail(attempt, error)
    return _try_again(attempt, error, chance, answer.delay)


def _try_again(
    attempt: Attempt, error: str, chance: float, wait: timedelta | None = None
) -> Settlement:
    if not _has_attempts_left(attempt):
        return _fail(attempt, error)
    wait = delay(attempt.spec.retry, attempt.number, chance) if wait is None else wait
    return Settlement(
        attempt.hold, Change.RETRY, delay=min(wait, LONGEST_DELAY), error=bounded(error)
    )


def _after_node_death(attempt: Attempt, node: str, chance: float) -> Settlement:
    """The node died, perhaps because of the job: after its last attempt the job is quarantined.

    It waits for its retry as after any failure. Otherwise a job that kills its node could take down
    the whole fleet quickly.
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


def bounded(text: str) -> str:
    """The text, or its head and its tail if it is longer than `ERROR_LIMIT`.

    The head of a traceback shows where it began, and its tail what went wrong. Characters that some
    store would reject are replaced, since a job with them could never be settled.
    """
    encoded = text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode(errors="replace")
    if len(encoded) <= ERROR_LIMIT:
        return encoded.decode()
    kept = (ERROR_LIMIT - 2 * len(CUT)) // 2
    head = encoded[:kept].decode(errors="ignore")
    tail = encoded[-kept:].decode(errors="ignore")
    return head + CUT.format(left_out=len(encoded) - 2 * kept) + tail
