"""`drumbeat cron`: the meaning, the next runs, and what clock changes do."""

from __future__ import annotations

import pytest

from .support import Terminal

PARIS = ("--tz", "Europe/Paris")


def test_a_step_beyond_its_field_is_refused_with_what_to_write(terminal: Terminal) -> None:
    answer = terminal("cron", "*/90 * * * *")
    assert answer.code == 2
    assert "minute: step '90' is larger than the range 0-59" in answer.err
    assert "'@every 90m'" in answer.err


def test_an_expression_is_said_in_words_with_its_next_runs(terminal: Terminal) -> None:
    answer = terminal("cron", "30 2 * * *", *PARIS, "--count", "2")
    assert answer.code == 0
    assert answer.out.splitlines() == [
        "At 02:30 every day (Europe/Paris)",
        "",
        "next runs",
        "Tue 2030-01-01 02:30:00 CET  in 1h 30m",
        "Wed 2030-01-02 02:30:00 CET  in 1d 1h",
        "",
        "clock changes within a year",
        "Sun 2030-03-31 02:00 -> 03:00  02:30 does not exist: runs at 03:00 instead",
        "Sun 2030-10-27 03:00 -> 02:00  02:30 comes twice: runs only the first time",
    ]


@pytest.mark.parametrize(
    ("arguments", "spring", "autumn"),
    [
        (("*/10 * * * *",), "6 times of day do not exist: no run of its own", "runs both times"),
        (("0 2,3 * * *",), "02:00 does not exist: no run of its own", "runs only the first"),
        (("30 2 * * *", "--dst-gap", "skip"), "02:30 does not exist: no run of its own", ""),
        (("30 2 * * *", "--dst-gap", "shift"), "runs later by the length of the gap", ""),
        (("30 2 * * *", "--dst-repeat", "both"), "", "02:30 comes twice: runs both times"),
        (("30 2 * * *", "--dst-repeat", "last"), "", "runs only the second time"),
    ],
)
def test_what_a_clock_change_does_is_said_in_words(
    terminal: Terminal, arguments: tuple[str, ...], spring: str, autumn: str
) -> None:
    changes = terminal("cron", *arguments, *PARIS, "-o", "json").data["clock_changes"]
    effects = [change["effect"] for change in changes]
    assert spring in effects[0]
    assert autumn in effects[1]


@pytest.mark.parametrize("arguments", [("0 9 * * *", *PARIS), ("30 2 * * *",)])
def test_an_expression_that_no_clock_change_touches_says_so(
    terminal: Terminal, arguments: tuple[str, ...]
) -> None:
    assert "No clock change within a year touches it." in terminal("cron", *arguments).out


def test_the_answer_for_programs_has_a_fixed_shape(terminal: Terminal) -> None:
    assert terminal("cron", "@every 15m", "--count", "1", "-o", "json").data == {
        "expression": "@every 15m",
        "tz": "UTC",
        "means": "Every 15 minutes",
        "next": ["2030-01-01T00:15:00Z"],
        "clock_changes": [],
    }


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("61 * * * *",), "minute: '61' is out of range"),
        (("0 0 30 2 *",), "'30' never occurs in month '2'"),
        (("0 9 * * *", "--tz", "Europe/Pris"), "unknown time zone 'Europe/Pris'"),
        (("0 9 * * *", "--after", "soon"), "'soon' is not a time"),
    ],
)
def test_a_bad_expression_is_one_sentence_and_exit_code_2(
    terminal: Terminal, arguments: tuple[str, ...], sentence: str
) -> None:
    answer = terminal("cron", *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert sentence in answer.err
