"""Failovers: how long no node led, from the end of a term to the first act of the next epoch.

Time in which no node could have led does not count: while a server is away, or while every node is
dead, suspended, cut off or blocked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from chaos.history import SERVER_FAULTS, Fault, History, Kind, Term

LATE = 3.0
"""Seconds after the end of a term within which another node must lead."""
KILLED = 4.0
"""Seconds within which a killed leader is replaced if nothing else was wrong, whatever its TTL: the
others see its witness free. It takes about one; the rest is for a busy machine."""
UNDISTURBED = 6.0
"""Seconds without another fault before the death of a leader: others may wait for so long."""
UNABLE = frozenset({Kind.PAUSE, Kind.PARTITION, Kind.SLOW, Kind.BLOCK, Kind.SKEW})
"""The faults that keep a live node from leading."""
SCHEDULING_ERROR = 0.01


@dataclass(frozen=True, slots=True)
class Failover:
    """One change of the leader."""

    before: Term
    after: Term
    since: float
    """When another node could have led: the end of the term, or of the fault that blocked all."""

    @property
    def seconds(self) -> float:
        """How long it took; zero if the terms overlap."""
        return max(0.0, self.after.since - self.since)


def bound(history: History) -> float:
    """The promised time of a failover on this pair."""
    return history.longest_term + LATE


def promised(history: History, failover: Failover) -> float:
    """The promised time of this one: shorter if its leader was killed and all else was well."""
    left, came = failover.before, failover.after.since
    killed = [
        fault
        for fault in history.faults
        if fault.kind is Kind.KILL
        and fault.target == left.node
        and left.until <= fault.since < came
    ]
    if not killed:
        return bound(history)
    since = killed[0].since - UNDISTURBED
    others = (fault for fault in history.faults if fault is not killed[0])
    if any(fault.since < came and fault.until > since for fault in others):
        return bound(history)
    return min(KILLED, bound(history))


def failovers(history: History) -> list[Failover]:
    """All changes of the leader, in order."""
    ordered = sorted(history.terms, key=lambda term: (term.since, term.epoch))
    hindrances = [*_server_faults(history), *_no_node_able(history)]
    return [
        Failover(
            before,
            after,
            _could_begin(before.until, after.since, hindrances),
        )
        for before, after in pairwise(ordered)
    ]


def _could_begin(vacant: float, led: float, hindrances: Sequence[tuple[float, float]]) -> float:
    """The last moment before the next term at which no node could have led."""
    ends = [min(until, led) for since, until in hindrances if since < led and until > vacant]
    return max([vacant, *ends])


def _server_faults(history: History) -> Iterator[tuple[float, float]]:
    for fault in history.faults:
        if fault.kind in SERVER_FAULTS or fault.target not in history.nodes:
            yield fault.since, fault.until


def _no_node_able(history: History) -> Iterator[tuple[float, float]]:
    """The periods in which no node could lead."""
    able = [
        period
        for life in history.lives
        if not history.candidates or life.node in history.candidates
        for period in _without(
            (life.since, life.until),
            [fault for fault in history.faults if fault.target == life.node],
        )
    ]
    end = 0.0
    for since, until in sorted(able):
        if since > end + SCHEDULING_ERROR:
            yield end, since
        end = max(end, until)
    if end < history.seconds:
        yield end, history.seconds


def _without(period: tuple[float, float], faults: Sequence[Fault]) -> Iterator[tuple[float, float]]:
    """The periods of a life in which the node was able to lead."""
    at, end = period
    for fault in sorted(faults, key=lambda fault: fault.since):
        if fault.kind not in UNABLE or fault.until <= at or fault.since >= end:
            continue
        if fault.since > at:
            yield at, fault.since
        at = max(at, fault.until)
    if at < end:
        yield at, end
