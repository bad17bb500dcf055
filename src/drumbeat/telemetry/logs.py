"""Logs: writes each event as one line, with its facts in the message and in the record.

`log_lines` says what the line of each event is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from logging import ERROR, INFO
from typing import Protocol, TypeVar

from drumbeat.model.events import AttemptEnded, Event
from drumbeat.model.jobs.ending import Raised, RemoteTraceback
from drumbeat.model.log_message import LogMessage, summary
from drumbeat.telemetry.log_lines import FREQUENT, FUNCTIONS, LOGGER, TABLE, LineOf, reader

E = TypeVar("E", bound=Event)
Hide = Callable[[str], str]
"""Takes the secrets out of a text."""


class Subscribe(Protocol):
    """How to subscribe to events of a kind."""

    def __call__(
        self, kind: type[E], listener: Callable[[E], None], when: Callable[[], bool] | None
    ) -> Callable[[], None]:
        """Call the listener for each event, while `when` is true. Returns how to unsubscribe."""
        ...


def log_events(
    subscribe: Subscribe, instance_id: str, hide: Hide = str
) -> Mapping[type[Event], Callable[[], None]]:
    """Write a line for each event whose level is on. Returns how to end that, by kind of event."""
    lines: dict[type[Event], LineOf] = {kind: reader(*TABLE[kind]) for kind in TABLE}
    lines.update(FUNCTIONS)
    return {
        kind: subscribe(
            kind,
            _listener(line_of, instance_id, hide),
            partial(LOGGER.isEnabledFor, INFO) if kind in FREQUENT else None,
        )
        for kind, line_of in lines.items()
    }


def _listener(line_of: LineOf, instance_id: str, hide: Hide) -> Callable[[Event], None]:
    def write(event: Event) -> None:
        line = line_of(event)
        if line is None or not LOGGER.isEnabledFor(line[0]):
            return
        level, sentence, facts = line
        shown = {
            name: _plain(value, hide) for name, value in facts.items() if value not in (None, "")
        }
        message = LogMessage(hide(sentence), {**shown, "instance_id": instance_id})
        LOGGER.log(
            level,
            message.template,
            *message.arguments,
            extra=message.attributes,
            exc_info=_error_to_show(event, level),
        )

    return write


def _error_to_show(event: Event, level: int) -> BaseException | None:
    """The exception whose traceback belongs to the line; an outage is told without one."""
    if isinstance(event, AttemptEnded):
        ending = event.ending
        if isinstance(ending, Raised) and ending.exception is None and "\n" in ending.error:
            return RemoteTraceback(ending.error)
        return event.exception
    return event.exception if level >= ERROR else None


def _plain(value: object, hide: Hide) -> object:
    """A value that can be sent to another process, without secrets."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, BaseException):
        return hide(summary(value))
    return hide(value) if isinstance(value, str) else value
