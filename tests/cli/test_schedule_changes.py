"""What the verbs that change a schedule say to people."""

from __future__ import annotations

import pytest

from .support import Terminal


@pytest.fixture
def beating(terminal: Terminal) -> Terminal:
    """A terminal with a schedule that ticks every minute."""
    answer = terminal("schedule", "create", "beat", "--task", "greet", "--every", "1m")
    assert answer.code == 0, answer.err
    return terminal


def test_a_paused_schedule_is_shown_with_the_reason_and_without_a_next_tick(
    beating: Terminal,
) -> None:
    paused = words_of(beating("schedule", "pause", "beat", "--reason", "stocktaking").out)
    shown = words_of(beating("schedule", "show", "beat").out)
    for said in (paused, shown):
        assert "state paused, stocktaking" in said
        assert "next tick none while it is paused" in said
    assert "none while" not in beating("schedule", "resume", "beat").out


def test_whoever_skips_a_tick_is_told_which_and_sees_that_it_will_not_fire(
    beating: Terminal,
) -> None:
    tick = "2030-01-01 00:01:00 UTC (in 1m)"
    skipped = words_of(beating("schedule", "skip", "beat").out)
    assert skipped.startswith(f"schedule beat skips its tick of {tick} ")
    for said in (skipped, words_of(beating("schedule", "show", "beat").out)):
        assert f"next tick {tick}, which is skipped" in said
    (row,) = (line for line in beating("schedule", "list").out.splitlines() if "beat" in line)
    assert row.split()[4] == "skipped"
    assert "is skipped by hand." in beating("schedule", "explain", "beat").out
    again = beating("schedule", "skip", "beat", "--undo").out
    assert again.startswith(f"schedule beat no longer skips its tick of {tick}\n")


def test_whoever_deletes_a_schedule_that_code_declares_is_told_that_it_comes_back(
    terminal: Terminal,
) -> None:
    terminal.tick()  # a node has started, and has declared what its code says
    assert terminal("schedule", "create", "mine", "--task", "t", "--every", "1m").code == 0
    assert terminal("schedule", "delete", "mine").err == ""
    answer = terminal("schedule", "delete", "nightly")
    assert answer.out == "schedule nightly was deleted\n"
    assert "comes back at the next start" in answer.err


def test_a_narrow_last_column_stands_close_to_the_others(beating: Terminal) -> None:
    answer = beating("schedule", "backfill", "beat", "--from", "-3m", "--dry-run")
    first = answer.out.splitlines()[1]
    assert first.endswith("would fire    -")


def words_of(text: str) -> str:
    return " ".join(text.split())


def test_schedules_with_a_tag_are_listed_paused_resumed_and_deleted_together(
    terminal: Terminal,
) -> None:
    for name, tag in (("invoices", "billing"), ("reminders", "billing"), ("backup", "disk")):
        answer = terminal(
            "schedule", "create", name, "--task", "greet", "--every", "1m", "--tag", tag
        )
        assert answer.code == 0, answer.err
    listed = terminal("schedule", "list", "--tag", "billing", "-o", "json").data
    assert [each["name"] for each in listed] == ["invoices", "reminders"]
    assert terminal("schedule", "pause", "invoices", "--reason", "alone").code == 0
    paused = terminal("schedule", "pause", "--tag", "billing", "--reason", "the bank is closed")
    assert words_of(paused.out) == "1 schedule with the tag billing paused reminders"
    shown = terminal("schedule", "show", "reminders", "-o", "json").data
    assert (shown["paused"], shown["pause_reason"]) == (True, "the bank is closed")
    assert terminal("schedule", "resume", "--tag", "billing", "-o", "json").data == [
        "invoices",
        "reminders",
    ]
    audit = terminal("audit", "-o", "json").data
    resumed = [each["target"] for each in audit if each["action"] == "schedule.resume"]
    assert sorted(resumed) == ["invoices", "reminders"]
    assert terminal("schedule", "delete", "--tag", "billing").code != 0  # nobody has confirmed
    assert terminal("schedule", "delete", "--tag", "billing", "--yes").code == 0
    assert terminal("schedule", "list", "--tag", "billing", "-o", "json").data == []
    assert terminal("schedule", "show", "backup").code == 0


def test_a_change_of_schedules_takes_a_name_or_a_tag(beating: Terminal) -> None:
    for given in ((), ("beat", "--tag", "billing")):
        answer = beating("schedule", "pause", *given)
        assert answer.code == 2
        assert "name a schedule, or give --tag, and not both" in answer.err
