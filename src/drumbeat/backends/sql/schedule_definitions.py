"""Definitions of schedules as texts of the database.

A new leader reads all schedules at once. Decoding JSON is half of that, so it is done by `msgspec`,
and the values of many definitions are kept: reading a text again takes a hundred times as long.
"""

from __future__ import annotations

import msgspec

from drumbeat.model.encoding.document import (
    schedule_from_json,
    schedule_from_text,
    schedule_to_text,
)
from drumbeat.model.schedules.schedule import Schedule

MOST = 100_000
"""Definitions that are kept as values."""

_decode = msgspec.json.Decoder().decode
_schedules: dict[str, Schedule] = {}


def definition_of(schedule: Schedule) -> str:
    """The text of a schedule. It is kept: a node that declares a schedule often leads as well."""
    text = schedule_to_text(schedule)
    _keep(text, schedule)
    return text


def schedule_of(text: str) -> Schedule:
    """The schedule that `definition_of` wrote."""
    return _schedules.get(text) or _keep(text, read_schedule(text))


def read_schedule(text: str) -> Schedule:
    """The same, without looking at what is kept."""
    try:
        data = _decode(text)
    except msgspec.DecodeError:  # arguments that are not UTF-8 are kept as surrogates
        return schedule_from_text(text)
    return schedule_from_json(data)


def _keep(text: str, schedule: Schedule) -> Schedule:
    if len(_schedules) >= MOST:
        _schedules.clear()
    _schedules[text] = schedule
    return schedule
