"""Every form of a cron expression, and every way to get it wrong."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from drumbeat.model.errors import (
    InvalidCron,
    InvalidPolicy,
    InvalidTrigger,
    NaiveDatetime,
    UnknownZone,
)
from drumbeat.model.triggers import Every, cron, every, trigger_from_json
from drumbeat.model.triggers.cron.syntax import read_cron

NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)  # a Thursday


def ticks(expression: str, count: int, start: datetime = NEW_YEAR, name: str = "") -> list[str]:
    """The first ticks after the start, as 'month-day hour:minute:second'."""
    trigger = cron(expression).bound(name)
    found: list[str] = []
    instant: datetime | None = start
    for _ in range(count):
        assert instant is not None
        instant = trigger.next_after(instant)
        assert instant is not None
        found.append(f"{instant:%m-%d %H:%M:%S}")
    return found


def days(expression: str, count: int) -> list[str]:
    """The dates of the first ticks of 2026, the midnight of 1 January included."""
    before = NEW_YEAR - timedelta(seconds=1)
    return [tick[:5] for tick in ticks(expression, count, before)]


@pytest.mark.parametrize(
    ("field", "text", "values"),
    [
        ("second", "5", [5]),
        ("minute", "*/20", [0, 20, 40]),
        ("minute", "5/20", [5, 25, 45]),
        ("minute", "10-14", range(10, 15)),
        ("minute", "10-20/5", [10, 15, 20]),
        ("minute", "1,2,40-42", [1, 2, 40, 41, 42]),
        ("minute", "58-1", [0, 1, 58, 59]),
        ("minute", "05", [5]),
        ("hour", "22-2", [0, 1, 2, 22, 23]),
        ("hour", "22-2/2", [0, 2, 22]),
        ("hour", "*", range(24)),
        ("month", "JAN", [1]),
        ("month", "jan,Feb", [1, 2]),
        ("month", "NOV-FEB", [1, 2, 11, 12]),
        ("month", "*/5", [1, 6, 11]),
        ("day", "28-2", [1, 2, 28, 29, 30, 31]),
        ("day", "*/15", [1, 16, 31]),
        ("weekday", "0", [0]),
        ("weekday", "7", [0]),
        ("weekday", "SUN", [0]),
        ("weekday", "mon-fri", [1, 2, 3, 4, 5]),
        ("weekday", "FRI-MON", [0, 1, 5, 6]),
        ("weekday", "5-7", [0, 5, 6]),
        ("weekday", "7-2", [0, 1, 2]),
        ("weekday", "0-7", range(7)),
        ("weekday", "1/2", [0, 1, 3, 5]),
        ("weekday", "*/2", [0, 2, 4, 6]),
        ("weekday", "?", range(7)),
        ("second", "?", range(60)),
        ("minute", "?", range(60)),
        ("hour", "?", range(24)),
        ("month", "?", range(1, 13)),
    ],
)
def test_a_field_means_these_values(field: str, text: str, values: Iterable[int]) -> None:
    order = ["second", "minute", "hour", "day", "month", "weekday"]
    texts = ["*"] * 6
    texts[order.index(field)] = text
    read = read_cron(" ".join(texts), "")
    assert getattr(read, field).values == tuple(values)


@pytest.mark.parametrize(
    ("expression", "dates"),
    [
        ("0 0 L * *", ["01-31", "02-28", "03-31", "04-30"]),
        ("0 0 L-3 * *", ["01-28", "02-25", "03-28", "04-27"]),
        ("0 0 L-30 * *", ["01-01", "03-01", "05-01", "07-01"]),
        ("0 0 LW * *", ["01-30", "02-27", "03-31", "04-30", "05-29"]),
        ("0 0 L-3W * *", ["01-28", "02-25", "03-27", "04-27", "05-28"]),
        ("0 0 L-1W * *", ["01-30", "02-27", "03-30", "04-29", "05-29", "06-29"]),
        ("0 0 L-30W * *", ["01-01", "03-02", "05-01", "07-01", "08-03"]),
        ("0 0 15W * *", ["01-15", "02-16", "03-16", "04-15", "05-15"]),
        ("0 0 1W * *", ["01-01", "02-02", "03-02", "04-01", "05-01", "06-01", "07-01", "08-03"]),
        ("0 0 31W * *", ["01-30", "03-31", "05-29", "07-31"]),
        ("0 0 1,L * *", ["01-01", "01-31", "02-01", "02-28"]),
        ("0 0 * * 5L", ["01-30", "02-27", "03-27"]),
        ("0 0 * * FRIL", ["01-30", "02-27", "03-27"]),
        ("0 0 * * 7L", ["01-25", "02-22"]),
        ("0 0 * * MON#2", ["01-12", "02-09", "03-09"]),
        ("0 0 * * 4#5", ["01-29", "04-30", "07-30"]),
        ("0 0 * * 1#1,5L", ["01-05", "01-30", "02-02", "02-27"]),
        ("0 0 ? * MON", ["01-05", "01-12"]),
        ("0 0 1 * ?", ["01-01", "02-01"]),
        ("0 0 ? * ?", ["01-01", "01-02"]),
        # Both restricted: either counts.
        ("0 0 13 * FRI", ["01-02", "01-09", "01-13", "01-16"]),
        ("0 0 30 2 MON", ["02-02", "02-09"]),
        # One begins with a star: both must match.
        ("0 0 */2 * MON", ["01-05", "01-19", "02-09", "02-23"]),
        ("0 0 1-7 * */6", ["01-03", "01-04", "02-01", "02-07"]),
        ("@yearly", ["01-01", "01-01"]),
        ("@annually", ["01-01", "01-01"]),
        ("@monthly", ["01-01", "02-01"]),
        ("@weekly", ["01-04", "01-11"]),
        ("@daily", ["01-01", "01-02"]),
        ("@midnight", ["01-01", "01-02"]),
        ("@DAILY", ["01-01", "01-02"]),
    ],
)
def test_an_expression_matches_these_days(expression: str, dates: list[str]) -> None:
    assert days(expression, len(dates)) == dates


def test_six_fields_begin_with_the_second() -> None:
    assert ticks("*/20 59 23 * * *", 4) == [
        "01-01 23:59:00",
        "01-01 23:59:20",
        "01-01 23:59:40",
        "01-02 23:59:00",
    ]


def test_hourly_is_at_minute_zero() -> None:
    assert ticks("@hourly", 2) == ["01-01 01:00:00", "01-01 02:00:00"]


def test_every_minute_and_every_second_are_known() -> None:
    assert ticks("@every_minute", 2) == ["01-01 00:01:00", "01-01 00:02:00"]
    assert ticks("@Every_Second", 2) == ["01-01 00:00:01", "01-01 00:00:02"]


def test_a_question_mark_is_a_star_in_any_field() -> None:
    start = datetime(2026, 10, 25, tzinfo=UTC)  # in Paris the hour from 02:00 comes twice
    for marked, starred in (
        ("? 2 * * *", "* 2 * * *"),
        ("30 ? * * *", "30 * * * *"),
        ("? 30 2 * * *", "* 30 2 * * *"),
        ("0 0 1 ? *", "0 0 1 * *"),
    ):
        end = start + timedelta(days=1)
        ours = cron(marked, tz="Europe/Paris").between(start, end)
        assert list(ours) == list(cron(starred, tz="Europe/Paris").between(start, end))


def test_a_stored_expression_with_a_long_step_stays_readable() -> None:
    stored = {"type": "cron", "expression": "*/60 * * * *", "tz": "UTC"}
    assert trigger_from_json(stored).next_after(NEW_YEAR) == NEW_YEAR + timedelta(hours=1)


def test_every_in_an_expression_is_an_interval() -> None:
    assert cron("@every 15m") == every(minutes=15)
    assert isinstance(cron("TZ=Europe/Paris @every 1h30m"), Every)


def test_white_space_does_not_matter() -> None:
    assert cron("  */5  *\t* * * ") == cron("*/5 * * * *")


def test_the_zone_may_be_a_prefix() -> None:
    assert cron("TZ=Europe/Paris 30 2 * * *") == cron("30 2 * * *", tz="Europe/Paris")
    assert cron("CRON_TZ=Europe/Paris 30 2 * * *", tz="Europe/Paris") == cron(
        "30 2 * * *", tz="Europe/Paris"
    )


def test_two_different_zones_are_refused() -> None:
    with pytest.raises(InvalidCron, match="the prefix says 'Europe/Paris'") as caught:
        cron("TZ=Europe/Paris 30 2 * * *", tz="UTC")
    assert caught.value.field == "time zone"


@pytest.mark.parametrize("zone", ["Mars/Olympus", "", "../etc/passwd", "Europe", "localtime"])
def test_an_unknown_zone_is_refused(zone: str) -> None:
    with pytest.raises(UnknownZone):
        cron("0 0 * * *", tz=zone)


@pytest.mark.parametrize(
    ("expression", "field", "problem"),
    [
        ("0 25 * * *", "hour", "'25' is out of range"),
        ("60 * * * *", "minute", "'60' is out of range"),
        ("60 * * * * *", "second", "'60' is out of range"),
        ("0 0 0 * *", "day of month", "'0' is out of range"),
        ("0 0 32 * *", "day of month", "'32' is out of range"),
        ("0 0 * 13 *", "month", "'13' is out of range"),
        ("0 0 * * 8", "day of week", "'8' is out of range"),
        ("0 0 * FOO *", "month", "'FOO' is not a value"),
        ("0 MON * * *", "hour", "'MON' is not a value"),
        ("-1 * * * *", "minute", "a value is missing"),
        ("5- * * * *", "minute", "a value is missing"),
        ("1,,2 * * * *", "minute", "an item of the list is empty"),
        ("/5 * * * *", "minute", "'/5' cannot be read"),
        ("*/0 * * * *", "minute", "step '0' is out of range 1-59"),
        ("*/60 * * * *", "minute", "step '60' is larger than the range 0-59"),
        ("*/61 * * * *", "minute", "write '0' for that value, or '@every 61m' for an interval"),
        ("1/60 * * * *", "minute", "write '1' for that value, or '@every 60m' for an interval"),
        ("5-20/60 * * * *", "minute", "write '5' for that value"),
        ("H/60 * * * *", "minute", "write 'H' for that value"),
        ("0,*/60 * * * *", "minute", "step '60' is larger than the range 0-59"),
        ("*/60 * * * * *", "second", "'@every 60s'"),
        ("0 */24 * * *", "hour", "write '0' for that value, or '@every 24h' for an interval"),
        ("0 0 */31 * *", "day of month", "write '1' for that value, or '@every 31d'"),
        ("0 0 1 */12 *", "month", "matches one value at most; write '1' for that value"),
        ("0 0 * * */8", "day of week", "step '8' is larger than the range 0-7"),
        ("*/x * * * *", "minute", "the step of '*/X' is not a number"),
        ("*/² * * * *", "minute", "the step of '*/²' is not a number"),
        ("٣ * * * *", "minute", "'٣' is not a value"),
        ("* ?/5 * * *", "hour", "'?' stands alone"),
        ("?,5 * * * *", "minute", "'?' stands alone"),
        ("0 0 ?,1 * *", "day of month", "'?' stands alone"),
        ("0 0 L-31 * *", "day of month", "'31' is out of range of days before the last 1-30"),
        ("0 0 L-31W * *", "day of month", "'31' is out of range of days before the last 1-30"),
        ("0 0 L-W * *", "day of month", "a value is missing"),
        ("0 0 L-29W FEB *", "day of month", "'L-29W' never occurs in month 'FEB'"),
        ("0 0 32W * *", "day of month", "'32' is out of range"),
        ("0 0 W * *", "day of month", "a value is missing"),
        ("0 0 * * L", "day of week", "'L' needs a day before it"),
        ("0 0 * * MON#6", "day of week", "'6' is out of range of times a month 1-5"),
        ("0 0 * * MON#", "day of week", "a value is missing"),
        ("0 L * * *", "hour", "'L' is not a value"),
        ("H(5-2) * * * *", "minute", "'H(5-2)' draws from an empty range"),
        ("H(5-) * * * *", "minute", "'H(5-)' cannot be read"),
        ("20~10 * * * *", "minute", "'20~10' draws from an empty range"),
        ("1~5/2 * * * *", "minute", "'1~5/2' cannot be read"),
        ("0 0 30 2 *", "day of month", "'30' never occurs in month '2'"),
        ("0 0 31 4,6 *", "day of month", "'31' never occurs in month '4,6'"),
        ("0 0 30 2 */2", "day of month", "'30' never occurs in month '2' on weekday '*/2'"),
        ("0 0 31W 4 *", "day of month", "'31W' never occurs in month '4'"),
        ("0 0 L-29 FEB *", "day of month", "'L-29' never occurs in month 'FEB'"),
        ("", "expression", "it has 0 fields"),
        ("* * * *", "expression", "it has 4 fields"),
        ("* * * * * * *", "expression", "it has 7 fields"),
        ("@reboot", "expression", "'@reboot' is not known"),
        ("@every fortnight", "interval", "'fortnight' is not a duration"),
        ("@every 0s", "interval", "out of range"),
        ("*/5 " * 100, "expression", "it has 399 characters, 256 are allowed"),
    ],
)
def test_a_bad_expression_is_refused_by_field_and_problem(
    expression: str, field: str, problem: str
) -> None:
    with pytest.raises(InvalidCron) as caught:
        cron(expression)
    assert caught.value.field == field
    assert problem in caught.value.problem
    assert caught.value.allowed


def test_the_error_says_what_is_allowed() -> None:
    with pytest.raises(InvalidCron) as caught:
        cron("0 25 * * *")
    assert str(caught.value) == (
        "cron '0 25 * * *': hour: '25' is out of range; allowed: 0-23, * ? , - / ~ H"
    )


@pytest.mark.parametrize(
    "expression",
    [
        "0 0 29 2 *",
        "0 0 29 2 MON#5",
        "0 0 ? 2 MON#5",
        "0 0 */30 * MON",
        "0 0 1-7 * */7",
        "*/59 */23 */30 */11 */6",
        "0 0 31 4 SUN",
        "0 0 L 2 *",
    ],
)
def test_an_expression_that_matches_rarely_is_accepted(expression: str) -> None:
    assert cron(expression).next_after(NEW_YEAR) is not None


@pytest.mark.parametrize(
    ("expression", "after", "expected"),
    [
        ("0 0 29 2 *", (2096, 3, 1), (2104, 2, 29)),
        ("0 0 29 2 */7", (2088, 3, 1), (2128, 2, 29)),
        ("0 0 ? 2 MON#5", (2072, 3, 1), (2112, 2, 29)),
    ],
)
def test_leap_days_are_found_over_2100(
    expression: str, after: tuple[int, int, int], expected: tuple[int, int, int]
) -> None:
    assert cron(expression).next_after(datetime(*after, tzinfo=UTC)) == datetime(
        *expected, tzinfo=UTC
    )


@pytest.mark.parametrize(
    ("expression", "low", "high", "field"),
    [
        ("H * * * *", 0, 59, "minute"),
        ("H(10-20) * * * *", 10, 20, "minute"),
        ("10~20 * * * *", 10, 20, "minute"),
        ("~ * * * *", 0, 59, "minute"),
        ("~5 * * * *", 0, 5, "minute"),
        ("55~ * * * *", 55, 59, "minute"),
        ("0 H * * *", 0, 23, "hour"),
        ("0 0 H * *", 1, 28, "day"),
        ("0 0 * H *", 1, 12, "month"),
        ("0 0 * * H", 0, 6, "weekday"),
        ("0 0 * * FRI~7", 0, 6, "weekday"),
        ("0 0 * * H(MON-FRI)", 1, 5, "weekday"),
    ],
)
def test_a_spread_field_is_one_value_in_its_range_by_the_name(
    expression: str, low: int, high: int, field: str
) -> None:
    drawn = {getattr(read_cron(expression, f"schedule {n}"), field).values for n in range(50)}
    assert all(len(values) == 1 and low <= values[0] <= high for values in drawn)
    assert len(drawn) > 1


def test_spread_steps_share_one_start() -> None:
    for number in range(20):
        minutes = read_cron("H/15 * * * *", f"schedule {number}").minute.values
        assert minutes[0] < 15
        assert minutes == tuple(range(minutes[0], 60, 15))


def test_a_spread_is_the_same_in_every_release() -> None:
    assert ticks("H H * * *", 1, name="nightly backup") == ["01-01 07:51:00"]
    assert ticks("H H * * *", 1, name="cleanup") != ticks("H H * * *", 1, name="nightly backup")


def test_binding_changes_only_what_is_spread() -> None:
    plain = cron("0 0 * * THU")
    assert plain.bound("a") is plain
    spread = cron("H 0 * * *")
    assert spread.bound("a") == spread.bound("b").bound("a")
    assert spread.bound("a") != spread.bound("b")


def test_equal_expressions_are_one_object() -> None:
    assert cron("*/5 * * * *", tz="Europe/Paris") is cron("*/5  * * * *", tz="Europe/Paris")
    assert cron("*/5 * * * *") is not cron("*/5 * * * *", dst_gap="skip")


def test_an_instant_without_a_zone_is_refused() -> None:
    with pytest.raises(NaiveDatetime):
        cron("* * * * *").next_after(datetime(2026, 1, 1))


def test_the_instant_may_be_in_any_zone_and_the_tick_is_in_utc() -> None:
    paris = NEW_YEAR.astimezone(ZoneInfo("Europe/Paris"))
    tick = cron("30 2 * * *").next_after(paris)
    assert tick == datetime(2026, 1, 1, 2, 30, tzinfo=UTC)
    assert tick is not None
    assert tick.tzinfo is UTC


def test_a_fraction_of_a_second_before_a_tick_is_before_it() -> None:
    midnight = cron("0 0 * * *").next_after(NEW_YEAR - timedelta(microseconds=1))
    assert midnight == NEW_YEAR
    assert cron("0 0 * * *").next_after(NEW_YEAR) == NEW_YEAR + timedelta(days=1)


@pytest.mark.parametrize("year", [1, 99, 9900, 9999])
def test_the_edges_of_time_do_not_crash(year: int) -> None:
    for expression in ("* * * * *", "0 0 1 1 *", "0 0 * * MON"):
        for zone in ("UTC", "America/New_York"):
            tick = cron(expression, tz=zone).next_after(datetime(year, 1, 1, 12, tzinfo=UTC))
            assert (tick is None) == (year >= 9900)


def test_bad_policies_are_refused() -> None:
    with pytest.raises(InvalidPolicy, match=r"dst_gap must be .*, not 'never'"):
        cron("0 0 * * *", dst_gap="never")  # type: ignore[arg-type]  # as callers do who use no type checker
    with pytest.raises(InvalidPolicy, match=r"dst_repeat must be .*, not 'never'"):
        cron("0 0 * * *", dst_repeat="never")  # type: ignore[arg-type]  # as above


def test_an_invalid_cron_is_an_invalid_trigger() -> None:
    with pytest.raises(InvalidTrigger):
        cron("nonsense")
