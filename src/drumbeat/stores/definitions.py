"""Definitions: schedules that were written as text, read back quickly.

A new leader reads all schedules at once, and decoding JSON is half of that.
"""

from __future__ import annotations

import msgspec

from drumbeat.model.document import schedule_from_json, schedule_from_text
from drumbeat.model.schedule import Schedule

_decode = msgspec.json.Decoder().decode


def schedule_of(text: str) -> Schedule:
    """The definition that `model.document.schedule_to_text` wrote."""
    try:
        data = _decode(text)
    except msgspec.DecodeError:  # bytes that are no UTF-8 are kept as halves of characters
        return schedule_from_text(text)
    return schedule_from_json(data)
