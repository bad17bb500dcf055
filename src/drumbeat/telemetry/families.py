"""Families: every metric by its name, its kind, its labels and its meaning.

Names follow the conventions of Prometheus: a prefix, base units, `_total` for what only rises.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What kind of number it is."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Family:
    """One metric."""

    name: str
    kind: Kind
    meaning: str
    labels: tuple[str, ...] = ()


LEADER_STATUS = Family(
    "drumbeat_leader_status", Kind.GAUGE, "1 while this node leads and may act on it, else 0."
)
LEADER_TRANSITIONS = Family(
    "drumbeat_leader_transitions_total",
    Kind.COUNTER,
    "How often this node began or ceased to lead.",
)
LEADER_LEASE_REMAINING = Family(
    "drumbeat_leader_lease_remaining_seconds",
    Kind.GAUGE,
    "How long this node may still trust in leading without a renewal; 0 while it does not lead.",
)
LEADER_EPOCH = Family(
    "drumbeat_leader_epoch",
    Kind.GAUGE,
    "The epoch of this node's present term; 0 while it does not lead.",
)
SCHEDULE_TICKS = Family(
    "drumbeat_schedule_ticks_total",
    Kind.COUNTER,
    "Ticks that this node took up as the leader: fired, or skipped for a reason.",
    ("outcome",),
)
SCHEDULE_LAG = Family(
    "drumbeat_schedule_lag_seconds",
    Kind.HISTOGRAM,
    "How late ticks fired.",
)
SCHEDULES_UNKNOWN = Family(
    "drumbeat_schedules_unknown_task",
    Kind.GAUGE,
    "Schedules in the store that code declared and whose task this node does not know.",
)
JOBS = Family(
    "drumbeat_jobs",
    Kind.GAUGE,
    "Jobs in the store by where they stand; the same from every node.",
    ("status", "queue"),
)
QUEUE_OLDEST_AGE = Family(
    "drumbeat_queue_oldest_age_seconds",
    Kind.GAUGE,
    "How long the oldest queued job of a queue has waited for a worker; the same from every node.",
    ("queue",),
)
JOBS_SUBMITTED = Family(
    "drumbeat_jobs_submitted_total",
    Kind.COUNTER,
    "Jobs that this node created, by a call or by a tick.",
    ("queue",),
)
JOBS_FINISHED = Family(
    "drumbeat_jobs_finished_total",
    Kind.COUNTER,
    "Jobs that were finished by an attempt which this node settled.",
    ("outcome", "queue"),
)
JOB_WAIT = Family(
    "drumbeat_job_wait_seconds",
    Kind.HISTOGRAM,
    "From when a job could have run to when this node first claimed it.",
    ("task",),
)
JOB_RUN = Family(
    "drumbeat_job_run_seconds",
    Kind.HISTOGRAM,
    "How long an attempt ran on this node, however it ended.",
    ("task",),
)
WORKER_SLOTS = Family(
    "drumbeat_worker_slots", Kind.GAUGE, "How many jobs this node may run at once."
)
WORKER_SLOTS_BUSY = Family(
    "drumbeat_worker_slots_busy", Kind.GAUGE, "How many jobs this node runs now."
)
CLOCK_SKEW = Family(
    "drumbeat_clock_skew_seconds",
    Kind.GAUGE,
    "How far this node's clock is ahead of the store's.",
)
STORE_UP = Family(
    "drumbeat_store_up", Kind.GAUGE, "1 if the store answered when it was last asked, else 0."
)
STORE_OPERATION = Family(
    "drumbeat_store_operation_seconds",
    Kind.HISTOGRAM,
    "How long an operation of the store took, as this node saw it.",
    ("operation",),
)
STORE_ERRORS = Family(
    "drumbeat_store_errors_total",
    Kind.COUNTER,
    "Operations of the store that failed, or were given up without an answer.",
    ("operation",),
)
BUILD_INFO = Family("drumbeat_build_info", Kind.GAUGE, "Always 1; says the version.", ("version",))

FAMILIES = (
    LEADER_STATUS,
    LEADER_TRANSITIONS,
    LEADER_LEASE_REMAINING,
    LEADER_EPOCH,
    SCHEDULE_TICKS,
    SCHEDULE_LAG,
    SCHEDULES_UNKNOWN,
    JOBS,
    QUEUE_OLDEST_AGE,
    JOBS_SUBMITTED,
    JOBS_FINISHED,
    JOB_WAIT,
    JOB_RUN,
    WORKER_SLOTS,
    WORKER_SLOTS_BUSY,
    CLOCK_SKEW,
    STORE_UP,
    STORE_OPERATION,
    STORE_ERRORS,
    BUILD_INFO,
)
"""All of them, in the order in which they are shown."""
