"""Ticks to come, and what changes of the clock do to them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from drumbeat import Calendar, cron, daily, every, once
from drumbeat.model.triggers.trigger import Trigger
from drumbeat.rules.schedules.preview import next_ticks, preview, zone_of

SPRING = datetime(2030, 3, 30, tzinfo=UTC)
AUTUMN = datetime(2030, 10, 26, tzinfo=UTC)


def notes(trigger: Trigger, start: datetime, count: int = 4) -> list[tuple[str, str]]:
    seen = preview(trigger, next_ticks(trigger, start, count), start)
    return [(f"{tick.local:%d %H:%M}", tick.note.partition(": ")[2]) for tick in seen.ticks]


def on_cron(gap: str | None = None, repeat: str | None = None) -> Trigger:
    return cron("30 2 * * *", tz="Europe/Paris").with_dst(gap, repeat)


def on_days(gap: str | None = None, repeat: str | None = None) -> Trigger:
    return daily("02:30", tz="Europe/Paris").with_dst(gap, repeat)


Make = Callable[..., Trigger]


@pytest.mark.parametrize("make", [on_cron, on_days])
class TestFixedTimes:
    """The same for every trigger that reads a wall clock."""

    def test_a_tick_in_a_gap_is_moved(self, make: Make) -> None:
        assert notes(make(), SPRING, 3) == [
            ("30 02:30", ""),
            ("31 03:00", "02:30 does not exist: runs at 03:00 instead"),
            ("01 02:30", ""),
        ]

    def test_a_tick_that_is_dropped_is_told_with_the_next(self, make: Make) -> None:
        assert notes(make("skip"), SPRING, 2) == [
            ("30 02:30", ""),
            ("01 02:30", "02:30 does not exist: no run of its own"),
        ]

    def test_a_time_that_comes_twice_is_told(self, make: Make) -> None:
        assert notes(make(), AUTUMN, 3) == [
            ("26 02:30", ""),
            ("27 02:30", "02:30 comes twice: runs only the first time"),
            ("28 02:30", ""),
        ]
        assert notes(make(None, "both"), AUTUMN, 4)[1:3] == [
            ("27 02:30", "02:30 comes twice: runs both times"),
            ("27 02:30", "02:30 comes twice: runs both times"),
        ]


def test_days_that_are_counted_from_a_start_keep_their_notes() -> None:
    start = datetime(2030, 3, 28, 23, 30, tzinfo=UTC)  # the 29th in Paris
    trigger = daily("02:30", interval=2, tz="Europe/Paris", start=start)
    assert notes(trigger, SPRING, 2) == [
        ("31 03:00", "02:30 does not exist: runs at 03:00 instead"),
        ("02 02:30", ""),
    ]


def test_calendars_do_not_hide_the_zone() -> None:
    trigger = cron("0 9 * * *", tz="Asia/Tokyo").excluding(Calendar(weekdays=["sun"]))
    assert zone_of(trigger) == "Asia/Tokyo"


@pytest.mark.parametrize("trigger", [every(hours=1), once(AUTUMN)])
def test_what_reads_no_wall_clock_is_told_in_utc(trigger: Trigger) -> None:
    anchored = trigger.anchored(SPRING)
    seen = preview(anchored, next_ticks(anchored, SPRING, 30), SPRING)
    assert seen.tz == "UTC"
    assert not any(tick.note for tick in seen.ticks)


def test_a_rule_that_is_over_has_no_ticks() -> None:
    assert next_ticks(once(SPRING), AUTUMN, 3) == []
