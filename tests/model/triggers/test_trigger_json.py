"""Triggers as JSON: an exact round trip, and errors that name the field."""

from __future__ import annotations

import copy
import json
import pickle
from datetime import UTC, datetime, timedelta

import pytest

from drumbeat.model.errors import InvalidTrigger
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
from drumbeat.model.triggers.trigger import trigger_from_json

START = datetime(2026, 1, 1, 12, 0, 7, 123456, tzinfo=UTC)
HOLIDAYS = Calendar(
    dates=["2026-05-01"],
    ranges=[("2026-08-01", "2026-08-15")],
    weekdays=["sat", "sun"],
    yearly=["12-25", "02-29"],
    times=[("22:00", "06:00:30")],
    tz="Europe/Paris",
)

TRIGGERS: list[Trigger] = [
    cron("*/5 * * * *"),
    cron("30 2 * * MON-FRI", tz="Europe/Paris", dst_gap="skip", dst_repeat="both"),
    cron("@daily"),
    cron("H H(1-5) * * *").bound("näme"),
    every(minutes=5),
    every("250ms", start=START, from_completion=True),
    every_between("5m", 600.5).bound("x").anchored(START),
    daily(["02:30", "02:30:15"], interval=3, tz="Europe/Paris", start=START),
    daily("02:30").with_dst("shift", "last"),
    weekly(["sun", 1], "09:00", interval=2, tz="Asia/Tokyo"),
    monthly([1, -1], "09:00").with_dst(repeat="both"),
    once(),
    once().anchored(START),
    once([START, START + timedelta(seconds=1)]),
    any_of(daily("01:00"), every("1h"), cron("0 0 1 * *").excluding(HOLIDAYS)),
    any_of(daily("01:00"), every("1h")).excluding(HOLIDAYS, Calendar(weekdays=[1])),
]


@pytest.mark.parametrize("trigger", TRIGGERS, ids=lambda trigger: trigger.describe())
def test_a_trigger_survives_json(trigger: Trigger) -> None:
    text = json.dumps(trigger.to_json())
    again = trigger_from_json(json.loads(text))
    assert again == trigger
    assert json.dumps(again.to_json()) == text
    instant = START + timedelta(days=1)
    assert again.next_after(instant) == trigger.next_after(instant)


@pytest.mark.parametrize("trigger", TRIGGERS, ids=lambda trigger: trigger.describe())
def test_a_trigger_is_a_value(trigger: Trigger) -> None:
    for other in (pickle.loads(pickle.dumps(trigger)), copy.deepcopy(trigger), copy.copy(trigger)):
        assert other == trigger
        assert hash(other) == hash(trigger)
        assert other.next_after(START) == trigger.next_after(START)
    with pytest.raises((AttributeError, TypeError)):
        trigger.anything = 1  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue] - frozen


def test_what_a_trigger_remembers_is_no_part_of_its_value() -> None:
    asked, fresh = cron("7 3 * * *", tz="Europe/Paris"), cron("7  3 * * *", tz="Europe/Paris")
    asked.next_after(START)
    assert asked == fresh
    assert "clock" not in repr(asked)
    assert "clock" not in json.dumps(asked.to_json())


def test_absent_fields_have_their_defaults() -> None:
    assert trigger_from_json({"type": "cron", "expression": "0 0 * * *"}) == cron("0 0 * * *")
    assert trigger_from_json({"type": "daily", "times": ["02:30"]}) == daily("02:30")
    assert trigger_from_json({"type": "every", "interval": 300}) == every("5m")


BAD: list[tuple[dict[str, object], str]] = [
    ({}, "type: None is not a trigger"),
    ({"type": "sometimes"}, "type: 'sometimes' is not a trigger; allowed: any_of, cron, daily"),
    ({"type": ["cron"]}, "type: ['cron'] is not a trigger"),
    ({"type": "cron"}, "cron: expression: text is needed"),
    ({"type": "cron", "expression": 5}, "cron: expression: text is needed, not 5"),
    ({"type": "cron", "expression": "* * *"}, "it has 3 fields"),
    ({"type": "cron", "expression": "* * * * *", "tz": "Nowhere"}, "cron: tz: unknown time zone"),
    ({"type": "cron", "expression": "* * * * *", "tz": 5}, "cron: tz: text is needed"),
    ({"type": "cron", "expression": "* * * * *", "dst_gap": "no"}, "cron: dst_gap: "),
    ({"type": "cron", "expression": "* * * * *", "zone": "UTC"}, "cron: unknown field 'zone'"),
    ({"type": "every"}, "every: interval: a number is needed"),
    ({"type": "every", "interval": True}, "every: interval: a number is needed"),
    ({"type": "every", "interval": 0}, "interval: 0:00:00 is out of range"),
    ({"type": "every", "interval": 1e30}, "every: interval: "),
    ({"type": "every", "interval": float("nan")}, "every: interval: "),
    ({"type": "every", "interval": 5, "start": "2026-01-01"}, "start"),
    ({"type": "every", "interval": 5, "start": "soon"}, "start: Invalid isoformat"),
    ({"type": "every", "interval": 5, "from_completion": 1}, "every: from_completion: true or"),
    ({"type": "every_between", "a": 5}, "every_between: b: a number is needed"),
    ({"type": "daily", "times": "02:30"}, "daily: times: a list is needed"),
    ({"type": "daily", "times": []}, "times: at least one"),
    ({"type": "daily", "times": [5]}, "daily: times: a list of texts is needed"),
    ({"type": "daily", "times": ["02:30"], "interval": 1.5}, "daily: interval: a whole number"),
    ({"type": "daily", "times": ["02:30"], "tz": "X"}, "daily: tz: unknown time zone"),
    ({"type": "daily", "times": ["02:30"], "dst_repeat": "x"}, "daily: dst_repeat: "),
    ({"type": "weekly", "times": ["02:30"], "days": ["x"]}, "'x' is not a day of the week"),
    ({"type": "monthly", "times": ["02:30"], "days": ["1"]}, "monthly: days: a list of whole"),
    ({"type": "once", "at": ["2026-01-01T00:00:00"]}, "at has no time zone"),
    ({"type": "any_of"}, "any_of: triggers: 1 to 100 are needed, not 0"),
    ({"type": "any_of", "triggers": [5]}, "any_of: triggers: a JSON object is needed, not 5"),
    ({"type": "excluding", "trigger": {"type": "once"}}, "excluding: calendars: at least one"),
    (
        {"type": "excluding", "trigger": None, "calendars": [{"weekdays": ["mon"]}]},
        "excluding: trigger: a JSON object is needed, not None",
    ),
    (
        {"type": "excluding", "trigger": {"type": "once"}, "calendars": [{"days": []}]},
        "calendar: unknown field 'days'",
    ),
    (
        {"type": "excluding", "trigger": {"type": "once"}, "calendars": [{"ranges": [["x"]]}]},
        "calendar: ranges: a pair of texts is needed",
    ),
    (
        {
            "type": "excluding",
            "trigger": {"type": "once"},
            "calendars": [{"tz": "X", "weekdays": ["mon"]}],
        },
        "calendar: tz: unknown time zone",
    ),
    (
        {"type": "excluding", "trigger": {"type": "once"}, "calendars": [5]},
        "calendar: a JSON object",
    ),
]


@pytest.mark.parametrize(("data", "problem"), BAD)
def test_bad_data_is_refused_by_the_name_of_the_field(
    data: dict[str, object], problem: str
) -> None:
    with pytest.raises(InvalidTrigger) as caught:
        trigger_from_json(data)
    assert problem in str(caught.value)


def test_triggers_nested_without_end_are_refused() -> None:
    data: dict[str, object] = {"type": "once"}
    for _ in range(2_000):
        data = {"type": "any_of", "triggers": [data]}
    with pytest.raises(InvalidTrigger, match="nested too deeply"):
        trigger_from_json(data)
