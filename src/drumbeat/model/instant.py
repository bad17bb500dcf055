"""Instants: every datetime inside Drumbeat is aware and in UTC."""

from __future__ import annotations

from datetime import UTC, datetime

from drumbeat.model.errors import InvalidInput, NaiveDatetime

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def aware(field: str, value: datetime) -> datetime:
    """The instant in UTC; one without a zone, or that has none there, is refused by its field."""
    if value.tzinfo is UTC:
        return value
    if value.tzinfo is None or value.utcoffset() is None:
        raise NaiveDatetime(field, value)
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise InvalidInput(f"{field} lies outside of the years 1 to 9999: {value}") from None
