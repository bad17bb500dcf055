"""Totals: the number of jobs of a queue that ever ended, by status."""

from __future__ import annotations

from collections.abc import Mapping

from drumbeat.model.jobs.job import Status

ENDED = (Status.COMPLETED, Status.FAILED, Status.CANCELLED)


def totals(counts: Mapping[Status, int], forgotten: Mapping[Status, int]) -> dict[Status, int]:
    """The sum of stored and pruned jobs. Statuses without jobs are left out."""
    found = {status: counts.get(status, 0) + forgotten.get(status, 0) for status in ENDED}
    return {status: count for status, count in found.items() if count}
