"""Commands that only look: tasks, one queue, one node, elections, operations and events."""

from __future__ import annotations

import json

import pytest

from .support import Terminal


def test_tasks_are_listed_with_their_parameters(terminal: Terminal) -> None:
    names = [task["name"] for task in terminal("task", "list", "-o", "json").data]
    assert names == ["fail", "greet", "nightly"]
    assert "[name]" in terminal("task", "list").out


def test_one_queue_is_shown(terminal: Terminal) -> None:
    terminal("job", "submit", "greet")
    shown = terminal("queue", "show", "default", "-o", "json").data
    assert (shown["name"], shown["counts"]["queued"]) == ("default", 1)
    assert terminal("queue", "show", "nosuch").code == 3


def test_one_node_is_shown(terminal: Terminal) -> None:
    terminal.start_a_node(busy=3)
    assert terminal("node", "show", "web-1:00ff", "-o", "json").data["busy"] == 3
    table = terminal("node", "show", "web-1:00ff").out
    assert "leader, scheduler, worker" in table
    assert "3 of 100" in table
    assert terminal("node", "show", "nosuch").code == 3


def test_elections_are_listed(terminal: Terminal) -> None:
    terminal.start_a_node()
    (election,) = terminal("leader", "list", "-o", "json").data
    assert (election["name"], election["leader"]) == ("scheduler", "web-1:00ff")
    assert "web-1:00ff" in terminal("leader", "list").out


def test_operations_are_listed_shown_and_cancelled(terminal: Terminal) -> None:
    assert terminal("operation", "list").out == "There are no operations.\n"
    begun = terminal(
        *("job", "cancel", "--task", "greet", "--no-wait", "--reason", "no need", "-o", "json")
    ).data
    (listed,) = terminal("operation", "list", "-o", "json").data
    assert listed == begun
    assert "no need" in terminal("operation", "list").out
    number = str(begun["id"])
    assert "cancel" in terminal("operation", "show", number).out
    cancelled = terminal("operation", "cancel", number, "-o", "json")
    assert (cancelled.code, cancelled.data["status"]) == (0, "cancelled")
    assert terminal("operation", "cancel", number).code == 4
    assert terminal("operation", "show", "99").code == 3


@pytest.mark.parametrize("form", ["table", "json"])
def test_events_are_printed_one_for_each_line(terminal: Terminal, form: str) -> None:
    terminal("job", "submit", "greet")
    answer = terminal("events", "--follow", "--after", "nowhere", "--count", "1", "-o", form)
    assert answer.code == 0, answer.err
    (line,) = answer.out.splitlines()
    if form == "json":
        assert json.loads(line) == {"id": json.loads(line)["id"], "kind": "reset", "about": None}
    else:
        assert line.split(maxsplit=1) == ["reset", "events were missed"]


def test_a_store_refuses_the_jobs_that_a_server_refuses(terminal: Terminal) -> None:
    for arguments, sentence in (
        (("drumbeat.prune",), "is Drumbeat's own"),
        (("elsewhere", f"text={'x' * 300_000}"), "262,144 are allowed"),
        (("greet", "--queue", "@leader"), "is the leader's own"),
        (("greet", "--queue", "q" * 201), "queue"),
    ):
        answer = terminal("job", "submit", *arguments)
        assert answer.code == 2, answer.err
        assert sentence in answer.err
    create = ("schedule", "create", "x", "--every", "1h", "--task")
    assert terminal(*create, "drumbeat.prune").code == 2
