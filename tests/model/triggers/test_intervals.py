"""`every`, `every_between`, `once`, and the start that they count from."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drumbeat.model.errors import InvalidInput, InvalidTrigger, NaiveDatetime
from drumbeat.model.time.calendar import Calendar
from drumbeat.model.triggers import (
    Every,
    Trigger,
    any_of,
    cron,
    daily,
    every,
    every_between,
    monthly,
    once,
    parse_duration,
    weekly,
)

START = datetime(2026, 1, 1, 12, 0, 7, tzinfo=UTC)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("15s", 15),
        ("15", 15),
        ("0.5", 0.5),
        ("15m", 900),
        ("1h30m", 5_400),
        ("1h 30m", 5_400),
        ("2d", 172_800),
        ("1w", 604_800),
        ("1.5h", 5_400),
        ("500ms", 0.5),
        ("1M", 60),
        (2, 2),
        (0.25, 0.25),
        (timedelta(minutes=1), 60),
        (0, 0),
    ],
)
def test_a_duration_is_read_in_all_its_forms(text: str | float | timedelta, seconds: float) -> None:
    assert parse_duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "text",
    ["", "m", "15x", "-5m", "1h-5m", "15 minutes", "1e3", "nan", -1, float("inf"), float("nan"),
     timedelta(seconds=-1), "9" * 30 + "w", "1" * 100],
)  # fmt: skip
def test_what_is_no_duration_is_refused(text: str | float | timedelta) -> None:
    with pytest.raises(InvalidInput):
        parse_duration(text)


def test_an_interval_counts_from_its_start() -> None:
    trigger = every(minutes=5, start=START)
    assert trigger.next_after(START - timedelta(days=9)) == START
    assert trigger.next_after(START) == START + timedelta(minutes=5)
    assert trigger.next_after(START + timedelta(minutes=12)) == START + timedelta(minutes=15)


def test_an_interval_without_a_start_counts_from_1970() -> None:
    assert every(minutes=5).next_after(START) == datetime(2026, 1, 1, 12, 5, tzinfo=UTC)
    assert every("7s").next_after(EPOCH) == EPOCH + timedelta(seconds=7)


def test_an_interval_has_many_spellings() -> None:
    spellings = [every("1h30m"), every(timedelta(minutes=90)), every(hours=1, minutes=30)]
    assert all(spelling == every(minutes=90) for spelling in spellings)
    assert every(weeks=1) == every(days=7)


@pytest.mark.parametrize("length", ["0s", "0.0001s", "200000d", "1.0005s", "soon"])
def test_an_impossible_interval_is_refused(length: str) -> None:
    with pytest.raises(InvalidTrigger):
        every(length)


def test_an_interval_is_given_one_way_only() -> None:
    with pytest.raises(InvalidTrigger, match="not both"):
        every("5m", minutes=5)
    with pytest.raises(InvalidTrigger):
        every()


def test_an_interval_from_completion_is_only_marked() -> None:
    trigger = every(minutes=5, start=START, from_completion=True)
    assert isinstance(trigger, Every)
    assert trigger.from_completion
    assert trigger.next_after(START) == every(minutes=5, start=START).next_after(START)


def test_intervals_end_with_time_itself() -> None:
    end = datetime.max.replace(tzinfo=UTC)
    assert every(days=1).next_after(end) is None
    assert every_between(86_400, 172_800).next_after(end) is None


@settings(max_examples=100, deadline=None)
@given(
    shortest=st.integers(1, 10_000),
    more=st.integers(0, 20_000),
    name=st.text(max_size=5),
    ahead=st.integers(-100, 10**9),
)
def test_random_intervals_stay_between_their_bounds(
    shortest: int, more: int, name: str, ahead: int
) -> None:
    least, most = timedelta(milliseconds=shortest), timedelta(milliseconds=shortest + more)
    trigger = every_between(least, most, start=START).bound(name)
    first = trigger.next_after(START)
    assert first is not None
    assert least <= first - START <= most
    assert trigger.next_after(START - timedelta(days=1)) == first
    before = trigger.next_after(START + timedelta(seconds=ahead))
    for _ in range(10):
        assert before is not None
        tick = trigger.next_after(before)
        assert tick is not None
        assert least <= tick - before <= most
        assert trigger.next_after(before + (tick - before) / 2) == tick
        assert trigger.next_after(tick - timedelta(microseconds=1)) == tick
        before = tick


def test_random_intervals_differ_by_name_and_from_slot_to_slot() -> None:
    trigger = every_between("5m", "10m", start=START)
    ticks = list(trigger.bound("a").between(START, START + timedelta(hours=5)))
    assert ticks != list(trigger.bound("b").between(START, START + timedelta(hours=5)))
    gaps = {after - before for before, after in pairwise(ticks)}
    assert len(gaps) > 10
    assert trigger.bound("a").bound("b") == trigger.bound("b")


def test_random_intervals_are_the_same_in_every_release() -> None:
    tick = every_between("5m", "10m", start=START).bound("report").next_after(START)
    assert tick is not None
    assert tick - START == timedelta(seconds=560, milliseconds=512)


def test_random_intervals_need_a_range() -> None:
    with pytest.raises(InvalidTrigger, match="longer than b"):
        every_between("10m", "5m")
    with pytest.raises(InvalidTrigger, match="a: 'x'"):
        every_between("x", "5m")
    with pytest.raises(InvalidTrigger, match="a: 0:00:00 is out of range"):
        every_between(0, "5m")


def test_once_fires_at_its_instants_and_never_again() -> None:
    later = START + timedelta(days=1)
    trigger = once([later, START, later])
    assert trigger.next_after(START - timedelta(days=1)) == START
    assert trigger.next_after(START) == later
    assert trigger.next_after(later) is None


def test_once_without_a_time_fires_at_its_anchor() -> None:
    assert once().next_after(START) is None
    trigger = once().anchored(START)
    assert trigger.next_after(START - timedelta(microseconds=1)) == START
    assert trigger.next_after(START) is None
    assert trigger != once(START)


def test_once_reads_naive_times_on_the_wall_clock_of_a_zone() -> None:
    in_gap = datetime(2026, 3, 29, 2, 30)
    assert once(in_gap, tz="Europe/Paris") == once(datetime(2026, 3, 29, 1, tzinfo=UTC))
    repeated = datetime(2026, 10, 25, 2, 30)
    assert once(repeated, tz="Europe/Paris") == once(datetime(2026, 10, 25, 0, 30, tzinfo=UTC))
    winter = datetime(2026, 1, 1, 9)
    assert once(winter, tz="Asia/Tokyo") == once(winter.replace(tzinfo=ZoneInfo("Asia/Tokyo")))
    assert once(winter, tz="America/New_York") == once(winter.replace(hour=14, tzinfo=UTC))
    with pytest.raises(NaiveDatetime):
        once(in_gap)
    with pytest.raises(InvalidTrigger, match="at least one instant"):
        once([])


COUNTING: list[Trigger] = [
    every(minutes=5),
    every_between("5m", "10m"),
    daily("02:30", interval=3),
    weekly("mon", "02:30", interval=2),
    monthly(1, "02:30", interval=2),
    once(),
    any_of(every(minutes=5), daily("02:30", interval=2)),
    every(minutes=5).excluding(Calendar(weekdays=["sun"])),
]


@pytest.mark.parametrize("trigger", COUNTING, ids=lambda trigger: trigger.describe())
def test_a_stored_anchor_is_kept_and_taken_over(trigger: Trigger) -> None:
    stored = trigger.anchored(START)
    assert stored != trigger
    assert stored.anchored(START + timedelta(days=1)) == stored
    assert trigger.same_rule(stored)
    assert stored.same_rule(trigger)
    assert trigger.with_anchor_of(stored) == stored
    assert stored.with_anchor_of(trigger.anchored(START + timedelta(days=1))) == stored
    assert stored.without_anchor() == trigger


@pytest.mark.parametrize("trigger", COUNTING, ids=lambda trigger: trigger.describe())
def test_no_anchor_is_taken_from_another_rule(trigger: Trigger) -> None:
    other = every(minutes=7).anchored(START)
    assert not trigger.same_rule(other)
    assert trigger.with_anchor_of(other) == trigger


@pytest.mark.parametrize(
    "trigger",
    [cron("0 0 * * *"), daily("02:30"), weekly(1, "09:00"), monthly(1, "09:00"), once(START)],
    ids=lambda trigger: trigger.describe(),
)
def test_what_does_not_count_needs_no_anchor(trigger: Trigger) -> None:
    assert trigger.anchored(START) is trigger
    assert trigger.with_anchor_of(trigger) == trigger


@pytest.mark.parametrize("at", ["tomorrow", ["2026-01-01T00:00:00Z"]])
def test_a_text_is_no_instant(at: Any) -> None:
    with pytest.raises(InvalidTrigger, match="is not an instant; give an aware datetime"):
        once(at)


def test_an_anchor_must_be_aware() -> None:
    with pytest.raises(NaiveDatetime):
        every(minutes=5).anchored(datetime(2026, 1, 1))
    with pytest.raises(NaiveDatetime):
        every(minutes=5, start=datetime(2026, 1, 1))


@pytest.mark.parametrize(
    "trigger",
    [every("5m"), every_between(1, 2), daily("01:00"), once(START), any_of(daily("01:00"))],
)
def test_every_kind_refuses_an_instant_without_a_zone(trigger: Trigger) -> None:
    with pytest.raises(NaiveDatetime):
        trigger.next_after(datetime(2026, 1, 1))


@settings(max_examples=50, deadline=None)
@given(seconds=st.integers(0, 10**7), length=st.integers(0, 20_000))
def test_between_is_after_the_start_up_to_and_including_the_end(seconds: int, length: int) -> None:
    trigger = any_of(every("7m"), cron("*/5 * * * *", tz="Europe/Paris"))
    start = START + timedelta(seconds=seconds)
    end = start + timedelta(seconds=length)
    expected: list[datetime] = []
    tick = trigger.next_after(start)
    while tick is not None and tick <= end:
        expected.append(tick)
        tick = trigger.next_after(tick)
    assert list(trigger.between(start, end)) == expected
    if expected:
        assert list(trigger.between(expected[0], expected[-1])) == expected[1:]
