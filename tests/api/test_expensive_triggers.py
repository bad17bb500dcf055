"""A trigger that is too expensive to evaluate is refused, and never blocks the event loop."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from typing import Any

import pytest

from drumbeat.engine.ticking.trigger_evaluation import ON_THE_LOOP, evaluated
from drumbeat.model.errors import TriggerTooExpensive
from drumbeat.model.time.calendar import Calendar
from drumbeat.model.triggers import any_of, every
from drumbeat.model.triggers.steps import MOST_STEPS, Steps
from drumbeat.rules.schedules.preview import next_ticks

from .caller import Caller, House, house

START = datetime(2026, 1, 1, tzinfo=UTC)
HALVES = Calendar(times=[("00:00", "12:00")]), Calendar(times=[("12:00", "00:00")])
NEVER = every(seconds=1).excluding(*HALVES)
EXPENSIVE = any_of(NEVER, every(seconds=2).excluding(*HALVES))
WEEKDAYS = {"weekdays": ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]}
RESTING = {
    "type": "excluding",
    "trigger": {"type": "every", "interval": 1},
    "calendars": [WEEKDAYS],
}


@pytest.fixture
def ours() -> House:
    return house()


@pytest.fixture
def ask(ours: House) -> Caller:
    return ours.caller()


@pytest.mark.parametrize(
    ("method", "path", "more"),
    [
        ("POST", "/cron/preview", {}),
        ("POST", "/schedules", {"name": "beat", "task": "greet"}),
        ("PUT", "/schedules/beat", {"task": "greet"}),
    ],
)
async def test_it_is_refused(ask: Caller, method: str, path: str, more: dict[str, Any]) -> None:
    answer = await ask(method, path, {"when": EXPENSIVE.to_json(), **more})
    assert (answer.status, answer.kind) == (422, "trigger-too-expensive")
    assert "exclude nearly all ticks" in answer.data["detail"]


async def test_it_is_refused_as_a_change(ask: Caller) -> None:
    body = {"name": "beat", "task": "greet", "when": RESTING}
    assert (await ask("POST", "/schedules", body)).status == 201
    answer = await ask("PATCH", "/schedules/beat", {"when": EXPENSIVE.to_json()})
    assert (answer.status, answer.kind) == (422, "trigger-too-expensive")


async def test_a_schedule_that_always_rests_has_no_coming_ticks(ask: Caller) -> None:
    """Its excluded ticks, one each second for 50 years, are not walked."""
    body = {"name": "rest", "task": "greet", "when": RESTING}
    assert (await ask("POST", "/schedules", body)).status == 201
    shown = await ask("GET", "/schedules/rest/preview")
    assert (shown.status, shown.data["next"]) == (200, [])
    assert (await ask("GET", "/schedules/rest/explain")).status == 200


async def test_many_steps_are_taken_in_a_thread() -> None:
    loop = threading.get_ident()
    calls: list[tuple[bool, int]] = []

    def work(steps: Steps) -> list[datetime]:
        calls.append((threading.get_ident() == loop, steps.most))
        return next_ticks(NEVER, START, 1, steps)

    assert await evaluated(work) == []
    assert calls == [(True, ON_THE_LOOP), (False, MOST_STEPS)]


async def test_the_whole_budget_is_an_error_from_the_thread() -> None:
    with pytest.raises(TriggerTooExpensive):
        await evaluated(lambda steps: next_ticks(EXPENSIVE, START, 1, steps))
