"""Inserting: jobs are created in one round trip, however many."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from drumbeat.model.ids import JobId
from drumbeat.model.job import Inserted, Job, JobSpec, Status
from drumbeat.model.swift import swift
from drumbeat.ports.store import At, Topic
from drumbeat.postgres.database import Database
from drumbeat.postgres.statements import Bound
from drumbeat.rules.statuses import waiting
from drumbeat.stores.postgres.rows import new_job

QUEUED = Status.QUEUED

new_inserted = swift(Inserted)


class Inserting:
    """Creates usual jobs: alike but for their arguments, due now, with neither terms nor keys."""

    def __init__(self, database: Database, sql: Bound) -> None:
        self._database = database
        self._sql = sql

    async def insert(self, specs: Sequence[JobSpec], alike: list[Any], at: At) -> list[Inserted]:
        """Create them. The workers are told of them together with others that are created now."""
        *common, arguments = alike
        fetch = self._database.fetch
        hints = self._database.hints(Topic.JOBS.value)
        mark = hints.begin()
        tells = mark is not None
        if len(specs) > 1:
            rows = await fetch(self._sql.insert_alike, *common, arguments, at, tells)
        else:
            one = (*common, arguments[0], at, tells)
            rows = await fetch(self._sql.insert_one, *one)
            rows = rows or await fetch(self._sql.insert_first, *one)
        hints.end(mark)
        moment, ids = rows[0][:2]
        return [
            new_inserted(new_job(job_id, spec, QUEUED, moment, moment))
            for spec, job_id in zip(specs, ids, strict=True)
        ]


def inserted(
    specs: Sequence[JobSpec], ids: Sequence[JobId | None], moment: datetime
) -> list[Inserted | None]:
    """What became of each spec; None: another job stands for its dedupe key."""
    return [
        None if job_id is None else new_inserted(created(job_id, spec, moment))
        for spec, job_id in zip(specs, ids, strict=True)
    ]


def created(job_id: JobId, spec: JobSpec, moment: datetime) -> Job:
    """The job that a spec became at that moment."""
    if spec.run_at is None and not spec.delay:
        return new_job(job_id, spec, QUEUED, moment, moment)
    run_at = moment + spec.delay if spec.run_at is None else spec.run_at
    return new_job(job_id, spec, waiting(run_at, moment), run_at, moment)
