"""Status transitions: the table of legal changes of a job."""

from __future__ import annotations

from datetime import datetime

from drumbeat.model.errors import IllegalChange
from drumbeat.model.jobs.job import Change, Status

LEGAL: dict[tuple[Status, Change], Status] = {
    (Status.PENDING, Change.PROMOTE): Status.QUEUED,
    (Status.PENDING, Change.CANCEL): Status.CANCELLED,
    (Status.QUEUED, Change.CLAIM): Status.RUNNING,
    (Status.QUEUED, Change.CANCEL): Status.CANCELLED,
    (Status.RUNNING, Change.COMPLETE): Status.COMPLETED,
    (Status.RUNNING, Change.RETRY): Status.PENDING,
    (Status.RUNNING, Change.SNOOZE): Status.PENDING,
    (Status.RUNNING, Change.GIVE_BACK): Status.QUEUED,
    (Status.RUNNING, Change.FAIL): Status.FAILED,
    (Status.RUNNING, Change.CANCEL): Status.CANCELLED,
    (Status.FAILED, Change.REOPEN): Status.QUEUED,
    (Status.CANCELLED, Change.REOPEN): Status.QUEUED,
}

SETTLING = frozenset(change for before, change in LEGAL if before is Status.RUNNING)
"""The changes that a settlement may ask for."""

UNCOUNTED = frozenset({Change.SNOOZE, Change.GIVE_BACK})
"""The changes after which the attempt does not count."""


def allows(before: Status, change: Change) -> bool:
    return (before, change) in LEGAL


def after(before: Status, change: Change) -> Status:
    """The status after a change; raises `IllegalChange` if the table does not allow it."""
    try:
        return LEGAL[before, change]
    except KeyError:
        raise IllegalChange(before, change) from None


def waiting(run_at: datetime, now: datetime) -> Status:
    """The status of a new job: pending until its time, else queued for a worker."""
    return Status.PENDING if run_at > now else Status.QUEUED


def settled(change: Change, *, cancel_requested: bool, too_late: bool = False) -> Change:
    """The change that a settlement makes: a cancelled job does not wait again.

    `too_late` says that the job will have expired when its wait is over. Instead of waiting for a
    retry that cannot start, it fails now, with the error of its attempt.
    """
    if cancel_requested and change in (Change.RETRY, Change.SNOOZE, Change.GIVE_BACK):
        return Change.CANCEL
    if too_late and change is Change.RETRY:
        return Change.FAIL
    return change
