"""What happens where the clock jumps, by hand-checked examples. The oracle test covers the rest."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from drumbeat.model.time.zones import DstGap, DstGapName, DstRepeat, DstRepeatName, zone
from drumbeat.model.triggers import Trigger, cron, daily, every, monthly, weekly

NEW_YORK = "America/New_York"


def at(text: str) -> datetime:
    """An instant from ISO text with its offset."""
    return datetime.fromisoformat(text)


def local_ticks(trigger: Trigger, tz: str, start: str, end: str) -> list[str]:
    """The ticks in (start, end] as the wall clock shows them, with its offset."""
    place = ZoneInfo(tz)
    found = trigger.between(at(start), at(end))
    return [tick.astimezone(place).isoformat(timespec="minutes") for tick in found]


SPRING = ("2026-03-08T00:00-05:00", "2026-03-09T00:00-04:00")
AUTUMN = ("2026-11-01T00:00-04:00", "2026-11-02T00:00-05:00")


@pytest.mark.parametrize(
    ("gap", "expected"),
    [
        ("run_after", ["2026-03-08T03:00-04:00"]),
        ("skip", []),
        ("shift", ["2026-03-08T03:30-04:00"]),
    ],
)
def test_a_fixed_time_in_a_gap_follows_the_policy(gap: DstGapName, expected: list[str]) -> None:
    for trigger in (
        cron("30 2 * * *", tz=NEW_YORK, dst_gap=gap),
        daily("02:30", tz=NEW_YORK).with_dst(gap=gap),
        weekly("sun", "02:30", tz=NEW_YORK).with_dst(gap=gap),
        monthly(8, "02:30", tz=NEW_YORK).with_dst(gap=gap),
    ):
        assert local_ticks(trigger, NEW_YORK, *SPRING) == expected


@pytest.mark.parametrize(
    ("repeat", "expected"),
    [
        ("first", ["2026-11-01T01:30-04:00"]),
        ("both", ["2026-11-01T01:30-04:00", "2026-11-01T01:30-05:00"]),
        ("last", ["2026-11-01T01:30-05:00"]),
    ],
)
def test_a_fixed_time_in_a_repeat_follows_the_policy(
    repeat: DstRepeatName, expected: list[str]
) -> None:
    for trigger in (
        cron("30 1 * * *", tz=NEW_YORK, dst_repeat=repeat),
        daily("01:30", tz=NEW_YORK).with_dst(repeat=repeat),
        weekly("sun", "01:30", tz=NEW_YORK).with_dst(repeat=repeat),
        monthly(1, "01:30", tz=NEW_YORK).with_dst(repeat=repeat),
    ):
        assert local_ticks(trigger, NEW_YORK, *AUTUMN) == expected


def test_fixed_times_that_fall_on_one_instant_are_one_tick() -> None:
    trigger = cron("0,30 2,3 * * *", tz=NEW_YORK)
    assert local_ticks(trigger, NEW_YORK, *SPRING) == [
        "2026-03-08T03:00-04:00",
        "2026-03-08T03:30-04:00",
    ]


def test_a_wildcard_has_nothing_extra_in_a_gap() -> None:
    for gap in ("run_after", "skip", "shift"):
        trigger = cron("*/30 * * * *", tz=NEW_YORK, dst_gap=gap)
        ticks = local_ticks(trigger, NEW_YORK, SPRING[0], "2026-03-08T04:00-04:00")
        assert [tick[11:16] for tick in ticks] == [
            "00:30", "01:00", "01:30", "03:00", "03:30", "04:00",
        ]  # fmt: skip


def test_a_wildcard_runs_in_both_passes_of_a_repeat() -> None:
    for repeat in ("first", "both", "last"):
        trigger = cron("0 * * * *", tz=NEW_YORK, dst_repeat=repeat)
        ticks = local_ticks(trigger, NEW_YORK, AUTUMN[0], "2026-11-01T02:00-05:00")
        assert [tick[11:] for tick in ticks] == ["01:00-04:00", "01:00-05:00", "02:00-05:00"]


def test_a_wildcard_second_makes_a_wildcard_job() -> None:
    lived = cron("*/30 30 1 * * *", tz=NEW_YORK)
    assert len(local_ticks(lived, NEW_YORK, *AUTUMN)) == 4
    fixed = cron("0,30 30 1 * * *", tz=NEW_YORK)
    assert len(local_ticks(fixed, NEW_YORK, *AUTUMN)) == 2


def test_asking_inside_a_repeat_gives_no_second_run() -> None:
    trigger = cron("30 1 * * *", tz=NEW_YORK)
    second_pass = at("2026-11-01T01:10-05:00")
    assert trigger.next_after(second_pass) == at("2026-11-02T01:30-05:00")


def test_asking_just_before_a_gap_ends_still_finds_the_run_after_it() -> None:
    trigger = cron("30 2 * * *", tz=NEW_YORK)
    assert trigger.next_after(at("2026-03-08T01:59:59.999999-05:00")) == at(
        "2026-03-08T03:00-04:00"
    )
    assert trigger.next_after(at("2026-03-08T03:00-04:00")) == at("2026-03-09T02:30-04:00")


@pytest.mark.parametrize(
    ("expression", "tz", "start", "end", "expected"),
    [
        pytest.param(
            "15 2 * * *", "Australia/Lord_Howe", "2026-10-03T12:00Z", "2026-10-04T12:00Z",
            ["2026-10-04T02:30+11:00"], id="a gap of half an hour",
        ),
        pytest.param(
            "45 1 * * *", "Australia/Lord_Howe", "2026-04-04T12:00Z", "2026-04-05T12:00Z",
            ["2026-04-05T01:45+11:00"], id="a repeat of half an hour",
        ),
        pytest.param(
            "30 0 * * *", "America/Sao_Paulo", "2018-11-03T12:00Z", "2018-11-04T12:00Z",
            ["2018-11-04T01:00-02:00"], id="a gap at midnight",
        ),
        pytest.param(
            "0 0 * * *", "America/Sao_Paulo", "2018-11-03T12:00Z", "2018-11-05T12:00Z",
            ["2018-11-04T01:00-02:00", "2018-11-05T00:00-02:00"], id="a missing midnight",
        ),
        pytest.param(
            "30 23 * * *", "America/Santiago", "2026-04-04T12:00Z", "2026-04-05T12:00Z",
            ["2026-04-04T23:30-03:00"], id="a repeat into the previous date",
        ),
        pytest.param(
            "0 0 * * *", "America/Santiago", "2026-04-04T12:00Z", "2026-04-05T12:00Z",
            ["2026-04-05T00:00-04:00"], id="the midnight after that",
        ),
        pytest.param(
            "30 0 * * *", "Africa/Cairo", "2026-04-23T12:00Z", "2026-04-24T12:00Z",
            ["2026-04-24T01:00+03:00"], id="Cairo in spring",
        ),
        pytest.param(
            "30 0 * * *", "Asia/Beirut", "2026-03-28T12:00Z", "2026-03-29T12:00Z",
            ["2026-03-29T01:00+03:00"], id="Beirut in spring",
        ),
        pytest.param(
            "30 1,2 * * *", "Antarctica/Troll", "2026-03-28T12:00Z", "2026-03-29T12:00Z",
            ["2026-03-29T03:00+02:00"], id="a gap of two hours is one run",
        ),
        pytest.param(
            "30 1 * * *", "Antarctica/Troll", "2026-10-24T12:00Z", "2026-10-25T12:00Z",
            ["2026-10-25T01:30+02:00"], id="a repeat of two hours",
        ),
        pytest.param(
            "30 2 * * *", "Africa/Casablanca", "2026-02-14T12:00Z", "2026-02-15T12:00Z",
            ["2026-02-15T02:30+01:00"], id="back for Ramadan",
        ),
        pytest.param(
            "30 2 * * *", "Africa/Casablanca", "2026-03-21T12:00Z", "2026-03-22T12:00Z",
            ["2026-03-22T03:00+01:00"], id="forward after Ramadan",
        ),
        pytest.param(
            "30 1 * * *", "Europe/Dublin", "2026-03-28T12:00Z", "2026-03-29T12:00Z",
            ["2026-03-29T02:00+01:00"], id="negative daylight saving, gap",
        ),
        pytest.param(
            "30 1 * * *", "Europe/Dublin", "2026-10-24T12:00Z", "2026-10-25T12:00Z",
            ["2026-10-25T01:30+01:00"], id="negative daylight saving, repeat",
        ),
        pytest.param(
            "0 9 * * *", "Pacific/Apia", "2011-12-29T12:00Z", "2011-12-31T12:00Z",
            ["2011-12-29T09:00-10:00", "2011-12-31T00:00+14:00", "2011-12-31T09:00+14:00"],
            id="a day that does not exist",
        ),
        pytest.param(
            "0,30 9-17 30 12 *", "Pacific/Apia", "2011-12-29T12:00Z", "2012-01-02T12:00Z",
            ["2011-12-31T00:00+14:00"], id="all times of the missing day are one run",
        ),
    ],
)  # fmt: skip
def test_the_known_oddities(
    expression: str, tz: str, start: str, end: str, expected: list[str]
) -> None:
    assert local_ticks(cron(expression, tz=tz), tz, start, end) == expected


def test_a_missing_day_can_be_skipped_or_shifted() -> None:
    skipping = cron("0 9 30 12 *", tz="Pacific/Apia", dst_gap="skip")
    assert skipping.next_after(at("2011-12-01T00:00Z")) == at("2012-12-30T09:00+14:00")
    shifting = cron("0 9 30 12 *", tz="Pacific/Apia", dst_gap="shift")
    assert shifting.next_after(at("2011-12-01T00:00Z")) == at("2011-12-31T09:00+14:00")


def test_a_time_that_is_always_in_the_gap_and_skipped_is_never() -> None:
    """Europe jumps over 02:30 on the last Sunday of March, each year."""
    trigger = cron("30 2 * 3 SUNL", tz="Europe/Paris", dst_gap="skip")
    assert trigger.next_after(at("2026-01-01T00:00Z")) is None


@pytest.mark.parametrize(
    ("tz", "year"),
    [
        ("America/Boa_Vista", 2000),
        ("Asia/Gaza", 2040),
        ("Asia/Gaza", 2054),
        ("Asia/Gaza", 2072),
        ("Africa/Tunis", 1943),
        ("Europe/Vienna", 1945),
        ("America/Argentina/Tucuman", 2004),
    ],
)
def test_jumps_within_days_of_each_other_are_all_seen(tz: str, year: int) -> None:
    """The closest pairs of jumps of the IANA database: a week to twelve days apart."""
    start = datetime(year, 1, 1, tzinfo=UTC)
    ticks = list(cron("0 12 * * *", tz=tz).between(start, start + timedelta(days=366)))
    assert len(ticks) == 366
    assert {f"{tick.astimezone(ZoneInfo(tz)):%H:%M}" for tick in ticks} == {"12:00"}


@pytest.mark.parametrize("tz", ["Europe/Amsterdam", "Africa/Monrovia", "Asia/Manila"])
def test_offsets_with_seconds_do_not_crash(tz: str) -> None:
    start = datetime(1844, 12, 1, tzinfo=UTC)
    for trigger in (cron("0 12 * * *", tz=tz), cron("*/5 * * * *", tz=tz)):
        instant: datetime | None = start
        for _ in range(100):
            assert instant is not None
            following = trigger.next_after(instant)
            assert following is not None
            assert following > instant
            instant = following
    noon = cron("0 12 * * *", tz=tz).next_after(datetime(1900, 1, 1, tzinfo=UTC))
    assert noon is not None
    assert noon.astimezone(ZoneInfo(tz)).time().isoformat() == "12:00:00"


def test_intervals_know_no_wall_clock() -> None:
    trigger = every(days=1, start=at("2026-03-07T12:00-05:00"))
    assert trigger.next_after(at("2026-03-07T12:00-05:00")) == at("2026-03-08T13:00-04:00")
    assert trigger.with_dst(gap="skip") is trigger


def test_none_keeps_a_policy() -> None:
    trigger = cron("0 0 * * *", dst_gap="skip", dst_repeat="both")
    assert trigger.with_dst() is trigger
    assert trigger.with_dst(repeat="last") == cron("0 0 * * *", dst_gap="skip", dst_repeat="last")
    assert trigger.with_dst(gap=DstGap.SHIFT) == cron(
        "0 0 * * *", dst_gap="shift", dst_repeat=DstRepeat.BOTH
    )


@pytest.mark.parametrize("name", ["Europe/Paris", "Pacific/Apia", "America/Santiago", "UTC"])
def test_the_windows_of_a_zone_leave_no_hole_and_know_the_offset(name: str) -> None:
    place = zone(name)
    position = int(datetime(2009, 6, 1, tzinfo=UTC).timestamp())
    end = int(datetime(2014, 6, 1, tzinfo=UTC).timestamp())
    offsets: set[int] = set()
    while position < end:
        window = place.window(position)
        assert window.start <= position < window.end
        assert place.window(window.end - 1) in (window, place.window(window.start))
        if not window.spells:
            assert place.offset(window.start) == place.offset(window.end - 1) == window.offset
            offsets.add(window.offset)
        position = window.end
    known = {
        (datetime(2009, 6, 1, tzinfo=UTC) + timedelta(days=day)).astimezone(place.info).utcoffset()
        for day in range(5 * 365)
    }
    assert {timedelta(seconds=offset) for offset in offsets} == known
