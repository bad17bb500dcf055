"""Jitter: how long after its tick a job runs, so that a fleet of schedules does not run at once."""

from __future__ import annotations

from datetime import datetime, timedelta
from hashlib import blake2b

from drumbeat.model.time.instant import MICROSECOND

BITS = 64


def jitter(name: str, tick: datetime, below: timedelta) -> timedelta:
    """A share of `below`, at least zero and always less than it.

    It depends only on the schedule's name and the tick, so every plan of the tick gets the same.
    """
    if not below:
        return below
    digest = blake2b(f"{name}\0{tick.isoformat()}".encode(), digest_size=BITS // 8).digest()
    # In whole numbers: a float could round the largest share up to all of it.
    share = int.from_bytes(digest, "big") * (below // MICROSECOND) >> BITS
    return timedelta(microseconds=share)
