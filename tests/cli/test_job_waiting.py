"""Waiting for a job: why it does not start, and how long one waits at most."""

from __future__ import annotations

import re

import pytest

from drumbeat.rules.schedules.overdue import PATIENCE

from .support import Terminal


def wait(terminal: Terminal, *options: str) -> str:
    """What is said while somebody waits no time for a new job; the last line is the error."""
    answer = terminal("job", "submit", "greet", "--wait-timeout", "0s", *options)
    assert (answer.code, answer.out) == (1, ""), answer
    first, last = answer.err.splitlines()
    number = re.match(r"job (\d+) is ", first)
    assert number is not None
    assert last.startswith(f"Error: job {number[1]} did not finish within 0 s")
    reason = first.partition(": ")[2]
    assert last.endswith(f" within 0 s: {reason}" if reason else " within 0 s")
    return reason


def test_without_any_worker_it_says_so(terminal: Terminal) -> None:
    assert wait(terminal) == "no worker is alive: start one with `drumbeat worker APP`"


def test_without_a_worker_of_its_queue_it_says_which_queues_are_served(terminal: Terminal) -> None:
    terminal.start_a_node()
    assert wait(terminal, "--queue", "mail") == (
        "no worker serves the queue 'mail' (those alive serve default): start one with "
        "`drumbeat worker APP --queues mail`"
    )


def test_a_paused_queue_is_the_reason(terminal: Terminal) -> None:
    terminal.start_a_node()
    terminal("queue", "pause", "default", "--reason", "the disk is full")
    assert wait(terminal) == "the queue 'default' is paused (the disk is full)"


def test_a_job_of_a_later_time_says_when(terminal: Terminal) -> None:
    assert "it may start at " in wait(terminal, "--delay", "1h")


def test_a_job_that_workers_do_not_take_may_have_an_unknown_task(terminal: Terminal) -> None:
    terminal.start_a_node()
    assert wait(terminal) == ""
    terminal.do(terminal.clock.advance("10s"))
    terminal.start_a_node(busy=100)
    answer = terminal("job", "wait", "1", "--timeout", "0s")
    assert "every worker of its queue is busy" in answer.err
    terminal.do(terminal.clock.advance("10s"))
    terminal.start_a_node()
    answer = terminal("job", "wait", "1", "--timeout", "0s")
    assert "none of them knows the task 'greet'" in answer.err


def test_a_due_job_that_nobody_queues_lacks_a_leader(terminal: Terminal) -> None:
    wait(terminal, "--delay", "10s")
    terminal.do(terminal.clock.advance("14s"))
    answer = terminal("job", "wait", "1", "--timeout", "0s")
    assert "it is due, but nobody leads" in answer.err


@pytest.mark.parametrize(("seconds", "overdue"), [(0, False), (1, True)])
def test_doctor_and_explain_agree_on_what_is_overdue(
    terminal: Terminal, seconds: int, overdue: bool
) -> None:
    terminal("schedule", "create", "beat", "--task", "greet", "--every", "1m")
    late = PATIENCE.total_seconds() + seconds
    terminal.do(terminal.clock.advance(f"{60 + late:g}s"))
    assert ("1 overdue: beat" in terminal("doctor").out) is overdue
    assert ("is overdue by" in terminal("schedule", "explain", "beat").out) is overdue
