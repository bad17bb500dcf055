"""`any_of`, `excluding` and calendars."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drumbeat.model.errors import InvalidTrigger, NaiveDatetime, UnknownZone
from drumbeat.model.time.calendar import Calendar
from drumbeat.model.triggers import any_of, cron, daily, every, once

START = datetime(2026, 1, 1, tzinfo=UTC)  # a Thursday
WEEKEND = Calendar(weekdays=["sat", "sun"])
NOBODY = Calendar(weekdays=range(7))


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("calendar", "instant", "excluded"),
    [
        (Calendar(dates=["2026-12-25"]), "2026-12-25T00:00", True),
        (Calendar(dates=[date(2026, 12, 25)]), "2026-12-25T23:59:59", True),
        (Calendar(dates=[date(2026, 12, 25)]), "2026-12-26T00:00", False),
        (Calendar(dates=["2026-12-25"], tz="Asia/Tokyo"), "2026-12-24T15:00", True),
        (Calendar(dates=["2026-12-25"], tz="Asia/Tokyo"), "2026-12-25T15:00", False),
        (Calendar(ranges=[("2026-08-01", "2026-08-15")]), "2026-08-15T23:00", True),
        (Calendar(ranges=[("2026-08-01", "2026-08-15")]), "2026-08-16T00:00", False),
        (Calendar(weekdays=["SAT", 0]), "2026-01-04T12:00", True),
        (Calendar(weekdays=["SAT", 7]), "2026-01-05T00:00", False),
        (Calendar(yearly=["12-25"]), "2031-12-25T12:00", True),
        (Calendar(yearly=[(2, 29)]), "2028-02-29T12:00", True),
        (Calendar(yearly=["02-29"]), "2027-02-28T12:00", False),
        (Calendar(times=[("09:00", "17:00")]), "2026-01-01T09:00", True),
        (Calendar(times=[("09:00", "17:00")]), "2026-01-01T17:00", False),
        (Calendar(times=[("22:00", "06:00")]), "2026-01-01T23:00", True),
        (Calendar(times=[(time(22), time(6))]), "2026-01-01T05:59:59", True),
        (Calendar(times=[("22:00", "06:00")]), "2026-01-01T06:00", False),
    ],
)
def test_a_calendar_excludes_what_it_says(calendar: Calendar, instant: str, excluded: bool) -> None:
    assert calendar.excludes(at(instant)) is excluded


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: Calendar(), "at least one date"),
        (lambda: Calendar(dates=["25.12.2026"]), "'25.12.2026' is not a date"),
        (lambda: Calendar(ranges=[("2026-02-01", "2026-01-01")]), "later than"),
        (lambda: Calendar(weekdays=["funday"]), "'funday' is not a day of the week"),
        (lambda: Calendar(yearly=["02-30"]), "'02-30' is not a day of a year"),
        (lambda: Calendar(yearly=["12"]), "'12' is not a day of a year"),
        (lambda: Calendar(times=[("09:00", "09:00")]), "is empty"),
        (lambda: Calendar(times=[("09:00", "25:00")]), "'25:00' is not a time of day"),
    ],
)
def test_a_bad_calendar_is_refused(make: Callable[[], Calendar], problem: str) -> None:
    with pytest.raises(InvalidTrigger) as caught:
        make()
    assert problem in str(caught.value)


def test_a_calendar_needs_a_known_zone_and_aware_instants() -> None:
    with pytest.raises(UnknownZone):
        Calendar(weekdays=[1], tz="Nowhere")
    with pytest.raises(NaiveDatetime):
        WEEKEND.excludes(datetime(2026, 1, 1))


@settings(max_examples=60, deadline=None)
@given(
    weekdays=st.sets(st.integers(0, 6), max_size=5),
    hours=st.lists(st.tuples(st.integers(0, 23), st.integers(0, 23)), max_size=2),
    hour=st.integers(0, 24 * 14),
    zone=st.sampled_from(["UTC", "America/New_York", "America/Santiago", "Africa/Cairo"]),
    day=st.sampled_from([date(2026, 3, 5), date(2026, 4, 2), date(2026, 10, 27), date(2026, 9, 4)]),
)
def test_the_next_clear_moment_is_the_first_that_is_not_excluded(
    weekdays: set[int], hours: list[tuple[int, int]], hour: int, zone: str, day: date
) -> None:
    times = [(time(first), time(last)) for first, last in hours if first != last]
    if not weekdays and not times:
        return
    calendar = Calendar(weekdays=weekdays, times=times, tz=zone)
    start = datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(hours=hour)
    step = timedelta(minutes=30)
    moments = (start + count * step for count in range(60 * 48))
    expected = next((moment for moment in moments if not calendar.excludes(moment)), None)
    if expected is not None:
        assert calendar.clear_from(start) == expected


def test_an_excluded_tick_is_named_but_not_next() -> None:
    trigger = daily("09:00").excluding(WEEKEND)
    friday, saturday, monday = (
        at("2026-01-02T09:00"),
        at("2026-01-03T09:00"),
        at("2026-01-05T09:00"),
    )
    assert trigger.next_after(friday) == monday
    assert trigger.named_after(friday) == saturday
    assert trigger.excludes(saturday)
    assert not trigger.excludes(monday)


def test_further_calendars_add_up() -> None:
    monday_off = Calendar(dates=["2026-01-05"])
    trigger = daily("09:00").excluding(WEEKEND).excluding(monday_off)
    assert trigger == daily("09:00").excluding(WEEKEND, monday_off)
    assert trigger.next_after(at("2026-01-02T09:00")) == at("2026-01-06T09:00")
    assert daily("09:00").excluding() == daily("09:00")


def test_a_tick_per_second_jumps_over_a_weekend() -> None:
    trigger = cron("* * * * * *").excluding(WEEKEND)
    assert trigger.next_after(at("2026-01-02T23:59:59")) == at("2026-01-05T00:00:00")


def test_if_all_is_excluded_there_is_no_next_tick() -> None:
    assert every(minutes=1).excluding(NOBODY).next_after(START) is None
    christmas = Calendar(yearly=["12-25"])
    assert cron("0 0 25 12 *").excluding(christmas).next_after(START) is None
    halves = Calendar(times=[("00:00", "12:00")]), Calendar(times=[("12:00", "00:00")])
    assert every(minutes=1).excluding(*halves).next_after(START) is None


def test_any_of_fires_once_where_members_meet() -> None:
    trigger = any_of(every(hours=2), every(hours=3))
    found = [tick.hour for tick in trigger.between(START, START + timedelta(hours=12))]
    assert found == [2, 3, 4, 6, 8, 9, 10, 12]


def test_any_of_ends_with_its_last_member() -> None:
    trigger = any_of(once(START), once(START + timedelta(days=1)))
    assert trigger.next_after(START) == START + timedelta(days=1)
    assert trigger.next_after(START + timedelta(days=1)) is None


def test_any_of_is_flat_and_without_repeats() -> None:
    first, second, third = daily("01:00"), daily("02:00"), daily("03:00")
    assert any_of(any_of(first, second), third, first) == any_of(first, second, third)
    assert any_of(first) is first
    assert any_of(first, first) is first


def test_any_of_needs_members_but_not_too_many() -> None:
    with pytest.raises(InvalidTrigger, match="1 to 100"):
        any_of()
    with pytest.raises(InvalidTrigger, match="1 to 100"):
        any_of(*(every(seconds=number) for number in range(1, 102)))


def test_a_tick_is_excluded_only_if_all_who_name_it_exclude_it() -> None:
    noon = at("2026-01-03T12:00")  # a Saturday
    resting = daily("12:00").excluding(WEEKEND)
    together = any_of(resting, daily(["12:00", "13:00"]))
    assert not together.excludes(noon)
    assert together.next_after(noon - timedelta(hours=1)) == noon
    apart = any_of(resting, daily("13:00"))
    assert apart.named_after(noon - timedelta(hours=1)) == noon
    assert apart.excludes(noon)
    assert apart.next_after(noon - timedelta(hours=1)) == noon + timedelta(hours=1)
    assert any_of(resting, daily("13:00")).excluding(WEEKEND).excludes(noon + timedelta(hours=1))


@settings(max_examples=40, deadline=None)
@given(hour=st.integers(0, 24 * 60))
def test_next_is_the_first_named_tick_that_is_not_excluded(hour: int) -> None:
    start = datetime(2026, 3, 1, tzinfo=UTC) + timedelta(hours=hour)
    trigger = any_of(
        cron("0 */3 * * *", tz="Europe/Paris").excluding(WEEKEND),
        every("5h").excluding(Calendar(times=[("22:00", "06:00")], tz="Europe/Paris")),
        daily("02:30", tz="Europe/Paris"),
    ).excluding(Calendar(yearly=["03-29"], tz="Europe/Paris"))
    named = trigger.named_after(start)
    while named is not None and trigger.excludes(named):
        named = trigger.named_after(named)
    assert trigger.next_after(start) == named


def test_changes_reach_the_members() -> None:
    inner = cron("H 2 * * *", tz="Europe/Paris")
    trigger = any_of(inner.excluding(WEEKEND), every("5m"))
    assert trigger.bound("a") == any_of(inner.bound("a").excluding(WEEKEND), every("5m"))
    assert trigger.with_dst(gap="skip") == any_of(
        inner.with_dst(gap="skip").excluding(WEEKEND), every("5m")
    )
    assert trigger.with_dst() is trigger
    assert daily("01:00").excluding(WEEKEND).bound("a") == daily("01:00").excluding(WEEKEND)


def test_a_calendar_in_another_zone_excludes_by_its_own_dates() -> None:
    tokyo = ZoneInfo("Asia/Tokyo")
    trigger = every("1h").excluding(Calendar(dates=["2026-01-02"], tz=tokyo))
    midnight = datetime(2026, 1, 2, tzinfo=tokyo)
    assert trigger.next_after(midnight - timedelta(minutes=1)) == midnight + timedelta(days=1)
