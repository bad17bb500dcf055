"""One event is one line, as text or as JSON, and no line shows a secret."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Generator
from contextlib import contextmanager

import pytest

from drumbeat.config import masked
from drumbeat.engine.plumbing.log import Log
from drumbeat.telemetry.log_formats import JsonFormat, TextFormat, write_logs


@contextmanager
def a_fresh_process() -> Generator[None]:
    """The root logger as a fresh process has it: without handlers."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    root.handlers.clear()
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


def written(form: logging.Formatter, **facts: object) -> str:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(form)
    logger = logging.Logger("drumbeat", logging.DEBUG)  # noqa: LOG001 - of this test alone
    logger.addHandler(handler)
    Log(logger).info("Became the leader", **facts)
    return stream.getvalue()


def test_text_is_a_sentence_with_its_facts() -> None:
    line = written(TextFormat(), epoch=7, reason="it was time", instance_id="web-1")
    time, rest = line.split(" ", 1)
    assert time.endswith("Z")
    assert rest == 'INFO    Became the leader epoch=7 reason="it was time" instance_id=web-1\n'


def test_json_is_one_object_a_line() -> None:
    line = json.loads(written(JsonFormat(), epoch=7, level="high"))
    assert line.pop("time").endswith("Z")
    assert line == {
        "level": "INFO",
        "logger": "drumbeat",
        "message": "Became the leader",
        "epoch": 7,
    }


@pytest.mark.parametrize("form", [TextFormat, JsonFormat])
def test_a_line_never_breaks_and_hides_secrets(form: type[TextFormat | JsonFormat]) -> None:
    line = written(form(masked), error="cannot reach\npostgresql://anna:hunter2@db")
    assert len(line.splitlines()) == 1
    assert "hunter2" not in line


def test_logs_are_written_in_the_chosen_format_from_the_level_on() -> None:
    stream = io.StringIO()
    with a_fresh_process():
        assert write_logs("WARNING", "JSON", stream=stream) is not None
        logging.getLogger("shop").info("unheard")
        logging.getLogger("shop").warning("heard")
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    # What an earlier test left behind may say its last words at any time, when it is collected.
    assert [line["message"] for line in lines if line["logger"] == "shop"] == ["heard"]


def test_logging_that_was_configured_before_is_left_alone() -> None:
    with a_fresh_process():
        logging.getLogger().addHandler(logging.NullHandler())
        assert write_logs("INFO", "TEXT") is None
