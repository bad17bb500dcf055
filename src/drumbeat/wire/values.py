"""Values that tasks take and return: JSON that Drumbeat carries and does not read."""

from __future__ import annotations

from typing import Any

import msgspec


def raw(stored: bytes) -> msgspec.Raw:
    """Stored JSON as it stands; bytes that are none are shown as text."""
    try:
        msgspec.json.decode(stored, type=msgspec.Raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return msgspec.Raw(msgspec.json.encode(stored.decode(errors="replace")))
    return msgspec.Raw(stored)


def carried(value: Any) -> bytes:
    """The JSON that a view holds, whether it was read from the wire or made here."""
    return bytes(value) if isinstance(value, msgspec.Raw) else msgspec.json.encode(value)
