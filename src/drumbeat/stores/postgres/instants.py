"""Instants that a caller gives."""

from __future__ import annotations

from drumbeat.model.instant import aware
from drumbeat.ports.store import At


def checked(at: At) -> At:
    """The instant in UTC, if one was given; without a zone it is refused."""
    return None if at is None else aware("at", at)
