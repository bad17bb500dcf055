"""`drumbeat audit`, over a store and over a server."""

from __future__ import annotations

from .support import Terminal


def test_a_log_without_entries_says_so(terminal: Terminal) -> None:
    assert terminal("audit").out == "There are no such changes.\n"
    assert terminal("audit", "-o", "json").data == []


def test_changes_are_shown_newest_first_with_who_and_why(terminal: Terminal) -> None:
    terminal("queue", "pause", "mail", "--reason", "too much")
    terminal("queue", "pause", "post")
    post, mail = terminal("audit", "-o", "json").data
    assert (mail["action"], mail["reason"], mail["outcome"]) == ("queue.pause", "too much", "done")
    assert mail["actor"]
    assert "too much" in terminal("audit", "--action", "queue.pause").out
    assert terminal("audit", "--target", post["target"], "-o", "json").data == [post]
    assert terminal("audit", "--action", "token.create", "-o", "json").data == []
    assert terminal("audit", "--since", "+1h", "-o", "json").data == []
    answer = terminal("audit", "--limit", "1", "-o", "json")
    assert answer.data == [post]
    assert "There are more" in answer.err


def test_every_change_of_a_terminal_is_in_the_log_whatever_it_asks(terminal: Terminal) -> None:
    terminal("schedule", "create", "beat", "--task", "greet", "--every", "1m")
    for verb in (("pause", "--reason", "stocktaking"), ("resume",), ("skip",), ("skip", "--undo")):
        assert terminal("schedule", verb[0], "beat", *verb[1:]).code == 0
    job = terminal("schedule", "trigger", "beat", "-o", "json").data["id"]
    terminal("job", "cancel", str(job), "--reason", "wrong customer")
    terminal("job", "retry", str(job))
    terminal("schedule", "backfill", "beat", "--from", "-1m", "--dry-run")
    terminal("schedule", "backfill", "beat", "--from", "-1m")
    terminal("schedule", "delete", "beat")
    log = list(reversed(terminal("audit", "-o", "json").data))
    assert [(each["action"], each["target"], each["reason"]) for each in log] == [
        ("schedule.create", "beat", ""),
        ("schedule.pause", "beat", "stocktaking"),
        ("schedule.resume", "beat", ""),
        ("schedule.skip", "beat", ""),
        ("schedule.unskip", "beat", ""),
        ("schedule.trigger", "beat", ""),
        ("job.cancel", str(job), "wrong customer"),
        ("job.retry", str(job), ""),
        ("schedule.backfill", "beat", ""),
        ("schedule.delete", "beat", ""),
    ]
    assert {each["outcome"] for each in log} == {"done"}


def test_a_change_that_was_refused_is_in_the_log_too(terminal: Terminal) -> None:
    assert terminal("schedule", "pause", "nosuch").code == 3
    assert terminal("job", "retry", "7").code == 3
    log = terminal("audit", "-o", "json").data
    assert [each["action"] for each in log] == ["job.retry", "schedule.pause"]
    assert all(each["outcome"] != "done" for each in log)


def test_changes_of_many_jobs_are_in_the_log_and_counting_them_is_not(terminal: Terminal) -> None:
    for verb, reason in (("cancel", ["--reason", "no need"]), ("retry", [])):
        for more in (["--dry-run"], reason):
            answer = terminal("job", verb, "--task", "greet", "--no-wait", *more)
            assert answer.code == 0, answer.err
    log = list(reversed(terminal("audit", "-o", "json").data))
    assert [(each["action"], each["reason"], each["outcome"]) for each in log] == [
        ("jobs.cancel", "no need", "done"),
        ("jobs.retry", "", "done"),
    ]
    assert {str(each["details"]) for each in log} == {"{'filter': {'task': 'greet'}}"}


WHY = ("--reason", "because")


def test_every_change_of_a_terminal_can_say_why(terminal: Terminal) -> None:
    terminal("schedule", "create", "beat", "--task", "greet", "--every", "1m", *WHY)
    job = terminal("schedule", "trigger", "beat", "-o", "json", *WHY).data["id"]
    terminal("token", "create", "ci", *WHY)
    for change in (
        ("schedule", "edit", "beat", "--queue", "slow"),
        ("schedule", "hand-back", "beat"),
        ("schedule", "pause", "beat"),
        ("schedule", "resume", "beat"),
        ("schedule", "skip", "beat"),
        ("schedule", "skip", "beat", "--undo"),
        ("schedule", "backfill", "beat", "--from", "-1m"),
        ("schedule", "delete", "beat"),
        ("job", "cancel", str(job)),
        ("job", "retry", str(job)),
        ("job", "retry", "--task", "greet", "--no-wait"),
        ("queue", "pause", "mail"),
        ("queue", "resume", "mail"),
        ("token", "revoke", "ci"),
        ("config", "put", "colour", "blue"),
        ("config", "delete", "colour"),
    ):
        answer = terminal(*change, *WHY)
        assert answer.code == 0, answer.err
    log = terminal("audit", "-o", "json").data
    assert len(log) == 19
    assert {each["reason"] for each in log} == {"because"}


def test_a_reason_may_be_in_any_language_and_of_several_lines(terminal: Terminal) -> None:
    terminal("token", "create", "ci", "--reason", "Größe  prüfen\nzuerst")
    (entry,) = terminal("audit", "-o", "json").data
    assert entry["reason"].split() == ["Größe", "prüfen", "zuerst"]


def test_what_was_asked_for_is_shown(terminal: Terminal) -> None:
    terminal("token", "create", "ci", "--scope", "submitter")
    assert "scope=submitter" in terminal("audit").out
