"""Lengths: durations as the server counts them."""

from __future__ import annotations

from datetime import timedelta

MICROSECOND = timedelta(microseconds=1)
MILLISECOND = timedelta(milliseconds=1)
SHORTEST = 1


def microseconds(length: timedelta) -> int:
    """The length as it was given."""
    return length // MICROSECOND


def milliseconds(length: timedelta) -> int:
    """The length as the server can keep it: whole milliseconds, rather longer than shorter."""
    return max(SHORTEST, -(-length // MILLISECOND))


def time_left(remaining: int) -> timedelta:
    """How long to wait for something to run out: a key lives to the end of its last millisecond."""
    return timedelta(milliseconds=remaining + 1)
