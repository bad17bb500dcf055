"""Drawing: which faults come when, decided before the day begins and by its seed alone.

One hand harms servers, and others harm nodes; each does one thing after the other, so that faults
of several hands meet. Each goes through all its kinds, in an order of chance, before it repeats.
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
SHARE_OF_LEADERS = 0.65
"""How often it is the leader that is harmed."""


@dataclass(frozen=True, slots=True)
class Blow:
    """One fault that is to come."""

    kind: Kind
    at: float
    seconds: float
    target: str
    """A node, the leader of that moment, or a server."""
    way: str = ""
    """What of a wire is cut."""
    server: str = ""
    """To which server it is cut; none: to all."""
    amount: float = 0.0
    """The skew of a clock, or the delay of a message."""


@dataclass(frozen=True, slots=True)
class Field:
    """What there is to harm, and by what."""

    nodes: Sequence[str]
    servers: Sequence[str]
    node_kinds: Sequence[Kind]
    server_kinds: Sequence[tuple[Kind, str]]
    """With the server that each is done to."""


def draw(seed: str, field: Field, seconds: float, ttl: float) -> list[Blow]:
    """All faults of a day, in order. The same seed draws the same."""
    hands = max(1, (len(field.nodes) - 1) // 2)
    blows = [
        blow
        for hand in range(hands)
        for blow in _harm_nodes(Random(f"{seed}/nodes/{hand}"), field, seconds, ttl)
    ]
    blows += _harm_servers(Random(f"{seed}/servers"), field, seconds, ttl)
    return sorted(blows, key=lambda blow: blow.at)


def _harm_nodes(chance: Random, field: Field, seconds: float, ttl: float) -> Iterator[Blow]:
    at = chance.uniform(0.5, 1.5)
    for kind in _deck(chance, field.node_kinds):
        length = _length(chance, kind, ttl)
        if at + length > seconds:
            return
        led = chance.random() < SHARE_OF_LEADERS
        target = LEADER if led else chance.choice(field.nodes)
        server = chance.choice(["", *field.servers])
        amount = chance.uniform(0.05, ttl / 4) if kind is Kind.SLOW else chance.choice(SKEWS)
        way = chance.choice(WAYS)
        yield Blow(kind, at, length, target, way, server, amount)
        at += length + chance.uniform(0.25, 1.0) * ttl


def _harm_servers(chance: Random, field: Field, seconds: float, ttl: float) -> Iterator[Blow]:
    at = chance.uniform(1.0, 2.0) * ttl
    for kind, server in _deck(chance, field.server_kinds):
        length = chance.uniform(0.2, 1.5) * ttl
        if at + length > seconds:
            return
        yield Blow(kind, at, length, server)
        at += length + chance.uniform(4.0, 8.0) * ttl  # time enough to come back, and to lead


def _length(chance: Random, kind: Kind, ttl: float) -> float:
    if kind is Kind.BLOCK:
        return 3 * ttl
    if kind is Kind.STOP or kind is Kind.KILL:
        return chance.uniform(0.2, 1.0) * ttl
    if kind is Kind.SKEW:
        return chance.uniform(1.0, 2.0) * ttl
    return chance.uniform(0.5, 3.0) * ttl


def _deck(chance: Random, kinds: Sequence[T]) -> Iterator[T]:
    """All of them, shuffled, over and over."""
    while kinds:
        shuffled = list(kinds)
        chance.shuffle(shuffled)
        yield from shuffled
