"""Shapes: what `-o json` says of each thing. Programs read them, so they only ever grow."""

from __future__ import annotations

import json
from dataclasses import fields
from datetime import datetime, timedelta
from typing import Any

from drumbeat.model.job import AttemptRecord, Job
from drumbeat.model.lease import Lease
from drumbeat.model.node import NodeRecord
from drumbeat.model.plan import TickRecord
from drumbeat.model.schedule import StoredSchedule

Shape = dict[str, Any]


def job_shape(job: Job) -> Shape:
    """A job."""
    spec = job.spec
    progress = job.progress
    return {
        "id": job.id,
        "task": job.task,
        "status": str(job.status),
        "queue": spec.queue,
        "priority": spec.priority,
        "arguments": parsed(spec.arguments),
        "attempt": job.attempt,
        "created_at": job.created_at,
        "run_at": job.run_at,
        "started_at": job.started_at,
        "finished_at": job.finished_at,
        "node": job.node,
        "schedule": spec.schedule,
        "tick_at": spec.tick_at,
        "dedupe_key": spec.dedupe_key,
        "tags": list(spec.tags),
        "result": None if job.result is None else parsed(job.result),
        "error": job.error,
        "cancel_requested": job.cancel_requested,
        "progress": progress
        and {"done": progress.done, "total": progress.total, "message": progress.message},
    }


def attempt_shape(attempt: AttemptRecord) -> Shape:
    """A past attempt of a job."""
    return {
        "number": attempt.number,
        "fence": attempt.fence,
        "node": attempt.node,
        "started_at": attempt.started_at,
        "ended_at": attempt.ended_at,
        "change": str(attempt.change),
        "error": attempt.error,
    }


def schedule_shape(stored: StoredSchedule) -> Shape:
    """A schedule, as it is defined and where it stands."""
    schedule = stored.schedule
    policies = {
        each.name: _policy(getattr(schedule.policies, each.name))
        for each in fields(schedule.policies)
    }
    return {
        "name": stored.name,
        "task": schedule.task,
        "when": schedule.trigger.describe(),
        "trigger": schedule.trigger.to_json(),
        "paused": stored.paused,
        "pause_reason": stored.pause_reason,
        "next_tick": stored.next_tick,
        "cursor": stored.cursor,
        "runs": stored.runs,
        "last_job": stored.last_job,
        "skips": sorted(stored.skips),
        "queue": schedule.job.queue,
        "arguments": parsed(schedule.job.arguments),
        "policies": policies,
        "origin": str(stored.origin),
        "version": stored.version,
        "description": schedule.description,
        "created_at": stored.created_at,
        "updated_at": stored.updated_at,
    }


def tick_shape(tick: TickRecord) -> Shape:
    """A row of the ledger."""
    return {
        "schedule": tick.schedule,
        "tick_at": tick.tick_at,
        "through": tick.through,
        "count": tick.count,
        "outcome": str(tick.outcome),
        "reason": tick.reason and str(tick.reason),
        "job_id": tick.job_id,
        "leader": tick.leader,
        "epoch": tick.epoch,
        "lateness_seconds": tick.lateness.total_seconds(),
        "recorded_at": tick.recorded_at,
        "backfilled": tick.backfilled,
    }


def node_shape(record: NodeRecord) -> Shape:
    """A node."""
    node = record.node
    return {
        "id": node.id,
        "label": node.label,
        "roles": sorted(node.roles),
        "alive": record.alive,
        "draining": node.draining,
        "drain_requested": record.drain_requested,
        "version": node.version,
        "slots": node.slots,
        "busy": node.busy,
        "queues": list(node.queues),
        "started_at": node.started_at,
        "beat_at": record.beat_at,
        "expires_at": record.expires_at,
    }


def leader_shape(lease: Lease | None) -> Shape:
    """Who leads; every value None if nobody does."""
    return {
        "leader": lease and lease.holder,
        "election": lease and lease.name,
        "token": lease and lease.token,
        "ttl_seconds": lease and lease.ttl.total_seconds(),
    }


def parsed(text: bytes) -> object:
    """Stored JSON as a value; what is none is shown as text."""
    try:
        return json.loads(text)
    except ValueError:
        return text.decode(errors="replace")


def _policy(value: object) -> object:
    if isinstance(value, timedelta):
        return value.total_seconds()
    return value if isinstance(value, int | datetime | None) else str(value)
