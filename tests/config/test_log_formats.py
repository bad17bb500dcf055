"""One event is one line, as text or as JSON, and no line shows a secret."""

from __future__ import annotations

import io
import json
import logging
import queue
from collections.abc import Generator
from contextlib import contextmanager
from logging.handlers import QueueHandler

import pytest

from drumbeat.config import masked
from drumbeat.engine.plumbing.log import Log
from drumbeat.telemetry.log_formats import JsonFormat, TextFormat, write_logs
from drumbeat.testing.clock import START


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


def logged_failure(form: logging.Formatter) -> str:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(form)
    logger = logging.Logger("drumbeat", logging.DEBUG)  # noqa: LOG001 - of this test alone
    logger.addHandler(handler)
    try:
        raise ValueError("no account\n2026-01-01T00:00:00.000Z INFO    All is well")
    except ValueError as error:
        Log(logger).error("Task failed", exc_info=error, job_id=7)
    return stream.getvalue()


def test_a_traceback_is_lines_below_the_text_that_no_error_can_leave() -> None:
    line, *below = logged_failure(TextFormat()).splitlines()
    assert line.endswith("ERROR   Task failed job_id=7")
    assert below[0] == "    Traceback (most recent call last):"
    assert below[-2:] == [
        "    ValueError: no account",
        "    2026-01-01T00:00:00.000Z INFO    All is well",
    ]


def test_json_has_each_fact_once() -> None:
    line = json.loads(logged_failure(JsonFormat()))
    assert (line["message"], line["job_id"]) == ("Task failed", 7)
    assert line["traceback"].startswith("Traceback (most recent call last):")
    assert json.dumps(line).count("job_id") == 1


@pytest.mark.parametrize("form", [TextFormat, JsonFormat])
def test_what_went_through_a_queue_is_written_once_and_whole(
    form: type[TextFormat | JsonFormat],
) -> None:
    records: queue.SimpleQueue[logging.LogRecord] = queue.SimpleQueue()
    logger = logging.Logger("drumbeat", logging.DEBUG)  # noqa: LOG001 - of this test alone
    logger.addHandler(QueueHandler(records))
    try:
        raise ValueError("no account")
    except ValueError:
        Log(logger).exception("Task failed", job_id=7)
    line = form().format(records.get())
    assert line.count("job_id") == 1
    assert "ValueError: no account" in line


def test_a_terminal_gets_colors_unless_its_user_wants_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    for wanted in (True, False):
        if not wanted:
            monkeypatch.setenv("NO_COLOR", "1")
        stream = io.StringIO()
        monkeypatch.setattr(stream, "isatty", lambda: True)
        with a_fresh_process():
            assert write_logs("INFO", "TEXT", stream=stream) is not None
            Log(logging.getLogger("shop")).info("heard \x1b[31m", by="\x1b[0m")
        (line,) = [each for each in stream.getvalue().splitlines() if "heard" in each]
        assert ("\x1b[2m" in line) == wanted
        assert r"heard \x1b[31m" in line  # the text's own codes are shown, not obeyed


def test_any_format_shows_the_facts_and_groups_records_by_their_sentence() -> None:
    records: queue.SimpleQueue[logging.LogRecord] = queue.SimpleQueue()
    logger = logging.Logger("drumbeat", logging.DEBUG)  # noqa: LOG001 - of this test alone
    logger.addHandler(QueueHandlerThatKeeps(records))
    log = Log(logger, task="send")
    log.info("100% done", at=START, why='he said "go"', empty="", code=0)
    log.info("%d of %s", 3, 4, rows=None)
    log.info("wrong %d", "format")
    log.info("%(a)s", {"a": 1})
    first, second, third, fourth = (records.get() for _ in range(4))
    assert first.getMessage() == (
        "100% done task=send at=2030-01-01T00:00:00+00:00"
        r' why="he said \"go\"" empty="" code=0'
    )
    assert (first.msg, first.__dict__["sentence"]) == ("100%% done%s", "100% done")
    assert second.getMessage() == "3 of 4 task=send rows=None"
    assert third.getMessage() == "wrong %d ('format',) task=send"
    assert fourth.getMessage() == "1 task=send"


class QueueHandlerThatKeeps(QueueHandler):
    """Keeps records as they were logged."""

    def prepare(self, record: logging.LogRecord) -> logging.LogRecord:
        return record


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
