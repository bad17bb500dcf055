"""Durations in the units of the Redis server."""

from __future__ import annotations

from datetime import timedelta

MILLISECOND = timedelta(milliseconds=1)


def microseconds(length: timedelta) -> int:
    return length // timedelta(microseconds=1)


def milliseconds(length: timedelta) -> int:
    """Whole milliseconds, rounded up, and at least one: the server rejects a TTL of zero."""
    return max(1, -(-length // MILLISECOND))


def time_left(remaining: int) -> timedelta:
    """How long to wait for a key to expire: it lives to the end of its last millisecond."""
    return (remaining + 1) * MILLISECOND
