"""Retention: the memory store's pruning."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from drumbeat.backends.memory.store.audit import MemoryAudit
from drumbeat.backends.memory.store.jobs.dedupe_keys import stands
from drumbeat.backends.memory.store.jobs.job_table import JobTable
from drumbeat.backends.memory.store.nodes import MemoryNodes
from drumbeat.backends.memory.store.schedules.ledger import Ledger
from drumbeat.backends.memory.store.step import Step
from drumbeat.ports.store import At


@dataclass(frozen=True, slots=True)
class Kept:
    """What grows with time, and so must be pruned."""

    table: JobTable
    ledger: Ledger
    nodes: MemoryNodes
    audit: MemoryAudit


class MemoryRetention:
    """Deletes what is old, in bounded steps."""

    def __init__(self, step: Step, kept: Kept) -> None:
        self._step = step
        self._kept = kept

    async def prune_jobs(self, older_than: timedelta, limit: int, at: At = None) -> int:
        with self._step as step:
            now = step.now(at)
            self._kept.table.admission.forget_starts(now)
            pruned = self._release_keys(now, limit)
            return pruned + self._prune_jobs(now - older_than, limit - pruned)

    async def prune_ticks(self, older_than: timedelta, limit: int, at: At = None) -> int:
        with self._step as step:
            return self._kept.ledger.prune(step.now(at) - older_than, limit)

    async def prune_nodes(self, older_than: timedelta, limit: int, at: At = None) -> int:
        with self._step as step:
            return self._kept.nodes.prune(step.now(at) - older_than, limit)

    async def prune_audit(self, older_than: timedelta, limit: int, at: At = None) -> int:
        with self._step as step:
            return self._kept.audit.prune(step.now(at) - older_than, limit)

    def _release_keys(self, now: datetime, limit: int) -> int:
        """Queue finished jobs for pruning whose dedupe key is free again.

        Those whose own retention is over are deleted; returns how many.
        """
        pruned = 0
        guarding, finished = self._kept.table.guarding, self._kept.table.finished
        while (first := guarding.first()) is not None and first[0] <= now and pruned < limit:
            record = self._kept.table.records.get(guarding.pop()[1])
            if record is None or record.finished_at is None or stands(record, now):
                continue
            retention = record.spec.retention
            if retention is None:
                finished.push((record.finished_at, record.id))
            elif record.finished_at + retention <= now:
                self._kept.table.forget(record)
                pruned += 1
        return pruned

    def _prune_jobs(self, ended_before: datetime, limit: int) -> int:
        finished, records = self._kept.table.finished, self._kept.table.records
        pruned = 0
        while pruned < limit and (first := finished.first()) is not None:
            if first[0] > ended_before:
                break
            record = records.get(finished.pop()[1])
            # It may have been reopened since, or even ended again: then it has a later entry.
            if record is not None and record.finished_at == first[0]:
                self._kept.table.forget(record)
                pruned += 1
        return pruned
