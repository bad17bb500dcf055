"""Whatever is refused as against a rule names the field and the rule."""

from __future__ import annotations

from typing import Any

import pytest

from .caller import house

NAMED = "/schedules/n"
DAILY = {"task": "greet", "when": "@daily"}


@pytest.mark.parametrize(
    ("method", "path", "body", "field"),
    [
        ("POST", "/jobs", {"task": "greet", "queue": "@leader"}, "queue"),
        ("POST", "/jobs", {"task": "drumbeat.retry_jobs"}, "task"),
        ("POST", "/jobs", {"task": "greet\0"}, "task"),
        ("POST", "/jobs", {"task": "elsewhere", "args": [1, 2]}, "args"),
        ("POST", "/jobs", {"task": "greet", "args": {"name": 1}}, "args"),
        ("POST", "/jobs", {"task": "greet", "retry": {"max_retries": -1}}, "retry.max_retries"),
        ("POST", "/jobs", {"task": "greet", "payload": 1, "args": {}}, "payload"),
        ("POST", "/jobs/batch", {"jobs": [{"task": "greet", "priority": -1}]}, "jobs[0].priority"),
        ("POST", "/jobs/batch", {}, "jobs"),
        ("POST", "/jobs", {"task": "greet", "dedupe_for": 31_536_001}, "dedupe_for"),
        ("POST", "/jobs/batch", {"jobs": [{"dedupe_for": 4e7}]}, "jobs[0].dedupe_for"),
        ("PUT", NAMED, {"task": "greet"}, "when"),
        ("PUT", NAMED, {**DAILY, "queue": "@leader"}, "queue"),
        ("PUT", NAMED, {**DAILY, "tz": "Mars/Base"}, "tz"),
        ("PUT", NAMED, {**DAILY, "policies": {"cap": 0}}, "policies.cap"),
        ("PUT", NAMED, {**DAILY, "nope": 1}, "nope"),
        ("PUT", NAMED, {"task": "greet", "when": {"type": "every"}}, "when"),
        ("PUT", f"/schedules/{'x' * 201}", DAILY, "name"),
        ("POST", f"/queues/{'x' * 201}/pause", None, "name"),
        ("POST", "/cron/preview", {"when": "61 * * * *"}, "when"),
        ("POST", "/tokens", {"name": "7", "scope": "viewer"}, "name"),
        ("POST", "/tokens", {"name": "x", "scope": "root"}, "scope"),
        ("GET", "/jobs?limit=0", None, "limit"),
        ("GET", "/jobs?status=asleep", None, "status[0]"),
        ("GET", "/jobs?since=yesterday", None, "since"),
        ("GET", "/schedules/n/explain?tz=Mars", None, "tz"),
    ],
)
async def test_the_field_and_the_rule_are_named(
    method: str, path: str, body: Any, field: str
) -> None:
    answer = await house().caller()(method, path, body)
    assert answer.status == 422
    assert answer.data["field"] == field
    assert answer.data["rule"]
    assert answer.headers["content-type"] == "application/problem+json"


async def test_a_rule_is_told_once_and_in_words() -> None:
    ask = house().caller()
    refused = await ask("PUT", NAMED, {"task": "greet", "when": {"type": "every"}})
    assert refused.data["detail"] == "every: interval: a number is needed, not None"
    refused = await ask("POST", "/cron/preview", {"when": "61 * * * *"})
    assert refused.data["rule"] == "0-59, * ? , - / ~ H"
    refused = await ask("POST", "/jobs", {"task": "greet\0"})
    assert refused.data["rule"] == "Expected `str` without a NUL"


async def test_a_step_beyond_its_field_is_refused_in_an_object_too() -> None:
    ask = house().caller()
    trigger = {"type": "cron", "expression": "*/60 * * * *"}
    refused = await ask("POST", "/cron/preview", {"when": trigger})
    assert refused.status == 422
    assert "step '60' is larger than the range 0-59" in refused.data["detail"]
