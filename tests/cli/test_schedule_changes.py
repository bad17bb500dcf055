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
