"""Rate limiting: never more than the number in any window, and never held up for long."""

from __future__ import annotations

from bisect import bisect_right
from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drumbeat.model.jobs.job import Rate
from drumbeat.rules.jobs.rate_window import (
    EXACT,
    NO_STARTS,
    PARTS,
    Starts,
    as_of,
    opens_at,
    with_start,
)

SECOND = 1_000_000
rates = st.builds(
    Rate,
    st.just("bell"),
    st.integers(1, 6) | st.integers(100, 700),
    st.sampled_from([timedelta(microseconds=5), timedelta(seconds=2), timedelta(days=1)]),
)
steps = st.lists(
    st.tuples(st.floats(0, 1.2), st.integers(1, 300)),
    min_size=1,
    max_size=60,
)
"""Each waits for a part of the period, then so many ask to start."""


def per(rate: Rate) -> int:
    return rate.per // timedelta(microseconds=1)


def is_open(starts: Starts, rate: Rate, now: int) -> bool:
    opens = opens_at(starts, rate)
    return opens is None or opens <= now


def most_in_a_window(times: list[int], length: int) -> int:
    """Starts in the fullest window of a length, without its end."""
    return max(index + 1 - bisect_right(times, time - length) for index, time in enumerate(times))


@settings(deadline=None)
@given(rates, steps)
def test_no_window_has_more_starts_than_the_rate_allows(
    rate: Rate, script: list[tuple[float, int]]
) -> None:
    now, log, times = 0, NO_STARTS, list[int]()
    for wait, asked in script:
        now += int(wait * per(rate))
        for _ in range(asked):
            if is_open(log, rate, now):
                log = with_start(log, rate, now)
                times.append(now)
    assert most_in_a_window(times, per(rate)) <= rate.at_most


@settings(deadline=None)
@given(rates, steps)
def test_no_start_is_late_by_more_than_a_part_of_the_period(
    rate: Rate, script: list[tuple[float, int]]
) -> None:
    now, log, times = 0, NO_STARTS, list[int]()
    late = -(-per(rate) // PARTS)
    for wait, asked in script:
        now += int(wait * per(rate))
        for _ in range(asked):
            if is_open(log, rate, now):
                log = with_start(log, rate, now)
                times.append(now)
            else:
                recent = len(times) - bisect_right(times, now - late - per(rate))
                assert recent >= rate.at_most
    assert log.times == tuple(sorted(set(log.times)))


@settings(deadline=None)
@given(rates, steps)
def test_a_log_is_exact_while_it_is_short(rate: Rate, script: list[tuple[float, int]]) -> None:
    now, log, times = 0, NO_STARTS, list[int]()
    for wait, asked in script[: EXACT - 1]:
        now += int(wait * per(rate))
        for _ in range(asked):
            free = rate.at_most - (len(times) - bisect_right(times, now - per(rate)))
            assert is_open(log, rate, now) == (free > 0)
            if free > 0:
                log = with_start(log, rate, now)
                times.append(now)


@settings(deadline=None)
@given(st.lists(rates, min_size=1, max_size=3), steps)
def test_rates_that_share_a_key_each_keep_their_own_number(
    shared: list[Rate], script: list[tuple[float, int]]
) -> None:
    now, log, times = 0, NO_STARTS, list[int]()
    for index, (wait, asked) in enumerate(script):
        rate = shared[index % len(shared)]
        now += int(wait * per(rate))
        for _ in range(asked):
            if is_open(log, rate, now):
                log = with_start(log, rate, now)
                times.append(now)
                kept = len(times) - bisect_right(times, now - per(rate))
                # A rate that comes for the first time knows as much as the others remember.
                assert kept <= rate.at_most or log.kept_for == per(rate)
        assert len(log.times) <= EXACT + 2 * PARTS


def test_a_rate_under_full_load_reaches_its_number_in_every_period() -> None:
    rate = Rate("bell", 1000, timedelta(seconds=1))
    now, log, started = 0, NO_STARTS, 0
    for _ in range(100 * 1000):  # a hundred periods
        while is_open(log, rate, now):
            log = with_start(log, rate, now)
            started += 1
        now += 997
    assert started >= rate.at_most * (now // SECOND - 1)


@pytest.mark.parametrize("slow", [3_000, 5_001, 9_999])
def test_a_compacted_log_lets_no_job_start_early(slow: int) -> None:
    """Starts far apart make a log that is too long to stay exact; then jobs ask more often."""
    rate = Rate("bell", 400, timedelta(seconds=4))
    now, log, times = 0, NO_STARTS, list[int]()
    while now < 20 * SECOND:
        if is_open(log, rate, now):
            log = with_start(log, rate, now)
            times.append(now)
        now += slow if len(times) < rate.at_most else 97
    assert most_in_a_window(times, per(rate)) == rate.at_most
    assert len(log.times) <= EXACT < len(set(times)), "the log was compacted"


@given(
    st.lists(st.integers(0, 100 * SECOND), min_size=1, max_size=400),
    st.integers(0, 100 * SECOND),
)
def test_a_clock_that_goes_back_lengthens_no_wait_beyond_one_period(
    times: list[int], now: int
) -> None:
    rate = Rate("bell", 3, timedelta(seconds=7))
    log = NO_STARTS
    for time in times:
        log = with_start(as_of(log, time), rate, time)
        assert log.times == tuple(sorted(set(log.times)))
    seen = as_of(log, now)
    assert sum(seen.counts) == sum(log.counts)
    opens = opens_at(seen, rate)
    assert opens is None or opens <= now + per(rate)
    assert as_of(seen, now + 1) == seen


def test_many_starts_make_a_short_log_and_forget_none() -> None:
    rate = Rate("bell", 100_000, timedelta(minutes=1))
    log = NO_STARTS
    for number in range(20_000):
        log = with_start(log, rate, number * 2_900)
        assert len(log.times) <= EXACT
    assert sum(log.counts) == 20_000
    gaps = [later - earlier for earlier, later in pairwise(log.times)]
    assert max(gaps) <= 2 * -(-per(rate) // PARTS)
