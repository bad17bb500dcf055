"""Leases: terms of leadership and of locks, and the epochs that they become in the store."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from drumbeat.model.ids import NodeId

SCHEDULER = "scheduler"
"""The election whose leader fires ticks."""
TERMS_KEPT = 1_000
"""How many terms of an election the store remembers."""


@dataclass(frozen=True, slots=True)
class Lease:
    """One term, as a coordinator granted it. The token rises with each new term of the name."""

    name: str
    holder: NodeId
    domain: str
    """The coordinator's identity: a coordinator that was emptied or restored has a new one."""
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
    """The store's memory of who may write: the highest epoch, and the lease that claimed it."""

    election: str
    epoch: int
    domain: str
    token: int
    holder: NodeId


@dataclass(frozen=True, slots=True)
class TermRecord:
    """A term that became an epoch, as the store remembers it."""

    election: str
    epoch: int
    node: NodeId
    domain: str
    token: int
    since: datetime


@dataclass(frozen=True, slots=True)
class Entry:
    """A value of the coordinator's small configuration, with the number of its last write."""

    key: str
    value: bytes
    revision: int
