"""Dedupe keys: which job guards a key of a scope."""

from __future__ import annotations

from datetime import datetime

from drumbeat.backends.memory.store.jobs.job_record import JobRecord
from drumbeat.model.jobs.job import FINAL


class DedupeKeys:
    """The jobs of each dedupe key. It can have several: ticks and reopened jobs skip the check."""

    def __init__(self) -> None:
        self._jobs: dict[tuple[str, str], list[JobRecord]] = {}

    def standing(self, key: tuple[str, str], now: datetime) -> JobRecord | None:
        """The job that guards the key at this instant, the newest if there are several."""
        return next((job for job in reversed(self._jobs.get(key, ())) if stands(job, now)), None)

    def add(self, record: JobRecord) -> None:
        """Let a job guard its key, if it has one."""
        key = record.spec.dedupe_identity
        if key is not None:
            jobs = self._jobs.setdefault(key, [])
            if record not in jobs:
                jobs.append(record)

    def discard(self, record: JobRecord) -> None:
        key = record.spec.dedupe_identity
        if key is None:
            return
        jobs = self._jobs.get(key, [])
        if record in jobs:
            jobs.remove(record)
        if not jobs:
            self._jobs.pop(key, None)


def stands(record: JobRecord, now: datetime) -> bool:
    """Whether a job keeps others with its dedupe key from being created."""
    if record.spec.dedupe_key is None:
        return False
    if record.status not in FINAL or record.finished_at is None:
        return True
    return now - record.finished_at < record.spec.dedupe_for
