"""The fault plan of a run: a seed determines it before the run begins.

One sequence of faults affects servers and others affect nodes, so that faults overlap. Each
sequence uses all its kinds in random order before it repeats one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeVar

from chaos.history import Kind

T = TypeVar("T")

LEADER = "the leader"
SKEWS = (1.0, -1.0, 3600.0, -3600.0)
WAYS = ("both ways", "to the server", "to the node")
AWAY = {Kind.KILL: 0.5, Kind.PAUSE: 3.0, Kind.RESTART: 1.0, Kind.EMPTY: 0.5}
"""Seconds for which a part is away when all are hit in turn."""
SHARE_OF_LEADERS = 0.65
"""The share of node faults that target the leader."""


@dataclass(frozen=True, slots=True)
class PlannedFault:
    """One fault of the plan."""

    kind: Kind
    at: float
    seconds: float
    target: str
    """A node, the leader at that moment, or a server."""
    way: str = ""
    """The direction in which messages are cut."""
    server: str = ""
    """The server to which they are cut; all if empty."""
    amount: float = 0.0
    """The skew of a clock, or the delay of a message."""


@dataclass(frozen=True, slots=True)
class FaultTargets:
    """The nodes and servers of a run, and the faults that are possible on them."""

    nodes: Sequence[str]
    servers: Sequence[str]
    node_kinds: Sequence[Kind]
    server_kinds: Sequence[tuple[Kind, str]]
    """Each with the server that it affects."""


def plan_faults(seed: str, targets: FaultTargets, seconds: float, ttl: float) -> list[PlannedFault]:
    """All faults of a run, in order. The same seed gives the same plan."""
    sequences = max(1, (len(targets.nodes) - 1) // 2)
    faults = [
        fault
        for sequence in range(sequences)
        for fault in _node_faults(Random(f"{seed}/nodes/{sequence}"), targets, seconds, ttl)
    ]
    faults += _server_faults(Random(f"{seed}/servers"), targets, seconds, ttl)
    return sorted(faults, key=lambda fault: fault.at)


def in_turn(kinds: Sequence[Kind], targets: Sequence[str]) -> list[PlannedFault]:
    """Each kind of fault, on each of these targets in turn."""
    return [PlannedFault(kind, 0.0, AWAY[kind], target) for kind in kinds for target in targets]


def _node_faults(
    random: Random, targets: FaultTargets, seconds: float, ttl: float
) -> Iterator[PlannedFault]:
    at = random.uniform(0.5, 1.5)
    for kind in _shuffled(random, targets.node_kinds):
        length = _length(random, kind, ttl)
        if at + length > seconds:
            return
        led = random.random() < SHARE_OF_LEADERS
        target = LEADER if led else random.choice(targets.nodes)
        server = random.choice(["", *targets.servers])
        amount = random.uniform(0.05, ttl / 4) if kind is Kind.SLOW else random.choice(SKEWS)
        way = random.choice(WAYS)
        yield PlannedFault(kind, at, length, target, way, server, amount)
        at += length + random.uniform(0.25, 1.0) * ttl


def _server_faults(
    random: Random, targets: FaultTargets, seconds: float, ttl: float
) -> Iterator[PlannedFault]:
    at = random.uniform(1.0, 2.0) * ttl
    for kind, server in _shuffled(random, targets.server_kinds):
        length = random.uniform(0.2, 1.5) * ttl
        if at + length > seconds:
            return
        yield PlannedFault(kind, at, length, server)
        at += (
            length + random.uniform(4.0, 8.0) * ttl
        )  # enough time to restart and to elect a leader


def _length(random: Random, kind: Kind, ttl: float) -> float:
    if kind is Kind.BLOCK:
        return 3 * ttl
    if kind is Kind.STOP or kind is Kind.KILL:
        return random.uniform(0.2, 1.0) * ttl
    if kind is Kind.SKEW:
        return random.uniform(1.0, 2.0) * ttl
    return random.uniform(0.5, 3.0) * ttl


def _shuffled(random: Random, kinds: Sequence[T]) -> Iterator[T]:
    """All of them in random order, again and again."""
    while kinds:
        shuffled = list(kinds)
        random.shuffle(shuffled)
        yield from shuffled
