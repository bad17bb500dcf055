"""Formats of log lines: text for people, JSON for machines."""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from textwrap import indent
from typing import TextIO

from drumbeat.model.log_message import text_of, written
from drumbeat.model.visible_text import visible, visible_json
from drumbeat.telemetry.logs import Hide

DIM, RESET = "\x1b[2m", "\x1b[0m"
COLORS: Mapping[int, str] = {
    logging.DEBUG: "\x1b[36m",
    logging.INFO: "\x1b[32m",
    logging.WARNING: "\x1b[33m",
    logging.ERROR: "\x1b[1;31m",
    logging.CRITICAL: "\x1b[1;31m",
}


class _Format(logging.Formatter):
    """What all formats share: the time, the sentence, the facts, and the error as text."""

    def __init__(self, hide: Hide = str) -> None:
        super().__init__()
        self._hide = hide

    def _time(self, record: logging.LogRecord) -> str:
        moment = datetime.fromtimestamp(record.created, UTC)
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def _parts(self, record: logging.LogRecord) -> tuple[str, Mapping[str, object]]:
        """The sentence, and the facts beside it."""
        facts: Mapping[str, object] = getattr(record, "facts", {})
        sentence: str | None = getattr(record, "sentence", None)
        if sentence is None or (facts and not record.args):  # a queue handler has joined them
            facts, sentence = {} if sentence else facts, record.getMessage()
        shown = {
            name: value if isinstance(value, int | float | None) else self._hide(text_of(value))
            for name, value in facts.items()
        }
        return self._hide(sentence), shown

    def _traceback(self, record: logging.LogRecord) -> str:
        if record.exc_info:
            return self._hide(self.formatException(record.exc_info))
        return self._hide(record.exc_text or "")  # of a record that another process has sent


class TextFormat(_Format):
    """`2026-01-12T10:00:00.000Z INFO    Became the leader epoch=7 instance_id=web-1`.

    A traceback follows in lines of its own. They are indented, so that no text of an error looks
    like another record.
    """

    def format(self, record: logging.LogRecord) -> str:
        sentence, facts = self._parts(record)
        line = self._line(record, visible(sentence.replace("\n", "\\n")), written(facts))
        traceback = indent(visible(self._traceback(record)), "    ")
        return f"{line}\n{traceback}" if traceback else line

    def _line(self, record: logging.LogRecord, sentence: str, facts: str) -> str:
        return f"{self._time(record)} {record.levelname:<7} {sentence}{facts}"


class ColoredFormat(TextFormat):
    """The text format in the colours of a terminal."""

    def _line(self, record: logging.LogRecord, sentence: str, facts: str) -> str:
        time = f"{DIM}{self._time(record)}{RESET}"
        level = f"{COLORS.get(record.levelno, '')}{record.levelname:<7}{RESET}"
        return f"{time} {level} {sentence}{DIM}{facts}{RESET}"


class JsonFormat(_Format):
    """`{"time": ..., "level": "INFO", "message": "Became the leader", "epoch": 7}`."""

    def format(self, record: logging.LogRecord) -> str:
        sentence, facts = self._parts(record)
        traceback = self._traceback(record)
        line: dict[str, object] = {
            "time": self._time(record),
            "level": record.levelname,
            "logger": record.name,
            "message": sentence,
        }
        line = line | {name: value for name, value in facts.items() if name not in line}
        if traceback:
            line["traceback"] = traceback
        return visible_json(json.dumps(line, ensure_ascii=False, default=str))


FORMATS: Mapping[str, type[_Format]] = {"TEXT": TextFormat, "JSON": JsonFormat}


def write_logs(
    level: str, form: str, hide: Hide = str, stream: TextIO | None = None
) -> logging.Handler | None:
    """Write the lines of this process to standard error, unless somebody has arranged for that.

    None: the root logger or Drumbeat's own has handlers already, and nothing was changed.
    """
    root = logging.getLogger()
    if root.handlers or logging.getLogger("drumbeat").handlers:
        return None
    handler = logging.StreamHandler(stream or sys.stderr)
    chosen = ColoredFormat if form == "TEXT" and _shows_colors(handler.stream) else FORMATS[form]
    handler.setFormatter(chosen(hide))
    root.addHandler(handler)
    root.setLevel(level)
    logging.getLogger("asyncio").setLevel(max(root.level, logging.INFO))
    return handler


def _shows_colors(stream: object) -> bool:
    """Whether the stream is a terminal whose user wants colours (https://no-color.org)."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    isatty: Callable[[], bool] | None = getattr(stream, "isatty", None)
    return not plain and isatty is not None and isatty()
