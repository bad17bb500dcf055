"""Instants: those that a caller gives, and those that the database answers with."""

from __future__ import annotations

from datetime import UTC, datetime

from drumbeat.model.instant import aware
from drumbeat.ports.store import At


def checked(at: At) -> At:
    """The instant in UTC, if one was given; without a zone it is refused."""
    return None if at is None else aware("at", at)


def instant_of(seconds: float) -> datetime:
    """The instant so many seconds after 1970 began, to the microsecond."""
    return datetime.fromtimestamp(seconds, UTC)
