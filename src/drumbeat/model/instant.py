"""Instants: every datetime inside Drumbeat is aware and in UTC."""

from __future__ import annotations

from datetime import UTC, datetime

from drumbeat.model.errors import NaiveDatetime

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def aware(field: str, value: datetime) -> datetime:
    """The instant in UTC; a datetime without a zone is refused by the field's name."""
    if value.tzinfo is UTC:
        return value
    if value.tzinfo is None or value.utcoffset() is None:
        raise NaiveDatetime(field, value)
    return value.astimezone(UTC)
