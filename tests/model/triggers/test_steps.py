"""The evaluation of a trigger has a budget of steps, and calendars are jumped over."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from drumbeat.model.errors import TriggerTooExpensive
from drumbeat.model.time.calendar import Calendar
from drumbeat.model.triggers import any_of, cron, daily, every
from drumbeat.model.triggers.steps import MOST_STEPS, STEPS_PER_TICK, Steps
from drumbeat.model.triggers.trigger import Trigger

START = datetime(2026, 1, 1, tzinfo=UTC)  # a Thursday
SECONDLY = every(seconds=1)
EVERY_DAY = Calendar(weekdays=range(7))
HALVES = Calendar(times=[("00:00", "12:00")]), Calendar(times=[("12:00", "00:00")])


def nested(depth: int) -> Trigger:
    """Excluded triggers in excluded unions, so deep; each level alone searches for 50 years."""
    trigger: Trigger = SECONDLY.excluding(*HALVES)
    for level in range(depth):
        trigger = any_of(trigger, every(seconds=2 + level)).excluding(*HALVES)
    return trigger


def spent(trigger: Trigger) -> int:
    steps = Steps()
    trigger.next_within(START, steps)
    return steps.spent


@pytest.mark.parametrize(
    ("trigger", "most"),
    [
        pytest.param(daily("09:00"), 1, id="a plain trigger"),
        pytest.param(SECONDLY.excluding(EVERY_DAY), 1, id="every day of the week"),
        pytest.param(
            SECONDLY.excluding(Calendar(times=[("06:00", "18:00"), ("18:00", "06:00")])),
            1,
            id="every hour of the day",
        ),
        pytest.param(
            SECONDLY.excluding(Calendar(ranges=[("2025-01-01", "9999-12-31")])), 1, id="for ever"
        ),
        pytest.param(
            SECONDLY.excluding(
                Calendar(ranges=[("2025-01-01", "2026-06-30"), ("2026-03-01", "2036-12-31")])
            ),
            3,
            id="ranges that overlap are one jump",
        ),
        pytest.param(
            cron("* * * * * *").excluding(Calendar(weekdays=["thu", "fri", "sat", "sun"])),
            6,
            id="four days",
        ),
        pytest.param(
            SECONDLY.excluding(Calendar(dates=[date(2026, 1, day) for day in range(1, 32)])),
            33,
            id="a month of single dates",
        ),
    ],
)
def test_excluded_time_is_jumped_over(trigger: Trigger, most: int) -> None:
    assert spent(trigger) <= most


@pytest.mark.parametrize("depth", [1, 2, 5, 20])
def test_nested_searches_share_one_budget(depth: int) -> None:
    trigger = nested(depth)
    with pytest.raises(TriggerTooExpensive) as caught:
        trigger.next_after(START)
    assert caught.value.steps == MOST_STEPS
    assert f"{MOST_STEPS:,} steps" in str(caught.value)


def test_ticks_are_named_and_judged_without_a_search() -> None:
    trigger = nested(20)
    assert trigger.named_after(START) == START + timedelta(seconds=1)
    assert trigger.excludes(START + timedelta(seconds=1))


def test_a_single_never_ending_search_is_within_the_budget() -> None:
    assert SECONDLY.excluding(*HALVES).next_after(START) is None
    assert daily("09:00").excluding(Calendar(times=[("08:00", "10:00")])).next_after(START) is None


def test_each_found_tick_adds_to_the_budget() -> None:
    trigger = SECONDLY.excluding(Calendar(weekdays=["fri"]))
    steps = Steps(10)
    ticks = trigger.ticks_after(START, steps)
    assert [next(ticks) for _ in range(1_000)][-1] == START + timedelta(seconds=1_000)
    assert steps.most == 10 + 999 * STEPS_PER_TICK


def test_the_size_of_a_trigger_is_known() -> None:
    assert SECONDLY.parts == 1
    assert SECONDLY.excluding(*HALVES).parts == 3
    assert any_of(SECONDLY, daily("09:00")).parts == 4
