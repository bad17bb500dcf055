"""Place: where a job stands among those of its limit group."""

from __future__ import annotations

from typing import NamedTuple


class Place(NamedTuple):
    """Ordered by higher priority (so negated), earlier `run_at`, lower id."""

    rank: int
    run_at: int
    id: int
