"""Cancelling jobs, and queueing finished ones again."""

from __future__ import annotations

from dataclasses import replace

from drumbeat.backends.mongo.connection.client import Document
from drumbeat.backends.mongo.store.jobs.job_document import finishing, spec_of
from drumbeat.backends.mongo.store.jobs.job_writes import JobWrite
from drumbeat.model.jobs.job import Status
from drumbeat.model.jobs.job_options import options_to_text

WAITING = ("queued_at", "expires_at")
"""Fields that only a job has that waits."""


def cancelling(document: Document, reason: str, now: int) -> JobWrite:
    """End a waiting job as cancelled, or request the cancellation of a running one."""
    error = reason or None
    if document["status"] == Status.RUNNING:
        return JobWrite(document, {"error": error, "cancel_requested": True})
    ended = finishing(document, Status.CANCELLED, now)
    return JobWrite(document, {**ended, "error": error}, WAITING)


def reopening(document: Document, now: int) -> JobWrite:
    """Queue a failed or cancelled job again, as new but for its fence."""
    sets: Document = {"status": Status.QUEUED.value, "run_at": now, "queued_at": now, "attempt": 0}
    sets["reserved"] = 0
    unsets = [
        *("node", "started_at", "finished_at", "result", "error", "progress", "cancel_requested"),
        *("free_at", "kept_until"),
    ]
    spec = spec_of(document)
    if spec.expires is not None:
        options = options_to_text(replace(spec, expires=None))
        if options is None:
            unsets.append("options")
        else:
            sets["options"] = options
    return JobWrite(document, sets, tuple(unsets))
