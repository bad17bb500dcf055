"""The limits and the rate of a job, as the JSON text that the database reads and compares."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TypeAlias

from drumbeat.backends.postgres.store.storable_text import name
from drumbeat.backends.postgres.store.time import MICROSECOND, to_microseconds
from drumbeat.model.jobs.job import Limit, OnConflict, Rate

KEPT = 100_000
"""Texts whose values are cached: decoding one takes a hundred times as long."""

Limits: TypeAlias = tuple[tuple[Limit, ...], Rate | None]

NO_LIMITS: Limits = ((), None)

_encode = json.JSONEncoder(separators=(",", ":")).encode


def limits_to_text(limits: tuple[Limit, ...], rate: Rate | None) -> str | None:
    """The column `limits`; None: the job has neither limits nor a rate."""
    if not limits and rate is None:
        return None
    return _encode(
        [
            [
                [name("a limit's key", limit.key), limit.at_most, limit.on_conflict.value]
                for limit in limits
            ],
            None
            if rate is None
            else [name("a rate's key", rate.key), rate.at_most, to_microseconds(rate.per)],
        ]
    )


@lru_cache(maxsize=KEPT)
def limits_from_text(text: str) -> Limits:
    limits, rate = json.loads(text)
    return (
        tuple(Limit(key, at_most, OnConflict(answer)) for key, at_most, answer in limits),
        None if rate is None else Rate(rate[0], rate[1], rate[2] * MICROSECOND),
    )
