"""Redaction: the values of arguments that a task marks as secret are shown to nobody.

This is the one place where they are taken out, for the API, the command line and the stream of
events alike. The store has them in clear, since the handler needs them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, TypeAlias

import msgspec

from drumbeat.model.encoding.json_depth import is_deeper

REDACTED = "[redacted]"

Secrets: TypeAlias = Callable[[str], Collection[str]]
"""The names of a task's secret arguments; none for a task that is not known here."""


def no_secrets(task: str) -> Collection[str]:
    """For views of what was redacted already, or of tasks that nobody here knows."""
    del task
    return ()


def redacted(arguments: bytes, names: Collection[str]) -> bytes:
    """Stored arguments without the values of those names; unreadable or deep ones are hidden."""
    if not names:
        return arguments
    if is_deeper(arguments):
        return msgspec.json.encode(REDACTED)
    try:
        given = msgspec.json.decode(arguments, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError):
        return msgspec.json.encode(REDACTED)
    return msgspec.json.encode(
        {name: REDACTED if name in names else value for name, value in given.items()}
    )
