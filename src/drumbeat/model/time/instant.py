"""Instants: every datetime inside Drumbeat is aware and in UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from drumbeat.model.errors import InvalidInput, NaiveDatetime

MICROSECOND = timedelta(microseconds=1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
EARLIEST = datetime(1900, 1, 1, tzinfo=UTC)
LATEST = datetime(9000, 1, 1, tzinfo=UTC)
"""The accepted range. An instant within it, plus or minus any accepted duration, in any zone, stays
within the years 1 to 9999 of a `datetime`."""


def aware(field: str, value: datetime) -> datetime:
    """The instant in UTC; raises an error that names the field if that is not possible."""
    if not isinstance(value, datetime):  # pyright: ignore[reportUnnecessaryIsInstance] - unchecked callers
        raise InvalidInput(f"{field} must be a datetime, not {value!r}")
    if value.tzinfo is UTC:
        return value
    if value.tzinfo is None or value.utcoffset() is None:
        raise NaiveDatetime(field, value)
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise InvalidInput(f"{field} is outside of the years 1 to 9999: {value}") from None


def in_range(field: str, value: datetime) -> datetime:
    """The instant in UTC; raises `InvalidInput` before `EARLIEST` or after `LATEST`."""
    # Compared without `astimezone`, which overflows near the years 1 and 9999.
    if value.utcoffset() is not None and not EARLIEST <= value <= LATEST:
        raise InvalidInput(
            f"{field} must lie between {EARLIEST:%Y-%m-%d} and {LATEST:%Y-%m-%d} in UTC, "
            f"not {value.isoformat()}"
        )
    return aware(field, value)
