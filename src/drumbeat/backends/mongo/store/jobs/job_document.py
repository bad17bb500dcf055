"""Job documents: jobs as the store keeps them, and the values that it returns.

Fields that only the store uses:

- `revision` is raised by every change; `stamps` are the changes that came last (`job_writes.py`).
- `decision` and `becomes`: the job is prepared, and nobody sees it yet (`decisions.py`).
- `key` is the digest of the dedupe identity; `guard` is the same, of the one job that has the key.
- `free_at`: when a finished job's dedupe key is free again. `kept_until`: until when a finished
  job with a retention of its own is kept.
- `limited`: it has limits or a rate. `plain`: neither these, nor a key, nor a retention.
- `reserved`: until when only one worker may try to claim it; `claim`: the last claim that did.
- `pruned`: the round of pruning that has it (`retention.py`).
"""

from __future__ import annotations

from typing import Any

from drumbeat.backends.mongo.connection.client import Document
from drumbeat.backends.mongo.store.storable_text import name, readable
from drumbeat.backends.mongo.store.times import (
    length,
    to_instant,
    to_instant_or_none,
    to_length,
    to_number,
)
from drumbeat.model.fast_construction import fast_constructor
from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import (
    Attempt,
    AttemptRecord,
    Change,
    Hold,
    Job,
    JobSpec,
    Limit,
    OnConflict,
    Progress,
    Rate,
    Status,
)
from drumbeat.model.jobs.job_options import options_from_text, options_to_text, stored_spec
from drumbeat.rules.jobs.transitions import waiting

PREPARED = "prepared"
"""The status of a job that nobody sees yet."""
PRUNED = "pruned"
"""The status of a job that nobody sees any more."""
HIDDEN = (PREPARED, PRUNED)
VISIBLE = {"status": {"$nin": [*HIDDEN]}}

new_job = fast_constructor(Job)
new_hold = fast_constructor(Hold)
new_attempt = fast_constructor(Attempt)


def new_document(spec: JobSpec, job_id: int, now: int) -> Document:
    """A new job."""
    run_at = now
    if spec.run_at is not None:
        run_at = to_number(spec.run_at)
    elif spec.delay:
        run_at += length(spec.delay)
    status = waiting(to_instant(run_at), to_instant(now))
    limited = spec.rate is not None or spec.limits != ()
    document: Document = {
        "_id": job_id,
        "task": name("the task", spec.task),
        "arguments": spec.arguments,
        "queue": name("the queue", spec.queue),
        "priority": spec.priority,
        "status": status.value,
        "run_at": run_at,
        "created_at": now,
        "attempt": 0,
        "fence": 0,
        "revision": 0,
        "limited": limited,
        "reserved": 0,
        "plain": not limited and spec.dedupe_key is None and spec.retention is None,
    }
    if status is Status.QUEUED:
        document["queued_at"] = now
    return {**document, **_rare_fields(spec, now)}


def _rare_fields(spec: JobSpec, now: int) -> Document:
    """The fields that only some jobs have: indexes of them leave out all others."""
    expires_at = spec.expires_at(to_instant(now))
    fields: Document = {
        "options": options_to_text(spec),
        "schedule": None if spec.schedule is None else name("the schedule", spec.schedule),
        "tick_at": None if spec.tick_at is None else to_number(spec.tick_at),
        "limits": [
            {
                "key": name("the limit", each.key),
                "at_most": each.at_most,
                "on": each.on_conflict.value,
            }
            for each in spec.limits
        ]
        or None,
        "rate": None if spec.rate is None else _rate_fields(spec.rate),
        "tags": [name("a tag", tag) for tag in spec.tags] or None,
        "key": spec.dedupe_guard,
        "expires_at": None if expires_at is None else to_number(expires_at),
    }
    return {field: value for field, value in fields.items() if value is not None}


def _rate_fields(rate: Rate) -> Document:
    key = name("the rate", rate.key)
    return {"key": key, "at_most": rate.at_most, "per": length(rate.per)}


def spec_of(document: Document) -> JobSpec:
    rate = document.get("rate")
    return stored_spec(
        document["task"],
        document["arguments"],
        document["queue"],
        document["priority"],
        document.get("schedule"),
        to_instant_or_none(document.get("tick_at")),
        limits_of(document),
        None if rate is None else rate_of(rate),
        tuple(document.get("tags", ())),
        *options_from_text(document.get("options")),
    )


def limits_of(document: Document) -> tuple[Limit, ...]:
    return tuple(
        Limit(each["key"], each["at_most"], OnConflict(each["on"]))
        for each in document.get("limits", ())
    )


def rate_of(rate: Document) -> Rate:
    return Rate(rate["key"], rate["at_most"], to_length(rate["per"]))


def job_of(document: Document) -> Job:
    return new_job(
        JobId(document["_id"]),
        spec_of(document),
        Status(document["status"]),
        to_instant(document["run_at"]),
        to_instant(document["created_at"]),
        document["attempt"],
        document["fence"],
        document.get("node"),
        to_instant_or_none(document.get("started_at")),
        to_instant_or_none(document.get("finished_at")),
        document.get("result"),
        document.get("error"),
        _progress_of(document),
        document.get("cancel_requested", False),
    )


def attempt_of(document: Document) -> Attempt:
    """The attempt of a running job."""
    return new_attempt(
        new_hold(JobId(document["_id"]), document["fence"]),
        document["attempt"],
        spec_of(document),
        document["node"],
        to_instant(document["started_at"]),
        to_instant(document["created_at"]),
    )


def attempts_of(document: Document) -> list[AttemptRecord]:
    """The ended attempts. One that completed its job is not in the history."""
    rows: list[list[Any]] = [*document.get("history", ())]
    if document["status"] == Status.COMPLETED:
        rows.append(
            history_row(document, Change.COMPLETE, document.get("error"), document["finished_at"])
        )
    return [
        AttemptRecord(
            number, fence, node, to_instant(started), to_instant(ended), Change(change), error
        )
        for number, fence, node, started, ended, change, error in rows
    ]


def history_row(
    document: Document, change: Change, error: str | None, ended_at: int
) -> list[object]:
    """A running attempt that ends."""
    attempt, fence, node = document["attempt"], document["fence"], document["node"]
    return [attempt, fence, node, document["started_at"], ended_at, change.value, error]


def progress_fields(progress: Progress) -> list[object]:
    return [progress.done, progress.total, readable(progress.message)]


def finishing(document: Document, status: Status, now: int) -> Document:
    """The fields that change when a job ends."""
    fields: Document = {"status": status.value, "finished_at": now}
    if not document["plain"]:
        spec = spec_of(document)
        if spec.dedupe_key is not None:
            fields["free_at"] = now + length(spec.dedupe_for)
        if spec.retention is not None:
            fields["kept_until"] = max(now + length(spec.retention), fields.get("free_at", now))
    return fields


def stands(document: Document, now: int) -> bool:
    """Whether a job keeps others with its dedupe key from being created."""
    if document["status"] in HIDDEN:
        return False
    if not Status(document["status"]).final:
        return True
    return bool(document.get("free_at", now) > now)


def _progress_of(document: Document) -> Progress | None:
    found = document.get("progress")
    return None if found is None else Progress(*found)
