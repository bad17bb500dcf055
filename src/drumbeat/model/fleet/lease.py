"""Leases: terms of leadership and of locks, and their epochs in the store."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from drumbeat.model.ids import NodeId

SCHEDULER = "scheduler"
"""The election whose leader fires ticks."""
TERMS_KEPT = 1_000
"""How many terms of an election the store keeps."""


@dataclass(frozen=True, slots=True)
class Lease:
    """One term that a coordinator granted. The token rises with each new term of the name."""

    name: str
    holder: NodeId
    domain: str
    """The coordinator's identity: a coordinator that lost its data has a new one."""
    token: int
    ttl: timedelta


@dataclass(frozen=True, slots=True)
class Epoch:
    """A term that the store has accepted. The store refuses the writes of every lower one."""

    election: str
    number: int


@dataclass(frozen=True, slots=True)
class Outranked:
    """The store has seen a later token of the same domain: this lease must not lead."""

    election: str
    seen: int
    """The epoch that holds the fence now."""


@dataclass(frozen=True, slots=True)
class FenceRow:
    """Who may write as the leader: the highest epoch, and the lease that claimed it."""

    election: str
    epoch: int
    domain: str
    token: int
    holder: NodeId


@dataclass(frozen=True, slots=True)
class TermRecord:
    """A term in the history of the store."""

    election: str
    epoch: int
    node: NodeId
    domain: str
    token: int
    since: datetime


@dataclass(frozen=True, slots=True)
class Entry:
    """A value of the shared configuration, with the revision of its last write."""

    key: str
    value: bytes
    revision: int
