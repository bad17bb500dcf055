"""How a retry is written, and what cannot be one."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from drumbeat import InvalidInput, Retry
from drumbeat.model.errors import InvalidOption
from drumbeat.model.jobs.retry import RetryCondition, Strategy, check_storable

RETRY: Any = Retry
"""As callers see it who check no types."""


async def later(attempt: int, error: BaseException) -> float:
    return 1.0


def test_delays_are_seconds_or_lengths() -> None:
    retry = Retry.delays("1s", 10, timedelta(minutes=1))
    assert (retry.strategy, retry.max_retries, retry.max_attempts) == (Strategy.DELAYS, 3, 4)
    assert retry.each_delay == (1.0, 10, 60.0)
    assert Retry.linear(2, "5s") == Retry.linear(2, 5.0)
    assert Retry.backpressure(2, "5s", timedelta(hours=1)) == Retry.backpressure(2, 5.0, 3600.0)


@pytest.mark.parametrize(
    ("write", "sentence"),
    [
        (lambda: Retry.delays(), "Retry.delays needs a delay"),
        (lambda: Retry.delays("soon"), "delay: 'soon' is not a duration"),
        (lambda: Retry.delays(1, -1), "a delay must be zero or more, not -1"),
        (lambda: Retry.delays(float("nan")), "a delay must be zero or more, not nan"),
        (lambda: Retry.delays(*[1] * 1001), "max_retries must lie between 0 and 1,000"),
        (lambda: Retry.linear(3, "soon"), "delay: 'soon' is not a duration"),
        (lambda: Retry.linear().on(), "on needs an exception, such as ConnectionError"),
        (lambda: RETRY.linear().on("OSError"), "on takes classes of exceptions, not 'OSError'"),
        (lambda: RETRY.linear().never_on(OSError()), r"never_on takes classes .* not OSError\(\)"),
        (lambda: RETRY.by(7), "Retry.by needs a function that is not async, not 7"),
        (lambda: RETRY.by(later), "Retry.by needs a function that is not async"),
        (lambda: Retry(Strategy.LINEAR, 1, 1, 1, (1,)), "needs one for each retry, and no other"),
        (lambda: Retry(Strategy.DELAYS, 2, 1, 1, (1,)), "needs one for each retry, and no other"),
    ],
)
def test_what_cannot_be_a_retry_is_refused(write: Callable[[], Retry], sentence: str) -> None:
    with pytest.raises(InvalidOption, match=sentence):
        write()


def test_conditions_add_up_and_leave_the_first_retry_as_it_was() -> None:
    plain = Retry.linear(2)
    both = plain.on(OSError).on(ValueError, KeyError).never_on(FileNotFoundError)
    assert both.condition == RetryCondition((OSError, ValueError, KeyError), (FileNotFoundError,))
    assert plain.condition is None
    assert both.stored == plain
    by = Retry.by(print, max_retries=7).never_on(OSError)
    assert by.condition == RetryCondition((), (OSError,), print)
    assert (by.strategy, by.max_retries) == (Strategy.FUNCTION, 7)


def test_a_condition_cannot_be_part_of_a_job() -> None:
    check_storable(Retry.delays(1))
    with pytest.raises(InvalidInput, match=r"belong to the task.*give them to @app\.task"):
        check_storable(Retry.linear().on(OSError))
