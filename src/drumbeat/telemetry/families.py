"""Every metric: its name, its kind, its labels and its meaning.

Names follow the conventions of Prometheus: a prefix, base units, `_total` for counters.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class MetricKind(StrEnum):
    """The kinds of metrics."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Family:
    """One metric."""

    name: str
    kind: MetricKind
    meaning: str
    labels: tuple[str, ...] = ()


def _counter(name: str, meaning: str, *labels: str) -> Family:
    return Family(f"drumbeat_{name}", MetricKind.COUNTER, meaning, labels)


def _gauge(name: str, meaning: str, *labels: str) -> Family:
    return Family(f"drumbeat_{name}", MetricKind.GAUGE, meaning, labels)


def _histogram(name: str, meaning: str, *labels: str) -> Family:
    return Family(f"drumbeat_{name}", MetricKind.HISTOGRAM, meaning, labels)


LEADER_STATUS = _gauge("leader_status", "1 while this node leads, else 0.")
LEADER_TRANSITIONS = _counter(
    "leader_transitions_total", "How often this node started or stopped leading."
)
DEATHS_NOTICED = _counter(
    "deaths_noticed_total",
    "Processes that this node found dead by their witness: leaders whose lease it ended, and nodes "
    "whose jobs it gave to others.",
    "role",
)
LEADER_LEASE_REMAINING = _gauge(
    "leader_lease_remaining_seconds",
    "How long this node may lead without renewing its lease; 0 while it does not lead.",
)
LEADER_EPOCH = _gauge("leader_epoch", "The epoch of this node's term; 0 while it does not lead.")
SCHEDULE_TICKS = _counter(
    "schedule_ticks_total",
    "Ticks that this node handled as the leader: fired, or skipped for a reason.",
    "outcome",
)
SCHEDULE_LAG = _histogram("schedule_lag_seconds", "How late ticks fired.")
SCHEDULES_UNKNOWN = _gauge(
    "schedules_unknown_task", "Schedules declared by code whose task this node does not know."
)
JOBS = _gauge("jobs", "Jobs in the store by status; the same on every node.", "status", "queue")
QUEUE_OLDEST_AGE = _gauge(
    "queue_oldest_age_seconds",
    "How long the oldest queued job has waited for a worker; the same on every node.",
    "queue",
)
JOBS_SUBMITTED = _counter(
    "jobs_submitted_total", "Jobs that this node created, by a call or by a tick.", "queue"
)
JOBS_FINISHED = _counter(
    "jobs_finished_total",
    "Jobs that reached a final status when this node settled an attempt, or that it found expired "
    "or skipped.",
    "outcome",
    "queue",
)
JOB_WAIT = _histogram(
    "job_wait_seconds", "Time from when a job could run until this node first claimed it.", "task"
)
JOB_RUN = _histogram(
    "job_run_seconds", "How long attempts ran on this node, however they ended.", "task"
)
WORKER_SLOTS = _gauge("worker_slots", "How many jobs this node may run at once.")
WORKER_SLOTS_BUSY = _gauge("worker_slots_busy", "How many jobs this node runs now.")
CLOCK_SKEW = _gauge("clock_skew_seconds", "How far this node's clock is ahead of the store's.")
STORE_UP = _gauge("store_up", "1 if the store answered when it was last asked, else 0.")
STORE_OPERATION = _histogram(
    "store_operation_seconds",
    "How long operations of the store took, as seen by this node.",
    "operation",
)
STORE_ERRORS = _counter(
    "store_errors_total", "Operations of the store that failed or timed out.", "operation"
)
TICKETS = _counter(
    "tickets_total",
    "Tickets that this node published, could not publish, received, or delivered again.",
    "action",
)
TICKETS_WAITING = _gauge(
    "tickets_waiting", "Tickets in the queue that no worker has used; the same on every node."
)
QUEUE_UP = _gauge("queue_up", "1 if the queue answered when it was last asked, else 0.")
BUILD_INFO = _gauge("build_info", "Always 1; its label is the version.", "version")

FAMILIES = tuple(each for each in tuple(globals().values()) if isinstance(each, Family))
"""All metrics, in the order in which they are shown."""
