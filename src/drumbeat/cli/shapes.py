"""Shapes: what `-o json` says of each thing. They are those of the HTTP API."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import msgspec

from drumbeat.model.audit import AuditEntry
from drumbeat.model.job import AttemptRecord, Job
from drumbeat.model.json_depth import is_deeper
from drumbeat.model.lease import Lease, TermRecord
from drumbeat.model.node import NodeRecord
from drumbeat.model.operation import Operation
from drumbeat.model.plan import TickRecord
from drumbeat.model.queue import PausedQueue, QueueRecord
from drumbeat.model.schedule import StoredSchedule
from drumbeat.model.token import TokenRecord
from drumbeat.wire.audit import audit_view
from drumbeat.wire.election import leader_view, term_view
from drumbeat.wire.job import attempt_view, job_view
from drumbeat.wire.node import node_view
from drumbeat.wire.operation import operation_view
from drumbeat.wire.queue import paused_view, queue_view
from drumbeat.wire.redaction import Secrets, no_secrets
from drumbeat.wire.schedule import schedule_view
from drumbeat.wire.tick import tick_view
from drumbeat.wire.token import token_view

Shape = dict[str, Any]


def job_shape(job: Job, secrets: Secrets = no_secrets) -> Shape:
    """A job."""
    return _shape(job_view(job, secrets))


def attempt_shape(attempt: AttemptRecord) -> Shape:
    """A past attempt of a job."""
    return _shape(attempt_view(attempt))


def operation_shape(operation: Operation) -> Shape:
    """A change of many jobs."""
    return _shape(operation_view(operation))


def schedule_shape(stored: StoredSchedule, secrets: Secrets = no_secrets) -> Shape:
    """A schedule, as it is defined and where it stands."""
    return _shape(schedule_view(stored, secrets))


def tick_shape(tick: TickRecord) -> Shape:
    """A row of the ledger."""
    return _shape(tick_view(tick))


def node_shape(record: NodeRecord) -> Shape:
    """A node."""
    return _shape(node_view(record))


def leader_shape(lease: Lease | None) -> Shape:
    """Who leads; every value None if nobody does."""
    return _shape(leader_view(lease))


def term_shape(term: TermRecord) -> Shape:
    """A term that became an epoch."""
    return _shape(term_view(term))


def queue_shape(record: QueueRecord, as_of: datetime) -> Shape:
    """A queue."""
    return _shape(queue_view(record, as_of))


def paused_shape(paused: PausedQueue) -> Shape:
    """Why a queue is paused, and since when."""
    return _shape(paused_view(paused))


def token_shape(record: TokenRecord, state: str) -> Shape:
    """A token, without what would let anybody in."""
    return {**_shape(token_view(record)), "state": state}


def audit_shape(entry: AuditEntry) -> Shape:
    """A change that somebody asked for."""
    return _shape(audit_view(entry))


def parsed(text: bytes) -> object:
    """Stored JSON as a value; what is none, or nested too deeply, is shown as text."""
    if is_deeper(text):
        return text.decode(errors="replace")
    try:
        return json.loads(text)
    except ValueError:
        return text.decode(errors="replace")


def _shape(view: msgspec.Struct) -> Shape:
    shape: Shape = json.loads(msgspec.json.encode(view))
    return shape
