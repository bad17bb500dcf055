"""Cron beside a slow oracle that lives through each minute, and cronsim where that is right."""

from __future__ import annotations

import calendar
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from cronsim import CronSim, CronSimError
from hypothesis import given, settings
from hypothesis import strategies as st

from drumbeat.model.errors import InvalidCron
from drumbeat.model.time.zones import DstGap, DstRepeat
from drumbeat.model.triggers import Cron, cron
from drumbeat.model.triggers.wall_clock import WallClock

MINUTE = timedelta(minutes=1)

# In 28 years each month begins on each weekday, and February 29 falls on each of them.
ALL_SHAPES_OF_YEARS = [date(2001, 1, 1) + timedelta(days=day) for day in range(28 * 366)]

# A zone and a date around which its clock jumps.
JUMPS = [
    ("America/New_York", date(2026, 3, 8)),
    ("America/New_York", date(2026, 11, 1)),
    ("Australia/Lord_Howe", date(2026, 4, 5)),
    ("Australia/Lord_Howe", date(2026, 10, 4)),
    ("America/Sao_Paulo", date(2018, 11, 4)),
    ("America/Sao_Paulo", date(2018, 2, 18)),
    ("Africa/Cairo", date(2026, 4, 24)),
    ("Africa/Cairo", date(2026, 10, 30)),
    ("Asia/Beirut", date(2026, 3, 29)),
    ("Asia/Beirut", date(2026, 10, 25)),
    ("America/Santiago", date(2026, 4, 5)),
    ("America/Santiago", date(2026, 9, 6)),
    ("Antarctica/Troll", date(2026, 3, 29)),
    ("Antarctica/Troll", date(2026, 10, 25)),
    ("Africa/Casablanca", date(2026, 2, 15)),
    ("Africa/Casablanca", date(2026, 3, 22)),
    ("Europe/Dublin", date(2026, 3, 29)),
    ("Europe/Dublin", date(2026, 10, 25)),
    ("Pacific/Apia", date(2011, 12, 30)),
    ("Pacific/Kwajalein", date(1993, 8, 21)),
    ("Asia/Kathmandu", date(1986, 1, 1)),
    ("America/St_Johns", date(2006, 4, 2)),
    ("Asia/Pyongyang", date(2018, 5, 5)),
    ("America/Boa_Vista", date(2000, 10, 8)),
    ("America/Boa_Vista", date(2000, 10, 15)),
    ("Europe/Paris", date(2026, 7, 1)),
]


@dataclass(frozen=True)
class Part:
    """A field: how it is written, and which values it means, by a rule of its own."""

    text: str
    matches: Callable[[int], bool]


@dataclass(frozen=True)
class DayPart:
    text: str
    matches: Callable[[date], bool]


def listed_values(low: int, high: int) -> st.SearchStrategy[Part]:
    def part(values: set[int]) -> Part:
        return Part(",".join(map(str, sorted(values))), lambda value: value in values)

    return st.sets(st.integers(low, high), min_size=1, max_size=4).map(part)


def ranged_values(low: int, high: int) -> st.SearchStrategy[Part]:
    def part(ends: tuple[int, int]) -> Part:
        first, last = ends
        if first <= last:
            return Part(f"{first}-{last}", lambda value: first <= value <= last)
        return Part(f"{first}-{last}", lambda value: value >= first or value <= last)

    return st.tuples(st.integers(low, high), st.integers(low, high)).map(part)


def starred_values(low: int, size: int) -> st.SearchStrategy[Part]:
    def part(step: int) -> Part:
        text = "*" if step == 1 else f"*/{step}"
        return Part(text, lambda value: (value - low) % step == 0)

    return st.integers(1, size // 2).map(part)


ANY_VALUE = st.just(Part("?", lambda value: True))


minutes = st.one_of(listed_values(0, 59), ranged_values(0, 59), starred_values(0, 60), ANY_VALUE)
hours = st.one_of(
    listed_values(0, 23),
    listed_values(0, 3),
    ranged_values(0, 23),
    starred_values(0, 24),
    ANY_VALUE,
)


def last_day(day: date) -> int:
    return calendar.monthrange(day.year, day.month)[1]


def is_nearest_weekday(day: date, wanted: int) -> bool:
    """The definition, by search: the closest Monday-to-Friday of the month to the wanted day."""
    if wanted > last_day(day) or day.isoweekday() > 5:
        return False
    weekdays = [
        number
        for number in range(1, last_day(day) + 1)
        if day.replace(day=number).isoweekday() <= 5
    ]
    return day.day == min(weekdays, key=lambda number: abs(number - wanted))


def plain_day(part: Part) -> DayPart:
    return DayPart(part.text, lambda day: part.matches(day.day))


def plain_weekday(part: Part) -> DayPart:
    return DayPart(part.text, lambda day: part.matches(day.isoweekday() % 7))


month_days = st.one_of(
    st.just(DayPart("*", lambda day: True)),
    st.just(DayPart("?", lambda day: True)),
    st.one_of(listed_values(1, 31), ranged_values(1, 31), starred_values(1, 31)).map(plain_day),
    st.just(DayPart("L", lambda day: day.day == last_day(day))),
    st.integers(1, 27).map(
        lambda back: DayPart(f"L-{back}", lambda day: day.day == last_day(day) - back)
    ),
    st.just(DayPart("LW", lambda day: is_nearest_weekday(day, last_day(day)))),
    st.integers(1, 30).map(
        lambda back: DayPart(
            f"L-{back}W",
            lambda day: last_day(day) > back and is_nearest_weekday(day, last_day(day) - back),
        )
    ),
    st.integers(1, 31).map(
        lambda wanted: DayPart(f"{wanted}W", lambda day: is_nearest_weekday(day, wanted))
    ),
)
week_days = st.one_of(
    st.just(DayPart("*", lambda day: True)),
    st.just(DayPart("?", lambda day: True)),
    st.one_of(listed_values(0, 6), ranged_values(0, 6), starred_values(0, 6)).map(plain_weekday),
    st.integers(0, 6).map(
        lambda number: DayPart(
            f"{number}L",
            lambda day: day.isoweekday() % 7 == number and day.day > last_day(day) - 7,
        )
    ),
    st.tuples(st.integers(0, 6), st.integers(1, 4)).map(
        lambda pair: DayPart(
            f"{pair[0]}#{pair[1]}",
            lambda day: day.isoweekday() % 7 == pair[0] and (day.day + 6) // 7 == pair[1],
        )
    ),
)
# Mostly every day, so that most examples have ticks near the jump.
days = st.one_of(
    st.just((DayPart("*", lambda day: True), DayPart("*", lambda day: True))),
    st.tuples(month_days, week_days),
)


def day_matches(day: date, month_day: DayPart, week_day: DayPart) -> bool:
    both = month_day.text[0] in "*?" or week_day.text[0] in "*?"
    results = month_day.matches(day), week_day.matches(day)
    return all(results) if both else any(results)


@lru_cache(maxsize=32)
def lived_minutes(zone: str, around: date) -> tuple[tuple[datetime, datetime], ...]:
    """Every minute of nine days, as (instant, what the clock on the wall shows)."""
    start = datetime(around.year, around.month, around.day, tzinfo=UTC) - timedelta(days=4)
    instants = (start + minute * MINUTE for minute in range(9 * 1440))
    place = ZoneInfo(zone)
    return tuple((i, i.astimezone(place).replace(tzinfo=None, fold=0)) for i in instants)


def oracle(
    zone: str, around: date, matches: Callable[[datetime], bool], policies: tuple[str, str] | None
) -> list[datetime]:
    """All ticks of the nine days; `policies` is None for a wildcard job."""
    lived = lived_minutes(zone, around)
    if policies is None:
        return [instant for instant, wall in lived if matches(wall)]
    passes: dict[datetime, list[datetime]] = {}
    for instant, wall in lived:
        passes.setdefault(wall, []).append(instant)
    ticks: set[datetime] = set()
    for wall, instants in passes.items():
        if matches(wall):
            chosen = {"first": instants[:1], "last": instants[-1:], "both": instants}[policies[1]]
            ticks.update(chosen)
    for (before, shown_before), (after, shown_after) in pairwise(lived):
        missing = shown_before + MINUTE
        while missing < shown_after:
            if matches(missing) and policies[0] == "run_after":
                ticks.add(after)
            if matches(missing) and policies[0] == "shift":
                ticks.add(before + (missing - shown_before))
            missing += MINUTE
    return sorted(ticks)


@settings(max_examples=150, deadline=None)
@given(
    jump=st.sampled_from(JUMPS),
    minute=minutes,
    hour=hours,
    chosen=days,
    policies=st.tuples(
        st.sampled_from(["run_after", "skip", "shift"]), st.sampled_from(["first", "both", "last"])
    ),
    asked=st.lists(st.integers(0, 5 * 86_400), min_size=1, max_size=6),
)
def test_the_next_tick_is_the_least_of_the_oracles_ticks_that_is_later(
    jump: tuple[str, date],
    minute: Part,
    hour: Part,
    chosen: tuple[DayPart, DayPart],
    policies: tuple[str, str],
    asked: list[int],
) -> None:
    zone, around = jump
    month_day, week_day = chosen

    def matches(wall: datetime) -> bool:
        in_time = minute.matches(wall.minute) and hour.matches(wall.hour)
        return in_time and day_matches(wall.date(), month_day, week_day)

    expression = f"{minute.text} {hour.text} {month_day.text} * {week_day.text}"
    try:
        trigger = cron(
            expression, tz=zone, dst_gap=DstGap(policies[0]), dst_repeat=DstRepeat(policies[1])
        )
    except InvalidCron:
        possible = any(day_matches(day, month_day, week_day) for day in ALL_SHAPES_OF_YEARS)
        trigger = None
    else:
        possible = True
    assert possible is (trigger is not None)
    if trigger is None:
        return
    wildcard = minute.text.startswith(("*", "?")) or hour.text.startswith(("*", "?"))
    ticks = oracle(zone, around, matches, None if wildcard else policies)
    begin = lived_minutes(zone, around)[0][0] + timedelta(days=2)
    end = begin + timedelta(days=5)
    expected = [tick for tick in ticks if begin < tick <= end]
    assert list(trigger.between(begin, end)) == expected
    for seconds in asked:
        instant = begin + timedelta(seconds=seconds, microseconds=seconds % 3)
        later = ticks[bisect_right(ticks, instant) :]
        found = trigger.next_after(instant)
        if later and later[0] <= end:
            assert found == later[0]
        else:
            assert found is None or found > end


@settings(max_examples=60, deadline=None)
@given(
    jump=st.sampled_from(JUMPS),
    second=st.one_of(listed_values(0, 59), starred_values(0, 60)),
    minute=st.one_of(listed_values(0, 59), starred_values(0, 60)),
    hour=st.one_of(listed_values(0, 3), starred_values(0, 24)),
    asked=st.lists(st.integers(0, 3 * 86_400), min_size=1, max_size=8),
)
def test_where_one_starts_and_what_was_asked_before_never_matter(
    jump: tuple[str, date], second: Part, minute: Part, hour: Part, asked: list[int]
) -> None:
    zone, around = jump
    trigger = cron(f"{second.text} {minute.text} {hour.text} * * *", tz=zone)
    assert isinstance(trigger, Cron)
    noon = datetime(around.year, around.month, around.day, 12, tzinfo=UTC)
    begin = noon - timedelta(days=2)
    for seconds in asked:
        instant = begin + timedelta(seconds=seconds)
        fresh = WallClock(trigger._clock.rule)  # pyright: ignore[reportPrivateUsage] - no memories
        tick = fresh.next_after(instant)
        assert tick is not None
        assert trigger.next_after(instant) == tick
        middle = instant + (tick - instant) / 2
        assert trigger.next_after(middle) == tick
        assert trigger.next_after(tick - timedelta(microseconds=1)) == tick
        following = trigger.next_after(tick)
        assert following is not None
        assert following > tick


# cronsim knows no W, L-n, wrap-around and `?`.
simple_days = st.one_of(
    st.just("*"), st.just("L"), st.just("LW"), listed_values(1, 31).map(lambda part: part.text)
)
simple_weekdays = st.one_of(
    st.just("*"), st.just("5L"), st.just("1#2"), st.just("1-5"), st.just("*/2"), st.just("1/2")
)


@settings(max_examples=120, deadline=None)
@given(
    second=st.sampled_from(["", "0 ", "*/20 ", "7,30 "]),
    minute=st.one_of(listed_values(0, 59), starred_values(0, 60)),
    hour=st.one_of(listed_values(0, 23), starred_values(0, 24)),
    month_day=simple_days,
    month=st.sampled_from(["*", "2", "1,7", "*/3", "JUN-AUG"]),
    week_day=simple_weekdays,
    start=st.datetimes(datetime(2020, 1, 1), datetime(2040, 1, 1)),
)
def test_utc_ticks_are_those_of_cronsim(
    second: str,
    minute: Part,
    hour: Part,
    month_day: str,
    month: str,
    week_day: str,
    start: datetime,
) -> None:
    expression = f"{second}{minute.text} {hour.text} {month_day} {month} {week_day}"
    instant = start.replace(tzinfo=UTC)
    try:
        peer = CronSim(expression, instant)
    except CronSimError:  # such as 30 February: both refuse it
        with pytest.raises(InvalidCron):
            cron(expression)
        return
    first = next(peer, None)
    if first is None:  # never within cronsim's horizon: we refuse it, or look further
        return
    trigger = cron(expression)
    assert trigger.next_after(instant) == first
    assert trigger.next_after(first) == next(peer)


# In Lord Howe, where the clock jumps by half an hour, cronsim loses the 03:00 of `0 */3 * * *`.
@settings(max_examples=40, deadline=None)
@given(
    zone=st.sampled_from(["America/New_York", "Europe/Dublin", "Antarctica/Troll"]),
    minute=st.one_of(listed_values(0, 59), starred_values(0, 60)),
    hour=st.one_of(listed_values(0, 23), starred_values(0, 24)),
)
def test_weeks_over_a_jump_in_a_zone_are_those_of_cronsim(
    zone: str, minute: Part, hour: Part
) -> None:
    expression = f"{minute.text} {hour.text} * * *"
    start = datetime(2026, 3, 7, tzinfo=ZoneInfo(zone))
    peer = CronSim(expression, start)
    instant: datetime | None = start
    previous = None
    for _ in range(200):
        assert instant is not None
        instant = cron(expression, tz=zone).next_after(instant)
        expected = next(peer).astimezone(UTC)
        # cronsim names the first instant after a gap once per time that fell into it.
        while expected == previous:
            expected = next(peer).astimezone(UTC)
        previous = expected
        assert instant == expected
