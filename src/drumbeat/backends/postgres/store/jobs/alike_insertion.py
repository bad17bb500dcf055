"""The insertion of jobs that differ only in their arguments: the usual case."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from drumbeat.backends.postgres.connection.database import Database
from drumbeat.backends.postgres.connection.statements import Bound
from drumbeat.backends.postgres.store.jobs.job_row import new_job
from drumbeat.backends.postgres.store.jobs.new_jobs import Kind
from drumbeat.model.fast_construction import fast_constructor
from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import Inserted, Job, JobSpec, Status
from drumbeat.ports.store import At, Topic
from drumbeat.rules.jobs.transitions import waiting

QUEUED = Status.QUEUED

new_inserted = fast_constructor(Inserted)


class AlikeInsertion:
    """Creates jobs of one kind that are due now and have neither limits nor dedupe keys."""

    def __init__(self, database: Database, sql: Bound) -> None:
        self._database = database
        self._sql = sql

    async def insert(self, kind: Kind, specs: Sequence[JobSpec], at: At) -> list[Inserted]:
        """Create the jobs. Workers are notified together with others that are created now."""
        common = (kind.queue, kind.task, kind.rank, kind.options)
        arguments = [spec.arguments for spec in specs]
        hints = self._database.hints(Topic.JOBS.value)
        mark = hints.begin()
        notify = mark is not None
        rows = None
        if len(specs) == 1:  # no row: its lane does not exist yet
            rows = await self._database.fetch(
                self._sql.insert_one, *common, arguments[0], at, notify
            )
        if not rows:
            rows = await self._database.fetch(
                self._sql.insert_alike, *common, arguments, at, notify
            )
        hints.end(mark)
        moment, ids, *_ = rows[0]
        return [
            new_inserted(new_job(job_id, spec, QUEUED, moment, moment))
            for spec, job_id in zip(specs, ids, strict=True)
        ]


def created_job(job_id: JobId, spec: JobSpec, moment: datetime) -> Job:
    """The job of a spec that was inserted at that moment."""
    if spec.run_at is None and not spec.delay:
        return new_job(job_id, spec, QUEUED, moment, moment)
    run_at = moment + spec.delay if spec.run_at is None else spec.run_at
    return new_job(job_id, spec, waiting(run_at, moment), run_at, moment)
