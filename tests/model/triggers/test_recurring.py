"""`daily`, `weekly` and `monthly`, beside rules written out day by day."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest

from drumbeat.model.errors import InvalidTrigger, UnknownZone
from drumbeat.model.triggers import Trigger, cron, daily, monthly, weekly

START = datetime(2026, 1, 14, 15, 0, tzinfo=UTC)  # a Wednesday


def dates(trigger: Trigger, days: int = 120, start: datetime = START) -> list[date]:
    return [tick.date() for tick in trigger.between(start, start + timedelta(days=days))]


def where(matches: Callable[[date], bool], days: int = 120) -> list[date]:
    following = (START.date() + timedelta(days=day) for day in range(1, days + 1))
    return [day for day in following if matches(day)]


def months_since(day: date) -> int:
    return (day.year - 2026) * 12 + day.month - 1


RULES: list[tuple[Trigger, Callable[[date], bool]]] = [
    (daily("02:30"), lambda day: True),
    (daily("02:30", interval=3, start=START), lambda day: (day - START.date()).days % 3 == 0),
    (daily("02:30", interval=3), lambda day: (day - date(1970, 1, 1)).days % 3 == 0),
    (weekly("mon", "02:30"), lambda day: day.isoweekday() == 1),
    (weekly([0, 3], "02:30"), lambda day: day.isoweekday() in (7, 3)),
    (weekly([7, "Wednesday"], "02:30"), lambda day: day.isoweekday() in (7, 3)),
    (
        weekly(["mon", "sun"], "02:30", interval=2, start=START),
        lambda day: day.isoweekday() in (1, 7) and (day - date(2026, 1, 12)).days // 7 % 2 == 0,
    ),
    (
        weekly("fri", "02:30", interval=3),
        lambda day: day.isoweekday() == 5 and (day - date(1969, 12, 29)).days // 7 % 3 == 0,
    ),
    (monthly(31, "02:30"), lambda day: day.day == 31),
    (monthly([1, 15], "02:30"), lambda day: day.day in (1, 15)),
    (monthly(-1, "02:30"), lambda day: (day + timedelta(days=1)).day == 1),
    (monthly(-2, "02:30"), lambda day: (day + timedelta(days=2)).day == 1),
    (
        monthly(-31, "02:30"),
        lambda day: day.day == 1 and day.month in (1, 3, 5, 7, 8, 10, 12),
    ),
    (
        monthly([1, -1], "02:30", interval=2, start=START),
        lambda day: (
            months_since(day) % 2 == 0 and (day.day == 1 or (day + timedelta(days=1)).day == 1)
        ),
    ),
]


@pytest.mark.parametrize(("trigger", "matches"), RULES)
def test_the_days_are_those_of_the_rule(trigger: Trigger, matches: Callable[[date], bool]) -> None:
    assert dates(trigger) == where(matches)


def test_several_times_are_in_order_and_each_once() -> None:
    trigger = daily(["17:00:30", time(9), "09:00"])
    found = [f"{tick:%H:%M:%S}" for tick in trigger.between(START, START + timedelta(days=1))]
    assert found == ["17:00:30", "09:00:00"]


def test_times_are_on_the_wall_clock_of_the_zone() -> None:
    trigger = daily("02:30", tz=ZoneInfo("Asia/Tokyo"))
    assert trigger == daily("02:30", tz="Asia/Tokyo")
    assert trigger.next_after(START) == datetime(2026, 1, 14, 17, 30, tzinfo=UTC)


def test_the_count_begins_on_the_date_of_the_start_in_the_zone() -> None:
    trigger = daily("23:00", interval=2, tz="Asia/Tokyo", start=START)  # 15 January, 00:00 there
    assert trigger.next_after(START) == datetime(2026, 1, 15, 14, tzinfo=UTC)
    assert trigger.next_after(START + timedelta(days=1)) == datetime(2026, 1, 17, 14, tzinfo=UTC)


def test_nothing_happens_before_the_start() -> None:
    trigger = daily("15:00", start=START)
    assert trigger.next_after(START - timedelta(days=30)) == START
    assert daily("14:59", start=START).next_after(START - timedelta(days=30)) == datetime(
        2026, 1, 15, 14, 59, tzinfo=UTC
    )


def test_a_daily_time_is_the_cron_of_that_time() -> None:
    for tz in ("UTC", "America/New_York", "Pacific/Apia"):
        start = datetime(2011, 11, 1, tzinfo=UTC)
        ours = daily("01:30", tz=tz).between(start, start + timedelta(days=500))
        assert list(ours) == list(
            cron("30 1 * * *", tz=tz).between(start, start + timedelta(days=500))
        )


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: daily([]), "times: at least one"),
        (lambda: daily("25:00"), "'25:00' is not a time of day"),
        (lambda: daily("2.30"), "'2.30' is not a time of day"),
        (lambda: daily("02:30:00.5"), "fraction of a second"),
        (lambda: daily(time(2, tzinfo=UTC)), "has its own zone"),
        (lambda: daily("02:30", interval=0), "interval: 0 is out of range"),
        (lambda: daily("02:30", interval=1001), "interval: 1001 is out of range"),
        (lambda: weekly([], "02:30"), "days: at least one"),
        (lambda: weekly("someday", "02:30"), "'someday' is not a day of the week"),
        (lambda: weekly(8, "02:30"), "8 is not a day of the week"),
        (lambda: monthly([], "02:30"), "days: at least one"),
        (lambda: monthly(0, "02:30"), "days: 0 is out of range"),
        (lambda: monthly(32, "02:30"), "days: 32 is out of range"),
        (lambda: monthly(-32, "02:30"), "days: -32 is out of range"),
        (
            lambda: monthly(31, "02:30", interval=12, start=datetime(2026, 4, 1, tzinfo=UTC)),
            "none of the months counted from 2026-04 has day 31",
        ),
    ],
)
def test_an_impossible_rule_is_refused(make: Callable[[], Trigger], problem: str) -> None:
    with pytest.raises(InvalidTrigger) as caught:
        make()
    assert problem in str(caught.value)


def test_an_unknown_zone_is_refused() -> None:
    with pytest.raises(UnknownZone):
        daily("02:30", tz="Nowhere")
