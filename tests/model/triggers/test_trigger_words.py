"""What triggers say of themselves."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from drumbeat.model.time.calendar import Calendar
from drumbeat.model.triggers import (
    Trigger,
    any_of,
    cron,
    daily,
    every,
    every_between,
    monthly,
    once,
    weekly,
)

START = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("* * * * *", "Every minute"),
        ("*/5 * * * *", "Every 5 minutes"),
        ("*/7 * * * *", "Every 7th minute from 0 to 56 of every hour"),
        ("0 * * * *", "Every hour"),
        ("5 * * * *", "At minute 5 of every hour"),
        ("5,35 * * * *", "Every 30 minutes from minute 5"),
        ("30 2 * * *", "At 02:30 every day"),
        ("0 9,17 * * *", "At 09:00 and 17:00 every day"),
        ("0 9 * * 1-5", "At 09:00, Monday to Friday"),
        ("0 9 * * MON", "At 09:00 every Monday"),
        ("0 9 * * MON,WED,FRI", "At 09:00 every Monday, Wednesday and Friday"),
        ("*/5 9-17 * * 1-5", "Every 5 minutes from 09:00 to 17:55, Monday to Friday"),
        ("0 9-17 * * *", "Every hour from 09:00 to 17:00"),
        ("30 9-17 * * 1-5", "At minute 30 of every hour from 09:30 to 17:30, Monday to Friday"),
        ("0 */2 * * *", "Every 2 hours"),
        ("30 */2 * * *", "At minute 30 of every 2nd hour"),
        ("0 1-23/2 * * *", "Every 2 hours from 01:00 to 23:00"),
        ("23 0-20/2 * * *", "At minute 23 of every 2nd hour from 00:00 to 20:00"),
        ("0 22-2 * * *", "At 22:00, 23:00, 00:00, 01:00 and 02:00 every day"),
        ("0 20-4 * * *", "Every hour from 20:00 to 04:00"),
        ("*/15 22-2 * * *", "Every 15 minutes from 22:00 to 02:45"),
        ("*/10 9,12 * * *", "Every 10 minutes in the hours of 09:00 and 12:00"),
        ("10-20 * * * *", "Every minute from 10 to 20 of every hour"),
        ("10-20 9 * * *", "Every minute from 09:10 to 09:20"),
        ("10-20 9-17 * * *", "Every minute from 10 to 20 of every hour from 09:10 to 17:20"),
        (
            "0,3,7,9,13,20,50 9 * * *",
            "At minutes 0, 3, 7, 9, 13, 20 and 50 in the hour of 09:00 every day",
        ),
        ("5/15 * * * *", "Every 15 minutes from minute 5"),
        (
            "0 0,1,2,5,6,7,9 * * *",
            "At 00:00, 01:00, 02:00, 05:00, 06:00, 07:00 and 09:00 every day",
        ),
        ("0 0 1 * *", "At 00:00 on day 1 of the month"),
        ("0 0 1,15 * *", "At 00:00 on days 1 and 15 of the month"),
        ("0 0 L * *", "At 00:00 on the last day of the month"),
        ("0 0 L-3 * *", "At 00:00 on the 4th last day of the month"),
        ("0 0 LW * *", "At 00:00 on the last weekday (Monday to Friday) of the month"),
        (
            "0 0 L-3W * *",
            "At 00:00 on the weekday (Monday to Friday) nearest to the 4th last day of the month",
        ),
        (
            "0 0 15W * *",
            "At 00:00 on the weekday (Monday to Friday) nearest to day 15 of the month",
        ),
        ("0 0 1-7 * *", "At 00:00 on days 1 to 7 of the month"),
        ("0 0 */2 * *", "At 00:00 on every 2nd day from day 1 of the month"),
        ("0 0 13 * FRI", "At 00:00 on day 13 of the month or every Friday"),
        ("0 0 */2 * MON", "At 00:00 on every 2nd day from day 1 of the month if it is Monday"),
        ("0 0 * * 5L", "At 00:00 on the last Friday of the month"),
        ("0 0 * * MON#2", "At 00:00 on the second Monday of the month"),
        (
            "0 0 * * MON#1,FRIL",
            "At 00:00 on the first Monday of the month and the last Friday of the month",
        ),
        ("0 0 25 12 *", "At 00:00 on 25 December"),
        ("0 0 1 */3 *", "At 00:00 on day 1 of the month in January, April, July and October"),
        ("0 0 1 NOV-FEB *", "At 00:00 on day 1 of the month from November to February"),
        ("0 0 * JUL *", "At 00:00 every day in July"),
        ("*/5 * * JUL *", "Every 5 minutes in July"),
        ("0 9 * JAN MON", "At 09:00 every Monday in January"),
        ("0 12 * * FRI-MON", "At 12:00, Friday to Monday"),
        ("0 0 1-5,10,20-25 * *", "At 00:00 on days 1 to 5, 10 and 20 to 25 of the month"),
        ("0 0 1,L * *", "At 00:00 on day 1 and the last day of the month"),
        ("*/5 * 1 * *", "Every 5 minutes on day 1 of the month"),
        ("*/20 */6 * * *", "Every 20 minutes of every 6th hour"),
        ("* * * * * *", "Every second"),
        ("*/10 * * * * *", "Every 10 seconds"),
        ("15 * * * * *", "At second 15 of every minute"),
        ("15 5 * * * *", "At second 15, at minute 5 of every hour"),
        ("15 30 2 * * *", "At 02:30:15 every day"),
        ("0,30 * 9-17 * * *", "Every 30 seconds of every minute from 09:00 to 17:59"),
        ("* * 2 * * *", "Every second of every minute from 02:00 to 02:59"),
        ("H H * * *", "At times spread by the schedule's name every day"),
        ("0 3 H * *", "At 03:00 on days spread by the schedule's name"),
        ("@daily", "At 00:00 every day"),
        ("@hourly", "Every hour"),
        ("@weekly", "At 00:00 every Sunday"),
        ("@yearly", "At 00:00 on 1 January"),
        ("0 0 ? * ?", "At 00:00 every day"),
        ("? ? ? ? ?", "Every minute"),
        ("? 9-17 ? ? ?", "Every minute from 09:00 to 17:59"),
        ("@every_minute", "Every minute"),
        ("@every_second", "Every second"),
    ],
)
def test_a_cron_expression_in_words(expression: str, words: str) -> None:
    assert cron(expression).describe() == f"{words} (UTC)"


def test_a_bound_expression_says_what_was_drawn() -> None:
    assert cron("H H * * *").bound("cleanup").describe() == "At 14:45 every day (UTC)"


def test_the_zone_is_named() -> None:
    assert cron("30 2 * * *", tz="Europe/Paris").describe() == "At 02:30 every day (Europe/Paris)"


@pytest.mark.parametrize(
    ("trigger", "words"),
    [
        (every(minutes=5), "Every 5 minutes"),
        (every(minutes=1), "Every minute"),
        (every("1h30m"), "Every 1 hour 30 minutes"),
        (every("500ms"), "Every 500 milliseconds"),
        (every("5m", from_completion=True), "5 minutes after the last run ended"),
        (every_between("5m", "10m"), "At random, every 5 minutes to 10 minutes"),
        (daily("02:30", tz="Europe/Paris"), "At 02:30 every day (Europe/Paris)"),
        (daily(["09:00", "17:00:30"], interval=3), "At 09:00 and 17:00:30 every 3 days (UTC)"),
        (weekly(["fri", "mon"], "09:00"), "At 09:00 every Monday and Friday (UTC)"),
        (weekly("mon", "09:00", interval=2), "At 09:00 on Monday every 2 weeks (UTC)"),
        (monthly(1, "09:00"), "At 09:00 on day 1 of every month (UTC)"),
        (
            monthly([15, 1, -1], "09:00"),
            "At 09:00 on days 1 and 15 and the last day of every month (UTC)",
        ),
        (
            monthly(-2, "09:00", interval=3),
            "At 09:00 on the 2nd last day of every 3rd month (UTC)",
        ),
        (once(), "Once, as soon as it is stored"),
        (once(START), "Once, at 2026-01-01 12:00:00 (UTC)"),
        (
            once([START, START + timedelta(days=1)]),
            "At 2026-01-01 12:00:00 and 2026-01-02 12:00:00 (UTC)",
        ),
        (
            once([START + timedelta(days=day) for day in range(9)]),
            (
                "At 2026-01-01 12:00:00, 2026-01-02 12:00:00, 2026-01-03 12:00:00, "
                "2026-01-04 12:00:00, 2026-01-05 12:00:00 and 4 more times (UTC)"
            ),
        ),
        (any_of(daily("01:00"), every("2h")), "At 01:00 every day (UTC); or every 2 hours"),
        (
            daily("02:30").excluding(
                Calendar(
                    weekdays=["sun", "sat"],
                    yearly=["12-25"],
                    dates=["2026-05-01"],
                    ranges=[("2026-08-01", "2026-08-15")],
                    times=[("22:00", "06:00")],
                    tz="Europe/Paris",
                )
            ),
            (
                "At 02:30 every day (UTC), except Saturday and Sunday, 25 December, 2026-05-01, "
                "2026-08-01 to 2026-08-15, from 22:00 to 06:00 (Europe/Paris)"
            ),
        ),
    ],
)
def test_a_trigger_in_words(trigger: Trigger, words: str) -> None:
    assert trigger.describe() == words
