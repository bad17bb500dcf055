"""Configuration: one frozen value, checked as a whole before anything starts."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TypedDict

from drumbeat.model.duration import parse_duration
from drumbeat.model.errors import ConfigurationError, InvalidInput
from drumbeat.model.job import DEFAULT_QUEUE

HIGHEST_CONCURRENCY = 10_000


class Settings(TypedDict, total=False):
    """The settings of an app, as keyword arguments of `Drumbeat`. `Config` says what each means."""

    namespace: str
    instance_id: str
    leader_election: bool
    lease_ttl: float | str | timedelta
    retry_interval: float | str | timedelta
    concurrency: int
    processes: int
    queues: tuple[str, ...]
    heartbeat_every: float | str | timedelta
    node_lifetime: float | str | timedelta
    keep_jobs: float | str | timedelta
    keep_ticks: float | str | timedelta
    keep_nodes: float | str | timedelta
    grace: float | str | timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Every setting of an app. Lengths of time may be given as seconds, `timedelta` or "15s"."""

    namespace: str = "drumbeat"
    """Keeps apps apart that share one store."""
    instance_id: str = field(default_factory=platform.node)
    """The node's label, for people. Several nodes may share it."""
    leader_election: bool = True
    """False: every instance takes itself for the leader. For a single instance, or for tests."""
    lease_ttl: float | str | timedelta = 10.0
    """How long a leader that went silent is waited for."""
    retry_interval: float | str | timedelta = 2.0
    """How often a follower tries to lead, when no hint of a vacancy comes."""
    concurrency: int = 100
    """How many jobs a node runs at once."""
    processes: int = field(default_factory=lambda: os.cpu_count() or 1)
    """How many `process=True` handlers a node runs at once."""
    queues: tuple[str, ...] = (DEFAULT_QUEUE,)
    """The queues that a node's worker serves."""
    heartbeat_every: float | str | timedelta = 5.0
    node_lifetime: float | str | timedelta = 20.0
    """How long a node that went silent is waited for before its jobs are given to others."""
    keep_jobs: float | str | timedelta = timedelta(days=7)
    """How long finished jobs are kept."""
    keep_ticks: float | str | timedelta = timedelta(days=90)
    """How long the ledger of ticks is kept."""
    keep_nodes: float | str | timedelta = timedelta(days=1)
    """How long nodes that are gone are still listed."""
    grace: float | str | timedelta = 30.0
    """How long running jobs may take to finish when the node stops."""

    def __post_init__(self) -> None:
        if not self.namespace.replace("-", "_").isidentifier():
            raise ConfigurationError(
                f"namespace must consist of letters, digits, - and _, not {self.namespace!r}"
            )
        if not self.instance_id:
            raise ConfigurationError("instance_id must not be empty")
        for name in ("concurrency", "processes"):
            if not 1 <= getattr(self, name) <= HIGHEST_CONCURRENCY:
                raise ConfigurationError(
                    f"{name} must lie between 1 and {HIGHEST_CONCURRENCY:,}, "
                    f"not {getattr(self, name)}"
                )
        if not self.queues or not all(self.queues):
            raise ConfigurationError("queues must name at least one queue, and no empty name")
        for name in LENGTHS:
            if self.seconds(name) <= 0 and name != "grace":
                raise ConfigurationError(
                    f"{name} must be longer than zero, not {getattr(self, name)}"
                )

    def seconds(self, name: str) -> float:
        """A length of time by its name, in seconds."""
        return self.length(name).total_seconds()

    def length(self, name: str) -> timedelta:
        """A length of time by its name."""
        try:
            return parse_duration(getattr(self, name))
        except InvalidInput as error:
            raise ConfigurationError(f"{name}: {error}") from None


LENGTHS = (
    "lease_ttl",
    "retry_interval",
    "heartbeat_every",
    "node_lifetime",
    "keep_jobs",
    "keep_ticks",
    "keep_nodes",
    "grace",
)
