"""Totals: how many jobs of a queue have ended how, ever."""

from __future__ import annotations

from collections.abc import Mapping

from drumbeat.model.job import Status

ENDED = (Status.COMPLETED, Status.FAILED, Status.CANCELLED)
"""How a job may end."""


def totals(counts: Mapping[Status, int], forgotten: Mapping[Status, int]) -> dict[Status, int]:
    """Those that are kept, and those that were pruned. Statuses without jobs are left out."""
    found = {status: counts.get(status, 0) + forgotten.get(status, 0) for status in ENDED}
    return {status: count for status, count in found.items() if count}
