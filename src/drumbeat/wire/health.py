"""The health of a node on the wire."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType


class HealthView(Struct, frozen=True, kw_only=True):
    """Whether a node is healthy, and whether it leads."""

    status: str
    """`healthy` or `unhealthy`."""
    instance_id: str
    """The node's label."""
    is_leader: bool
    coordinator_health: bool
    """Whether the coordinator answers."""
    queue_health: bool
    """Whether the queue answers; a node is healthy without, since the store hints its workers."""
    timestamp: int
    """Now, in seconds since 1970."""
    leader_election_enabled: bool
    will_execute_tasks: bool
    """Whether the node would run what is scheduled: it leads, or there are no elections."""
    reason: str | UnsetType = UNSET
    """Why it is unhealthy."""
    registered_tasks: list[str] | UnsetType = UNSET
    """The tasks that it knows; only for viewers."""


class ProbeView(Struct, frozen=True, kw_only=True):
    """The answer to a probe."""

    status: str
    """`ok`, or the problem in one word."""
    checks: dict[str, str] | UnsetType = UNSET
    """The result of each check, `ok` or its fault; only with `?verbose`."""


class LeaderView(Struct, frozen=True, kw_only=True):
    """Who leads."""

    current_leader: str | None
    """The label of the leading node; null: nobody leads."""
    is_leader: bool
    """Whether the node that answers does."""
    instance_id: str
    """The label of the node that answers."""


class MetricsView(Struct, frozen=True, kw_only=True):
    """The state of the fleet in a few numbers."""

    timestamp: int
    """Now, in seconds since 1970."""
    pending_jobs: int
    queued_jobs: int
    running_jobs: int
    completed_jobs: int
    """All that ever completed."""
    failed_jobs: int
    """All that ever failed."""
    jobs_dispatched: int
    """Jobs of the whole fleet that a worker has, or has brought to an end."""
    last_dispatch: int | None
    """When a job was last claimed, in seconds since 1970; null: by no node that is still listed."""
