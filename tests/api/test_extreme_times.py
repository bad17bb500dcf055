"""Instants at the ends of time and deeply nested triggers are refused by their field, never a 5xx.

The list names every instant and trigger that a request can carry.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from urllib.parse import quote
from zoneinfo import ZoneInfo

import pytest

from drumbeat.model.errors import InvalidInput
from drumbeat.model.fleet.token import Scope
from drumbeat.model.jobs.job import JobFilter
from drumbeat.model.time.instant import EARLIEST, LATEST
from drumbeat.rules.human_time import Moments
from drumbeat.rules.schedules.trigger_bounds import MOST_NESTED

from .caller import Caller, House, house

EXTREMES = [
    "0001-01-01T00:00:00Z",
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59.999999Z",
    "9999-12-31T23:59:59-14:00",
]
BEAT = "/schedules/beat"
PAST = "2029-12-01T00:00:00Z"
OPERATIONS = ("/jobs/retry", "/jobs/cancel")
DAILY = {"task": "greet", "when": "@daily"}


def triggers(at: str) -> list[dict[str, Any]]:
    once = {"type": "once", "at": [PAST, at]}
    every = {"type": "every", "interval": 3600, "start": at}
    between = {"type": "every_between", "a": 60, "b": 120, "start": at}
    calendar = {"weekdays": ["mon"], "tz": "Pacific/Kiritimati"}
    return [
        once,
        {"type": "once", "start": at},
        every,
        {**every, "from_completion": True},
        between,
        {"type": "any_of", "triggers": [{"type": "once"}, every]},
        {"type": "excluding", "trigger": once, "calendars": [calendar]},
        {"type": "any_of", "triggers": [{"type": "excluding", "trigger": between, **CALENDARS}]},
    ]


CALENDARS: dict[str, Any] = {"calendars": [{"times": [["08:00", "09:00"]], "tz": "Asia/Tokyo"}]}


def with_instant(at: str) -> list[tuple[str, str, Any, str]]:
    """Requests with the instant, and the field that has it."""
    asked: list[tuple[str, str, Any, str]] = [
        ("POST", "/jobs", {"task": "greet", "schedule_at": at}, "schedule_at"),
        ("POST", "/jobs/batch", {"jobs": [{"schedule_at": at}]}, "jobs[0].schedule_at"),
        ("POST", f"{BEAT}/skip", {"tick_at": at}, "tick_at"),
        ("POST", f"{BEAT}/unskip", {"tick_at": at}, "tick_at"),
        ("POST", f"{BEAT}/backfill", {"from": at}, "from"),
        ("POST", f"{BEAT}/backfill", {"from": at, "to": at, "dry_run": True}, "from"),
        ("POST", f"{BEAT}/backfill", {"from": PAST, "to": at}, "to"),
        ("POST", "/tokens", {"name": "t", "scope": "viewer", "expires_at": at}, "expires_at"),
    ]
    for bound in ("since", "until"):
        asked += [("GET", f"{path}?{bound}={quote(at)}", None, bound) for path in LISTS]
        for path in OPERATIONS:
            body = {"filter": {bound: at}, "dry_run": True}
            asked.append(("POST", path, body, f"filter.{bound}"))
    for bound in ("start_at", "end_at"):
        policies = {"policies": {bound: at}}
        asked += [
            ("PUT", BEAT, DAILY | policies, f"policies.{bound}"),
            ("POST", "/schedules", {"name": "new"} | DAILY | policies, f"policies.{bound}"),
            ("PATCH", BEAT, policies, f"policies.{bound}"),
        ]
    for when in triggers(at):
        asked += with_trigger(when)
    return asked


LISTS = ("/jobs", "/audit")


def with_trigger(when: dict[str, Any]) -> list[tuple[str, str, Any, str]]:
    return [
        ("PUT", BEAT, {"task": "greet", "when": when}, "when"),
        ("POST", "/schedules", {"name": "new", "task": "greet", "when": when}, "when"),
        ("PATCH", BEAT, {"when": when}, "when"),
        ("POST", "/cron/preview", {"when": when, "n": 3}, "when"),
    ]


def nested(levels: int) -> dict[str, Any]:
    when: dict[str, Any] = {"type": "every", "interval": 1}
    for level in range(levels - 1):
        if level % 2:
            when = {"type": "excluding", "trigger": when, **CALENDARS}
        else:
            other = {"type": "every", "interval": level + 2}
            when = {"type": "any_of", "triggers": [other, when]}
    return when


@pytest.fixture
def ours() -> House:
    return house()


@pytest.fixture
async def ask(ours: House) -> Caller:
    ask = ours.caller(await ours.token(Scope.ADMIN))
    assert (await ask("PUT", BEAT, DAILY)).status == 201
    return ask


@pytest.mark.parametrize("at", EXTREMES)
async def test_an_extreme_instant_is_refused_by_its_field(ask: Caller, at: str) -> None:
    for method, path, body, field in with_instant(at):
        answer = await ask(method, path, body)
        assert (answer.status, answer.data["field"]) == (422, field), (method, path, body)
    assert (await ask("GET", BEAT)).data["version"] == 1, "nothing was changed"


@pytest.mark.parametrize("levels", [MOST_NESTED + 1, 40, 60, 300])
async def test_a_deeply_nested_trigger_is_refused(ask: Caller, levels: int) -> None:
    for method, path, body, _ in with_trigger(nested(levels)):
        answer = await ask(method, path, body)
        assert answer.status == 422, (method, path, answer.body)
        assert "nested more" in answer.data["detail"]


async def test_triggers_may_nest_a_little(ask: Caller) -> None:
    for method, path, body, _ in with_trigger(nested(MOST_NESTED)):
        assert (await ask(method, path, body)).status in (200, 201)


@pytest.mark.parametrize("at", [EARLIEST.isoformat(), LATEST.isoformat()])
async def test_the_ends_of_the_range_break_nothing(ask: Caller, at: str) -> None:
    for number, (method, path, body, _) in enumerate(with_instant(at)):
        named = body | {"name": f"n{number}"} if path == "/schedules" else body
        answer = await ask(method, path, named)
        assert answer.status < 500, (method, path, body)
        for looked_at in ("", "/preview?n=3", "/explain?tz=Asia/Tokyo", "/explain?tz=US/Pacific"):
            shown = await ask("GET", f"{BEAT}{looked_at}")
            assert shown.status < 500, (method, path, body, looked_at)
    for path in ("/jobs", "/schedules", "/operations", "/audit", "/tokens"):
        assert (await ask("GET", path)).status == 200


@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31"])
@pytest.mark.parametrize("tz", ["UTC", "Pacific/Kiritimati", "America/Los_Angeles"])
async def test_calendars_may_name_any_date(ask: Caller, day: str, tz: str) -> None:
    dates = {"dates": [day], "tz": tz}
    forever = {"ranges": [["0001-01-01", "9999-12-31"]], "tz": tz}
    for calendar in (dates, forever):
        for start in (PAST, LATEST.isoformat()):
            every = {"type": "every", "interval": 60, "start": start}
            when = {"type": "excluding", "trigger": every, "calendars": [calendar]}
            for method, path, body, _ in with_trigger(when):
                assert (await ask(method, path, body)).status < 500, (path, body)


@pytest.mark.parametrize("seconds", [3.2e9, 3.3e9, 1e15, 1e300])
async def test_a_long_length_of_time_breaks_nothing(ask: Caller, seconds: float) -> None:
    lengths = [
        ("POST", "/jobs", {"task": "greet", "delay": seconds}),
        ("POST", "/jobs", {"task": "greet", "timeout": seconds}),
        ("POST", "/jobs", {"task": "greet", "dedupe_key": "k", "dedupe_for": seconds}),
        ("POST", "/jobs", {"task": "greet", "retry": {"base_delay": seconds}}),
        ("PATCH", BEAT, {"policies": {"window": seconds}}),
        ("PATCH", BEAT, {"policies": {"jitter": seconds}}),
        ("PATCH", BEAT, {"timeout": seconds}),
        ("POST", "/cron/preview", {"when": {"type": "every", "interval": seconds}}),
        ("POST", "/cron/preview", {"when": {"type": "every_between", "a": 1, "b": seconds}}),
        ("GET", "/jobs", None),
        ("GET", f"{BEAT}/preview", None),
    ]
    for method, path, body in lengths:
        assert (await ask(method, path, body)).status < 500, (path, body)


@pytest.mark.parametrize("at", [datetime.min, datetime.max])
async def test_an_operation_from_code_is_refused_before_it_begins(
    ours: House, at: datetime
) -> None:
    """In the background nobody would see the error."""
    for offset in (0, 14, -14):
        instant = at.replace(tzinfo=timezone(timedelta(hours=offset)))
        for wanted in (JobFilter(created_from=instant), JobFilter(created_to=instant)):
            for begin in (ours.app.operations.retry, ours.app.operations.cancel_jobs):
                with pytest.raises(InvalidInput, match=r"created_.* must lie between 1900-01-01"):
                    await begin(wanted)
    assert not (await ours.app.jobs.list(JobFilter())).items


@pytest.mark.parametrize(
    "text", [*EXTREMES, "0001-01-01 00:00", "9999-12-31", "-1w 9999w", "+1w 999999w"]
)
@pytest.mark.parametrize("place", [None, ZoneInfo("Asia/Tokyo"), ZoneInfo("America/Los_Angeles")])
def test_the_command_line_refuses_them(text: str, place: ZoneInfo | None) -> None:
    moments = Moments(datetime(2030, 1, 1, tzinfo=UTC), place)
    with pytest.raises(InvalidInput, match=r"must lie between|too far from now"):
        moments.read(text)


def test_stored_extremes_are_shown() -> None:
    last = datetime.max.replace(tzinfo=UTC)
    assert Moments(last, ZoneInfo("Asia/Tokyo")).show(last) == "9999-12-31 23:59:59"
