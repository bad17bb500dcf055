"""Which exceptions are worth a retry, and when."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from drumbeat.model.ids import JobId, NodeId
from drumbeat.model.jobs.ending import Ending, GivenBack, Lost, Raised, RetryAnswer, TimedOut
from drumbeat.model.jobs.job import Attempt, Hold, JobSpec
from drumbeat.model.jobs.retry import Retry, RetryCondition
from drumbeat.rules.jobs.retry_condition import answered

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
YES, NO = RetryAnswer(), RetryAnswer(again=False)
GONE = ConnectionResetError("gone")
WRONG = ValueError("wrong")


def attempt(number: int, retry: Retry) -> Attempt:
    return Attempt(
        Hold(JobId(7), 3), number, JobSpec("mail", retry=retry.stored), NodeId("n"), NOON, NOON
    )


def asked(retry: Retry, ending: Ending, number: int = 1) -> RetryAnswer | None:
    assert retry.condition is not None
    told = answered(ending, retry.condition, attempt(number, retry))
    return told.retry if isinstance(told, Raised | TimedOut) else None


@pytest.mark.parametrize(
    ("retry", "error", "again"),
    [
        (Retry.linear().on(ConnectionError), GONE, True),
        (Retry.linear().on(ConnectionError), WRONG, False),
        (Retry.linear().on(ConnectionError, ValueError), WRONG, True),
        (Retry.linear().never_on(ValueError), WRONG, False),
        (Retry.linear().never_on(ValueError), GONE, True),
        (Retry.linear().on(OSError).never_on(ConnectionResetError), GONE, False),
        (Retry.linear().never_on(ConnectionResetError).on(OSError), GONE, False),
        (Retry.linear().on(OSError), ExceptionGroup("", [GONE, GONE]), True),
        (Retry.linear().on(OSError), ExceptionGroup("", [GONE, WRONG]), False),
        (Retry.linear().never_on(ValueError), ExceptionGroup("", [GONE, WRONG]), False),
        (Retry.linear().on(ValueError), ExceptionGroup("", [ExceptionGroup("", [WRONG])]), True),
        (Retry.linear().on(ExceptionGroup), ExceptionGroup("", [WRONG]), True),
        (Retry.linear().never_on(ExceptionGroup), ExceptionGroup("", [WRONG]), False),
    ],
)
def test_only_some_exceptions_are_worth_a_retry(
    retry: Retry, error: BaseException, again: bool
) -> None:
    assert asked(retry, Raised("text", exception=error)) == (YES if again else NO)


def test_a_time_out_is_a_timeout_error() -> None:
    assert asked(Retry.linear().on(TimeoutError), TimedOut(3.0)) == YES
    assert asked(Retry.linear().on(OSError), TimedOut(3.0)) == YES
    assert asked(Retry.linear().on(ConnectionError), TimedOut(3.0)) == NO
    assert asked(Retry.linear().never_on(TimeoutError), TimedOut(3.0)) == NO


@pytest.mark.parametrize(
    "ending",
    [Raised("its process died"), Raised("x", True, WRONG), Lost("n"), GivenBack("bye")],
)
def test_an_ending_without_an_exception_is_left_to_the_job(ending: Ending) -> None:
    assert answered(ending, RetryCondition(never=(BaseException,)), attempt(1, Retry.linear())) == (
        ending
    )


def test_an_answer_stays() -> None:
    ending = Raised("text", exception=WRONG, retry=YES)
    assert asked(Retry.linear().never_on(ValueError), ending) == YES


def test_a_function_says_how_long_to_wait() -> None:
    calls: list[tuple[int, BaseException]] = []

    def wait(number: int, error: BaseException) -> str | float | timedelta | None:
        calls.append((number, error))
        return (None, "5s", 2.5, timedelta(minutes=1))[number]

    retry = Retry.by(wait, max_retries=4).never_on(TypeError)
    seconds = [asked(retry, Raised("x", exception=GONE), number) for number in (1, 2, 3)]
    assert [each and each.delay for each in seconds] == [
        timedelta(seconds=5),
        timedelta(seconds=2.5),
        timedelta(minutes=1),
    ]
    assert calls == [(1, GONE), (2, GONE), (3, GONE)]
    assert asked(Retry.by(lambda number, error: None), Raised("x", exception=GONE)) == NO
    assert asked(retry, Raised("x", exception=TypeError())) == NO
    assert asked(retry, Raised("x", exception=GONE), 5) == YES, "it was the last: none is asked"
    assert len(calls) == 3


@pytest.mark.parametrize(
    ("value", "fault"),
    [("soon", "'soon' is not a duration"), (-1, "cannot be negative"), (object(), "object")],
)
def test_a_function_that_gives_no_delay_costs_no_retry(value: object, fault: str) -> None:
    retry = Retry.by(lambda number, error: value)  # type: ignore[arg-type, return-value]  # as callers without types
    answer = asked(retry, Raised("x", exception=GONE))
    assert answer is not None
    assert (answer.again, answer.delay) == (True, None)
    assert answer.fault.startswith("the function of Retry.by gave no delay: ")
    assert fault in answer.fault


def test_a_function_that_raises_costs_no_retry() -> None:
    answer = asked(Retry.by(lambda number, error: 1 / 0), Raised("x", exception=GONE))
    assert answer is not None
    assert answer.again
    assert "ZeroDivisionError" in answer.fault


def test_a_job_with_a_retry_of_its_own_does_not_ask_the_function() -> None:
    condition = Retry.by(lambda number, error: None).condition
    assert condition is not None
    ending = answered(Raised("x", exception=GONE), condition, attempt(1, Retry.linear()))
    assert isinstance(ending, Raised)
    assert ending.retry == YES
