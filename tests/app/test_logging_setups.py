"""What a failing job prints, however the app has configured logging."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.app.logged_app import CONFIGURATIONS

ROOT = Path(__file__).parents[2]
FAILURES = {
    "on_loop": ("ValueError: no account 7", 'raise ValueError("no account 7'),
    "in_thread": ("LookupError: in the thread", 'raise LookupError("in the thread")'),
    "in_child": ("KeyError: 'in the child'", 'raise KeyError("in the child")'),
    "too_slow": ("TimeoutError: timed out after", "await asyncio.Event().wait()"),
}
"""The error of each task, and the line of its handler that a traceback shows."""
QUIET = {"nothing", "uvicorn", "sentry"}
"""Configurations of which Python itself writes warnings and errors only."""


async def what_is_written(configuration: str) -> str:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "tests.app.logged_app", configuration),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        cwd=ROOT,
    )
    _, written = await process.communicate()
    assert process.returncode == 0, written.decode()
    return written.decode()


@pytest.mark.parametrize("configuration", sorted(CONFIGURATIONS.keys() - {"structlog"}))
async def test_a_failing_job_is_told_with_its_facts_and_its_traceback(configuration: str) -> None:
    text = await what_is_written(configuration)
    parts = text.split("Task failed task=")
    told = {part.split()[0]: part for part in reversed(parts[1:])}  # of two, the first
    assert told.keys() == FAILURES.keys()
    for task, (error, source) in FAILURES.items():
        line, *below = told[task].splitlines()
        assert " attempt=1 " in line
        assert " job_id=" in line
        assert f'error="{error}' in line
        assert any(source in each for each in below)
        assert "drumbeat/engine" not in told[task]
    assert "Unsendable: it stays there" in text
    assert "working 100% task=in_child job_id=3 attempt=1 order_id=4 customer=" in text
    assert text.count("It is handled\nTraceback") == text.count("_ = 1 / 0") == 2
    looking = "looking task=on_loop job_id=1 attempt=1 order_id=3" in text
    assert looking == (configuration not in QUIET)


async def test_structlog_shows_the_facts_as_keys() -> None:
    records = [json.loads(line) for line in (await what_is_written("structlog")).splitlines()]
    (looking,) = [record for record in records if record["event"] == "looking"]
    assert (looking["task"], looking["order_id"]) == ("on_loop", 3)
    failed = [record for record in records if record["event"] == "Task failed"]
    assert {record["task"] for record in failed} == FAILURES.keys()
    for record in failed:
        error, source = FAILURES[record["task"]]
        if "Unsendable" not in record["error"]:
            assert record["error"].startswith(error)
            assert source in record["exception"]


async def test_sentry_gets_a_stack_for_each_task_and_the_facts() -> None:
    lines = (await what_is_written("sentry")).splitlines()
    sent: list[dict[str, Any]] = [json.loads(line) for line in lines if line.startswith("{")]
    events = [event for event in sent if event["logger"] == "drumbeat"]
    assert len(events) == 5
    stacks = {}
    for event in events:
        assert event["logentry"]["message"] == "Task failed%s"  # one message for all, to group them
        task = event["tags"]["task"]
        assert event["extra"]["facts"]["task"] == task
        raised = event["exception"]["values"][-1]
        if "stacktrace" in raised:
            stacks[task] = raised["type"], raised["stacktrace"]["frames"][0]["function"]
    assert stacks == {
        "on_loop": ("ValueError", "on_loop"),
        "in_thread": ("LookupError", "in_thread"),
        "too_slow": ("TimeoutError", "too_slow"),
    }
    (of_child, _) = [
        event["exception"]["values"]
        for event in events
        if event["extra"]["facts"]["task"] == "in_child"
    ]
    cause, error = of_child
    assert error["type"] == "KeyError"
    assert FAILURES["in_child"][1] in cause["value"]
