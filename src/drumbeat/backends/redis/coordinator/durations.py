"""Durations in the units of the Redis server."""

from __future__ import annotations

from datetime import timedelta

MICROSECOND = timedelta(microseconds=1)
MILLISECOND = timedelta(milliseconds=1)
SHORTEST = 1


def microseconds(length: timedelta) -> int:
    return length // MICROSECOND


def milliseconds(length: timedelta) -> int:
    """Whole milliseconds, rounded up, as the server can keep them."""
    return max(SHORTEST, -(-length // MILLISECOND))


def time_left(remaining: int) -> timedelta:
    """How long to wait for a key to expire: it lives to the end of its last millisecond."""
    return timedelta(milliseconds=remaining + 1)
