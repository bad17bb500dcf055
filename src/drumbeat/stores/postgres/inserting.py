"""Inserting: jobs are created in one round trip, however many."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from drumbeat.model.ids import JobId
from drumbeat.model.job import Inserted, Job, JobSpec, Status
from drumbeat.model.swift import swift
from drumbeat.rules.statuses import waiting
from drumbeat.stores.postgres.rows import new_job

QUEUED = Status.QUEUED

new_inserted = swift(Inserted)


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
