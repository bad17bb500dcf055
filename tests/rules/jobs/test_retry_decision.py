"""What becomes of a job when an attempt has ended."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drumbeat.model.ids import JobId, NodeId
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
from drumbeat.model.jobs.job import Attempt, Change, Hold, JobSpec
from drumbeat.model.jobs.retry import Retry
from drumbeat.rules.jobs.retry_decision import (
    ERROR_LIMIT,
    LONGEST_DELAY,
    bounded,
    delay,
    settlement,
)

YES, NO = RetryAnswer(), RetryAnswer(again=False)
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
TWICE = Retry.linear(max_retries=1, delay=5.0)


def attempt(number: int, retry: Retry = TWICE) -> Attempt:
    spec = JobSpec("mail", retry=retry)
    return Attempt(Hold(JobId(7), 3), number, spec, NodeId("n:1"), NOON, NOON)


@pytest.mark.parametrize(
    ("retry", "number", "chance", "seconds"),
    [
        pytest.param(Retry.linear(3, 5.0), 1, 0.9, 5.0, id="linear waits its delay"),
        pytest.param(Retry.linear(3, 5.0), 3, 0.0, 5.0, id="linear waits the same each time"),
        pytest.param(Retry.backpressure(9, 2.0), 1, 0.0, 1.0, id="half of the base at least"),
        pytest.param(Retry.backpressure(9, 2.0), 1, 0.5, 1.5, id="more by chance"),
        pytest.param(Retry.backpressure(9, 2.0), 2, 0.0, 2.0, id="twice as long after the second"),
        pytest.param(Retry.backpressure(9, 2.0), 4, 0.0, 8.0, id="eight times after the fourth"),
        pytest.param(Retry.backpressure(9, 2.0, 6.0), 9, 0.0, 3.0, id="never above the longest"),
        pytest.param(Retry.backpressure(9, 0.0, 6.0), 9, 0.5, 0.0, id="no base means no wait"),
        pytest.param(Retry.delays(1, "1m", 5), 1, 0.5, 1.0, id="the first of a list"),
        pytest.param(Retry.delays(1, "1m", 5), 2, 0.5, 60.0, id="the second of a list"),
        pytest.param(Retry.delays(1, "1m", 5), 3, 0.5, 5.0, id="the last of a list"),
        pytest.param(Retry.by(print).stored, 3, 0.0, 2.0, id="doubled where no function is asked"),
    ],
)
def test_the_wait_after_a_failure(retry: Retry, number: int, chance: float, seconds: float) -> None:
    assert delay(retry, number, chance) == timedelta(seconds=seconds)


def test_the_thousandth_attempt_waits_the_longest_delay() -> None:
    assert delay(Retry.backpressure(1000, 1.0, 60.0), 1000, 0.0) == timedelta(seconds=30)
    assert delay(Retry.backpressure(1000, 1e9, 1e300), 1001, 0.5) == LONGEST_DELAY


@given(
    base=st.floats(0, 1e6),
    longest=st.floats(1e6, 1e12),
    number=st.integers(1, 1001),
    chance=st.floats(0, 1, exclude_max=True),
)
def test_backpressure_waits_between_half_and_all_of_a_wait_that_only_grows(
    base: float, longest: float, number: int, chance: float
) -> None:
    retry = Retry.backpressure(1000, base, longest)
    least, wait = delay(retry, number, 0.0), delay(retry, number, chance)
    grain = timedelta(microseconds=1)
    assert least <= wait <= min(2 * least + grain, LONGEST_DELAY)
    assert delay(retry, number + 1, 0.0) >= least


@pytest.mark.parametrize(
    ("number", "ending", "change", "seconds", "error"),
    [
        pytest.param(1, Returned(b"42"), Change.COMPLETE, 0, None, id="returned"),
        pytest.param(1, Raised("boom"), Change.RETRY, 5, "boom", id="raised with a retry left"),
        pytest.param(2, Raised("boom"), Change.FAIL, 0, "boom", id="raised at the last attempt"),
        pytest.param(1, Raised("no", final=True), Change.FAIL, 0, "no", id="raised for good"),
        pytest.param(1, Raised("no", retry=NO), Change.FAIL, 0, "no", id="answered with no"),
        pytest.param(
            1, TimedOut(1.0, retry=NO), Change.FAIL, 0, "timed out after 1 s", id="late, no"
        ),
        pytest.param(1, Raised("x", retry=YES), Change.RETRY, 5, "x", id="answered with yes"),
        pytest.param(
            1,
            Raised("x", retry=RetryAnswer(delay=timedelta(seconds=9))),
            Change.RETRY,
            9,
            "x",
            id="answered with a delay",
        ),
        pytest.param(
            2,
            Raised("x", retry=RetryAnswer(delay=timedelta(seconds=9))),
            Change.FAIL,
            0,
            "x",
            id="answered with a delay at the last attempt",
        ),
        pytest.param(
            1,
            Raised("x", retry=RetryAnswer(fault="no idea")),
            Change.RETRY,
            5,
            "no idea\n\nx",
            id="answered with a fault",
        ),
        pytest.param(
            1, TimedOut(30.0), Change.RETRY, 5, "timed out after 30 s", id="timed out, retry left"
        ),
        pytest.param(
            2, TimedOut(0.5), Change.FAIL, 0, "timed out after 0.5 s", id="timed out at the last"
        ),
        pytest.param(
            2, Snoozed(timedelta(seconds=60)), Change.SNOOZE, 60, None, id="snoozed, even at last"
        ),
        pytest.param(1, Stopped("enough"), Change.CANCEL, 0, "enough", id="stopped"),
        pytest.param(2, GivenBack("bye"), Change.GIVE_BACK, 0, "bye", id="given back at the last"),
        pytest.param(1, Lost("w:9"), Change.RETRY, 5, "node w:9 died during attempt 1", id="lost"),
        pytest.param(
            2,
            Lost("w:9"),
            Change.FAIL,
            0,
            "quarantined: node w:9 died during attempt 2 of 2, which was the last",
            id="lost at the last attempt",
        ),
    ],
)
def test_an_ending_and_what_it_asks_of_the_store(
    number: int, ending: Ending, change: Change, seconds: int, error: str | None
) -> None:
    settled = settlement(attempt(number), ending, chance=0.5)
    assert settled.hold == Hold(JobId(7), 3)
    assert (settled.change, settled.error) == (change, error)
    assert settled.delay == timedelta(seconds=seconds)
    assert settled.result == (b"42" if change is Change.COMPLETE else None)


def test_a_job_without_retries_fails_at_its_first_error() -> None:
    assert settlement(attempt(1, Retry.never()), Raised("x"), 0.0).change is Change.FAIL


def test_a_snooze_of_a_thousand_years_is_cut_to_what_a_calendar_knows() -> None:
    snoozed = settlement(attempt(1), Snoozed(timedelta.max), 0.0)
    assert snoozed.delay == LONGEST_DELAY


def test_a_long_error_keeps_its_head_and_its_tail() -> None:
    text = bounded("Traceback" + "é" * ERROR_LIMIT + "ValueError: at last")
    assert text.startswith("Traceback")
    assert text.endswith("ValueError: at last")
    assert "bytes left out" in text
    assert ERROR_LIMIT - 100 < len(text.encode()) <= ERROR_LIMIT


def test_an_error_that_fits_is_kept_as_it_is() -> None:
    exact = "x" * ERROR_LIMIT
    assert bounded(exact) == exact
    assert bounded(exact + "x") != exact + "x"


@given(st.text(st.characters(codec=None, exclude_categories=())))
def test_every_error_text_can_be_stored(text: str) -> None:
    stored = bounded(text)
    assert "\0" not in stored
    assert len(stored.encode()) <= ERROR_LIMIT
