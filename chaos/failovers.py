"""Failovers: how long nobody led, from the end of a term to the next epoch's first act.

The time does not run while nobody could have led: while a server is away, or while every node is
dead, asleep, cut off or held up. Nor while a handler blocks the event loop of the node that leads
next, for that may hold the lease.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from chaos.history import SERVER_FAULTS, Fault, History, Kind, Term

LATE = 3.0
"""Seconds after the end of a term within which somebody must lead again."""
UNABLE = frozenset({Kind.PAUSE, Kind.PARTITION, Kind.SLOW, Kind.BLOCK, Kind.SKEW})
"""What keeps a node from leading while it lives."""
SCHEDULING_ERROR = 0.01


@dataclass(frozen=True, slots=True)
class Failover:
    """One change of the leader."""

    before: Term
    after: Term
    since: float
    """From when on somebody could have led: the end of the term, or of what hindered everybody."""

    @property
    def seconds(self) -> float:
        """How long it took; an overlap of terms is none."""
        return max(0.0, self.after.since - self.since)


def bound(history: History) -> float:
    """What is promised of a failover on this pair."""
    return history.longest_term + LATE


def failovers(history: History) -> list[Failover]:
    """Every change of the leader, in order."""
    ordered = sorted(history.terms, key=lambda term: (term.since, term.epoch))
    hindrances = [*_server_faults(history), *_nobody_able(history)]
    return [
        Failover(
            before,
            after,
            _could_begin(before.until, after.since, hindrances),
        )
        for before, after in pairwise(ordered)
    ]


def _could_begin(vacant: float, led: float, hindrances: Sequence[tuple[float, float]]) -> float:
    """The last moment before somebody led at which nobody could have."""
    ends = [min(until, led) for since, until in hindrances if since < led and until > vacant]
    return max([vacant, *ends])


def _server_faults(history: History) -> Iterator[tuple[float, float]]:
    for fault in history.faults:
        if fault.kind in SERVER_FAULTS:
            yield fault.since, fault.until


def _nobody_able(history: History) -> Iterator[tuple[float, float]]:
    """The stretches in which no node could lead."""
    able = [
        stretch
        for life in history.lives
        for stretch in _without(
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


def _without(
    stretch: tuple[float, float], faults: Sequence[Fault]
) -> Iterator[tuple[float, float]]:
    """What is left of a life without the times in which the node was unable."""
    at, end = stretch
    for fault in sorted(faults, key=lambda fault: fault.since):
        if fault.kind not in UNABLE or fault.until <= at or fault.since >= end:
            continue
        if fault.since > at:
            yield at, fault.since
        at = max(at, fault.until)
    if at < end:
        yield at, end
