"""`drumbeat queue list`, `pause` and `resume`."""

from __future__ import annotations

from drumbeat.model.fleet.audit import AuditEntry, AuditFilter
from drumbeat.model.page import PageRequest

from .support import Terminal


def audit(terminal: Terminal) -> list[AuditEntry]:
    page = terminal.do(terminal.app.store.audit.list(AuditFilter(), PageRequest()))
    return [*page.items]


def test_a_store_without_jobs_has_no_queues(terminal: Terminal) -> None:
    assert terminal("queue", "list").out == "There are no queues.\n"
    assert terminal("queue", "list", "-o", "json").data == []


def test_queues_are_listed_with_what_waits_and_what_ended(terminal: Terminal) -> None:
    terminal("job", "submit", "greet")
    terminal.drain()
    terminal("job", "submit", "greet", "--queue", "mail")
    terminal.do(terminal.clock.advance("90s"))
    default, mail = terminal("queue", "list", "-o", "json").data
    assert default["name"] == "default"
    assert default["totals"] == {"completed": 1, "failed": 0, "cancelled": 0}
    assert (mail["name"], mail["counts"]["queued"]) == ("mail", 1)
    assert mail["oldest_age_seconds"] == 90.0
    assert mail["paused"] is None
    lines = terminal("queue", "list").out.splitlines()
    assert lines[0].split()[:5] == ["queue", "pending", "queued", "running", "oldest"]
    assert lines[2].split()[:5] == ["mail", "-", "1", "-", "1m"]


def test_no_job_of_a_paused_queue_starts_until_it_is_resumed(terminal: Terminal) -> None:
    paused = terminal("queue", "pause", "default", "--reason", "too much", "-o", "json").data
    assert paused["paused"]["reason"] == "too much"
    terminal("job", "submit", "greet")
    terminal.drain()
    assert terminal("queue", "-o", "json").data["default"]["queued"] == 1
    assert "now: too much" in terminal("queue", "list").out
    assert terminal("queue", "resume", "default").out == "The queue default is resumed.\n"
    terminal.drain()
    assert terminal("queue", "-o", "json").data["default"]["completed"] == 1


def test_a_queue_that_is_not_paused_cannot_be_resumed(terminal: Terminal) -> None:
    answer = terminal("queue", "resume", "mail")
    assert (answer.code, answer.err) == (4, "Error: the queue 'mail' is not paused\n")


def test_pauses_are_in_the_audit_log(at_the_store: Terminal) -> None:
    at_the_store("queue", "pause", "mail", "--reason", "down")
    at_the_store("queue", "resume", "mail")
    at_the_store("queue", "resume", "mail")
    resumed, paused = audit(at_the_store)
    assert (paused.note.action, paused.note.target, paused.note.reason, paused.outcome) == (
        *("queue.pause", "mail", "down"),
        "done",
    )
    assert paused.note.actor.endswith("(terminal)")
    assert (resumed.note.action, resumed.outcome) == ("queue.resume", "done")
