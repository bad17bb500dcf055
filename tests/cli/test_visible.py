"""No text of a stranger steers the terminal that shows it."""

from __future__ import annotations

import io
import logging
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drumbeat.model.visible_text import visible, visible_json
from drumbeat.telemetry.log_formats import JsonFormat, TextFormat

from .support import Terminal

HOSTILE = "x\x1b[31m\x1b]0;owned\x07\x9b2J\x7f\u202egnp\u2066\r\x00y"
WRITTEN = r"x\x1b[31m\x1b]0;owned\x07\x9b2J\x7f\u202egnp\u2066\x0d\x00y"
STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def test_control_characters_are_written_out_and_all_else_stays() -> None:
    assert visible(HOSTILE) == WRITTEN
    assert visible("Ünïcödé ☂\ttab\nnext 𝄞") == "Ünïcödé ☂\ttab\nnext 𝄞"


@given(st.text())
def test_nothing_is_left_that_a_terminal_obeys(text: str) -> None:
    shown = visible(text).replace("\n", "").replace("\t", "")
    assert not any(unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp") for letter in shown)
    assert not STEERING.search(visible_json(text))


@pytest.mark.parametrize("form", [TextFormat, JsonFormat])
def test_a_log_line_holds_no_control_characters(form: type[TextFormat | JsonFormat]) -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(form())
    logger = logging.Logger("drumbeat", logging.DEBUG)  # noqa: LOG001 - of this test alone
    logger.addHandler(handler)
    try:
        raise ValueError(HOSTILE)
    except ValueError:
        logger.exception(HOSTILE, extra={"facts": {"reason": HOSTILE}})
    assert not STEERING.search(stream.getvalue())


def test_no_command_hands_control_characters_to_the_terminal(terminal: Terminal) -> None:
    app = terminal.app
    terminal.tick()  # which declares the schedules
    terminal.do(app.store.queues.pause("default", HOSTILE))
    terminal.do(app.schedules.pause("nightly", reason=HOSTILE))
    terminal("job", "submit", "greet", f"name={HOSTILE.replace(chr(0), '')}")
    for command in (
        ("queue", "list"),
        ("schedule", "list"),
        ("schedule", "show", "nightly"),
        ("schedule", "explain", "nightly"),
        ("job", "list"),
        ("job", "show", "1"),
        ("job", "list", "--task", HOSTILE.replace("\0", "")),
        ("schedule", "show", HOSTILE.replace("\0", "")),
        ("cron", "explain", HOSTILE.replace("\0", "")),
        ("audit",),
        (HOSTILE.replace("\0", ""),),
    ):
        for form in ("table", "json"):
            answer = terminal(*command, "-o", form)
            assert not STEERING.search(answer.out + answer.err), (command, form)


def test_a_table_keeps_its_columns_beside_a_hostile_name(terminal: Terminal) -> None:
    terminal.do(terminal.app.store.queues.pause("default", "\x1b[2K"))
    lines = terminal("queue", "list").out.splitlines()
    assert any(r"\x1b[2K" in line for line in lines)
