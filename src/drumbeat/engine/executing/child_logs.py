"""Logs of handler processes: the parent writes their records, as it has configured logging.

A child that has configured logging itself while its modules were imported writes its own.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

from drumbeat.model.log_message import LogMessage, text_of


@dataclass(frozen=True, slots=True)
class Logged:
    """From the child: a log record, as values that every process can read."""

    attributes: Mapping[str, object]

    @classmethod
    def of(cls, record: logging.LogRecord) -> Logged:
        attributes = {name: _plain(value) for name, value in vars(record).items()}
        attributes |= {"msg": record.getMessage(), "args": None, "exc_info": None}
        if record.exc_info:
            attributes["exc_text"] = logging.Formatter().formatException(record.exc_info)
        return cls(attributes)

    def write(self) -> None:
        """In the parent: write the record, if its level is on there."""
        record = logging.makeLogRecord({**self.attributes})
        facts = getattr(record, "facts", None)
        if facts:
            message = LogMessage(record.__dict__["sentence"], facts)
            record.msg, record.args = message.template, message.arguments
        logger = logging.getLogger(record.name)
        if logger.isEnabledFor(record.levelno):
            logger.handle(record)


def level_to_send() -> int:
    """The lowest level of which the parent may write records."""
    return min(logging.getLogger(name).getEffectiveLevel() for name in ("", "drumbeat"))


def send_logs(level: int, send: Callable[[Logged], None]) -> None:
    """In the child: send records from this level on to the parent."""
    root = logging.getLogger()
    if not root.handlers:
        root.addHandler(_ParentHandler(send))
        root.setLevel(level)


class _ParentHandler(logging.Handler):
    def __init__(self, send: Callable[[Logged], None]) -> None:
        super().__init__()
        self._send = send

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._send(Logged.of(record))
        except Exception:  # noqa: BLE001 - as every log handler does
            self.handleError(record)


def _plain(value: object) -> object:
    if isinstance(value, dict):
        values = cast("dict[object, object]", value)
        return {str(name): _plain(each) for name, each in values.items()}
    return value if isinstance(value, str | int | float | None) else text_of(value)
