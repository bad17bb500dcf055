"""Expiry and retention: until when a job may start, and how long it is kept after its end."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TypeAlias

from drumbeat.model.errors import InvalidOption
from drumbeat.model.time.instant import aware

EXPIRED = "expired before it could start"
"""The error of a job that ended as cancelled because it had expired. Lists filter by it."""
LONGEST_EXPIRY = timedelta(days=3650)
LONGEST_RETENTION = timedelta(days=3650)

Expires: TypeAlias = timedelta | datetime
"""A length after the job is due, or an instant."""


def check_expires(expires: Expires | None) -> None:
    """Reject a length that is not positive or too long, and an instant without a zone."""
    if isinstance(expires, datetime):
        aware("expires", expires)
    elif expires is not None and not timedelta(0) < expires <= LONGEST_EXPIRY:
        raise InvalidOption(
            f"expires must be longer than zero and at most {LONGEST_EXPIRY.days} days, "
            f"not {expires}"
        )


def check_retention(length: timedelta | None) -> None:
    """Reject a length that is not positive or too long."""
    if length is not None and not timedelta(0) < length <= LONGEST_RETENTION:
        raise InvalidOption(
            f"retention must be longer than zero and at most {LONGEST_RETENTION.days} days, "
            f"not {length}"
        )


def expiry(expires: Expires, due_at: datetime) -> datetime | None:
    """When a job expires that is due then; None: after the last instant that there is."""
    if isinstance(expires, datetime):
        return expires
    try:
        return due_at + expires
    except OverflowError:
        return None
