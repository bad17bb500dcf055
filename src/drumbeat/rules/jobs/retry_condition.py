"""Decides by the condition of a task whether an attempt that failed is worth a retry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from drumbeat.model.errors import InvalidInput
from drumbeat.model.jobs.ending import Ending, Raised, RetryAnswer, TimedOut
from drumbeat.model.jobs.job import Attempt
from drumbeat.model.jobs.retry import RetryCondition, Strategy
from drumbeat.model.time.duration import parse_duration

YES = RetryAnswer()
NO = RetryAnswer(again=False)


def answered(ending: Ending, condition: RetryCondition, attempt: Attempt) -> Ending:
    """The ending with the answer of the condition, if it has not been asked yet.

    It is asked about exceptions and time-outs. An ending without a known exception, such as the
    death of a child process, stays as it is: the job's own retry decides.
    """
    match ending:
        case Raised(final=False, exception=BaseException() as error, retry=None):
            return replace(ending, retry=answer(condition, attempt, error))
        case TimedOut(after, retry=None):
            error = ending.exception or TimeoutError(f"timed out after {after:g} s")
            return replace(ending, retry=answer(condition, attempt, error))
        case _:
            return ending


def answer(condition: RetryCondition, attempt: Attempt, error: BaseException) -> RetryAnswer:
    """Whether an exception is worth a retry, and after which delay."""
    errors = tuple(_single(error))
    if any(isinstance(each, condition.never) for each in (error, *errors)):
        return NO
    if condition.only and not (
        isinstance(error, condition.only)
        or all(isinstance(each, condition.only) for each in errors)
    ):
        return NO
    return _asked(condition, attempt, error)


def _asked(condition: RetryCondition, attempt: Attempt, error: BaseException) -> RetryAnswer:
    retry = attempt.spec.retry
    by_function = condition.function is not None and retry.strategy is Strategy.FUNCTION
    if condition.function is None or not by_function or attempt.number >= retry.max_attempts:
        return YES
    try:
        delay = condition.function(attempt.number, error)
        return NO if delay is None else RetryAnswer(delay=parse_duration(delay))
    except Exception as fault:  # noqa: BLE001 - it is the app's own code
        said = str(fault) if isinstance(fault, InvalidInput) else repr(fault)
        return RetryAnswer(fault=f"the function of Retry.by gave no delay: {said}")


def _single(error: BaseException) -> Iterator[BaseException]:
    """The exceptions in a group, and in its groups; else the exception itself."""
    match error:
        case BaseExceptionGroup(exceptions=several):
            parts: tuple[BaseException, ...] = several
            for each in parts:
                yield from _single(each)
        case _:
            yield error
