"""`drumbeat schedule edit` and `hand-back`, over a store and over a server."""

from __future__ import annotations

import pytest

from .support import Terminal


@pytest.fixture
def beat(terminal: Terminal) -> Terminal:
    created = terminal(
        *("schedule", "create", "beat", "--task", "greet", "--every", "1h", "--arg", "name=Anna"),
        *("--overlap", "skip", "--window", "2h", "--description", "every hour"),
    )
    assert created.code == 0, created.err
    return terminal


def test_only_what_is_given_changes(beat: Terminal) -> None:
    before = beat("schedule", "show", "beat", "-o", "json").data
    answer = beat("schedule", "edit", "beat", "--queue", "slow", "--jitter", "5s", "-o", "json")
    assert answer.code == 0, answer.err
    changed = answer.data
    assert (changed["queue"], changed["policies"]["jitter"]) == ("slow", 5.0)
    assert changed["version"] == before["version"] + 1
    for field in ("trigger", "task", "arguments", "description", "priority", "retry"):
        assert changed[field] == before[field]
    assert changed["policies"] == {**before["policies"], "jitter": 5.0}


def test_the_trigger_the_task_and_the_arguments_can_change(beat: Terminal) -> None:
    answer = beat(
        *("schedule", "edit", "beat", "--cron", "0 3 * * *", "--tz", "Europe/Paris"),
        *("--task", "fail", "--arg", "name=Bob", "-o", "json"),
    )
    assert answer.code == 2, answer.err  # the task fail takes no arguments
    assert "name" in answer.err
    answer = beat(
        *("schedule", "edit", "beat", "--cron", "0 3 * * *", "--tz", "Europe/Paris"),
        *("--arg", "name=Bob", "-o", "json"),
    )
    assert answer.code == 0, answer.err
    assert answer.data["when"] == "At 03:00 every day (Europe/Paris)"
    assert answer.data["arguments"] == {"name": "Bob"}


def test_an_edit_is_told_and_its_reason_is_in_the_log(beat: Terminal) -> None:
    answer = beat("schedule", "edit", "beat", "--every", "2h", "--reason", "too often")
    assert answer.out.startswith("schedule beat was changed\n")
    assert "Every 2 hours" in answer.out
    (entry,) = beat("audit", "--action", "schedule.patch", "-o", "json").data
    assert (entry["reason"], entry["outcome"]) == ("too often", "done")


def test_an_edit_of_nothing_or_of_no_schedule_is_refused(beat: Terminal) -> None:
    nothing = beat("schedule", "edit", "beat")
    assert nothing.code == 2
    assert "say what to change" in nothing.err
    assert beat("schedule", "edit", "nosuch", "--queue", "slow").code == 3


def test_a_schedule_that_code_declares_is_handed_back_to_it(terminal: Terminal) -> None:
    terminal.tick()  # declares it
    edited = terminal("schedule", "edit", "nightly", "--queue", "slow", "-o", "json").data
    assert (edited["origin"], edited["queue"]) == ("person", "slow")
    answer = terminal("schedule", "hand-back", "nightly", "--reason", "done", "-o", "json")
    assert (answer.code, answer.data["origin"]) == (0, "code")
    assert terminal("schedule", "hand-back", "nosuch").code == 3
