"""Values that tasks take and return: JSON that Drumbeat carries and does not read."""

from __future__ import annotations

import msgspec

from drumbeat.model.encoding.json_depth import is_deeper


def raw(stored: bytes) -> msgspec.Raw:
    """Stored JSON as it stands; bytes that are none, or nested too deeply, are shown as text."""
    if is_deeper(stored):
        return _text(stored)
    try:
        msgspec.json.decode(stored, type=msgspec.Raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _text(stored)
    return msgspec.Raw(stored)


def _text(stored: bytes) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(stored.decode(errors="replace")))
