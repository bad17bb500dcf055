"""Formats of log lines: text for people, JSON for machines. One event is one line in both."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TextIO

from drumbeat.model.visible_text import visible, visible_json

Hide = Callable[[str], str]
"""Takes the secrets out of a text."""

QUOTED = frozenset(' "=\t\n\r')


def _same(text: str) -> str:
    return text


class _Format(logging.Formatter):
    """What both formats share: the time, the facts, and the error as text."""

    def __init__(self, hide: Hide = _same) -> None:
        super().__init__()
        self._hide = hide

    def _time(self, record: logging.LogRecord) -> str:
        moment = datetime.fromtimestamp(record.created, UTC)
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def _sentence(self, record: logging.LogRecord) -> str:
        return self._hide(record.getMessage())

    def _facts(self, record: logging.LogRecord) -> Mapping[str, object]:
        facts: Mapping[str, object] = getattr(record, "facts", {})
        return {
            name: value if isinstance(value, int | float | None) else self._hide(str(value))
            for name, value in facts.items()
        }

    def _traceback(self, record: logging.LogRecord) -> str:
        return self._hide(self.formatException(record.exc_info)) if record.exc_info else ""


class TextFormat(_Format):
    """`2026-01-12T10:00:00.000Z INFO  Became the leader instance_id=web-1 epoch=7`."""

    def format(self, record: logging.LogRecord) -> str:
        sentence = self._sentence(record).replace("\n", "\\n")
        facts = "".join(f" {name}={_quoted(value)}" for name, value in self._facts(record).items())
        line = f"{self._time(record)} {record.levelname:<7} {sentence}{facts}"
        traceback = self._traceback(record)
        return visible(f"{line}\n{traceback}" if traceback else line)


class JsonFormat(_Format):
    """`{"time": ..., "level": "INFO", "message": "Became the leader", "epoch": 7}`."""

    def format(self, record: logging.LogRecord) -> str:
        traceback = self._traceback(record)
        line: dict[str, object] = {
            **self._facts(record),
            "time": self._time(record),
            "level": record.levelname,
            "logger": record.name,
            "message": self._sentence(record),
            **({"traceback": traceback} if traceback else {}),
        }
        first = ("time", "level", "logger", "message")
        ordered = {name: line.pop(name) for name in first} | line
        return visible_json(json.dumps(ordered, ensure_ascii=False, default=str))


FORMATS: Mapping[str, type[_Format]] = {"TEXT": TextFormat, "JSON": JsonFormat}


def write_logs(
    level: str, form: str, hide: Hide = _same, stream: TextIO | None = None
) -> logging.Handler | None:
    """Write the lines of this process to standard error, unless somebody has arranged for that.

    None: the root logger or Drumbeat's own has handlers already, and nothing was changed.
    """
    root = logging.getLogger()
    if root.handlers or logging.getLogger("drumbeat").handlers:
        return None
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(FORMATS[form](hide))
    root.addHandler(handler)
    root.setLevel(level)
    logging.getLogger("asyncio").setLevel(max(root.level, logging.INFO))
    return handler


def _quoted(value: object) -> str:
    text = str(value)
    if text and not QUOTED.intersection(text):
        return text
    return json.dumps(text, ensure_ascii=False)
