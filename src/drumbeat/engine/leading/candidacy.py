"""Candidacy: which node campaigns in which election, and why a term can end."""

from __future__ import annotations

from dataclasses import dataclass

from drumbeat.engine.leading.witness_keeper import WitnessKeeper
from drumbeat.model.ids import NodeId
from drumbeat.model.part import Asked
from drumbeat.ports.elector import Confirming
from drumbeat.rules.leadership.lease_trust import LeaseTimings

STOPPING = "stopping"
RESIGNED = "resigned"
WITHDRAWN = "withdrawn"
EXPIRED = "its lease ran out"
BLOCKED = "the event loop of this node is blocked"
SILENT = "the elector did not answer in time"
SHORT_REST = 0.1
"""Seconds of rest after a user's elector ended a term: the elector chooses who is next."""
VOLUNTARY = frozenset({STOPPING, RESIGNED, WITHDRAWN})
"""The reasons of a leader that gave its term up voluntarily."""


@dataclass(frozen=True, slots=True)
class Candidacy:
    """Which node campaigns in which election, and with which timings."""

    election: str
    node: NodeId
    timings: LeaseTimings
    retry_every: float
    """Seconds between two tries of a follower, when no hint of a vacancy comes."""
    fenced: bool = False
    """Whether a store refuses what an earlier leader still writes. Then a node whose event loop is
    blocked for longer than a TTL gives its term up; else whatever blocks it may rely on the term.
    """
    confirming: Confirming | None = None
    """Asks the user's elector right before ticks are fired; None: a lease is enough."""
    store_appoints: bool = False
    """Whether the store is the coordinator too, so that both fail together."""
    witness: WitnessKeeper | None = None
    """By what others notice the death of this node; None: by the end of its lease only."""

    @property
    def asked(self) -> Asked:
        if self.confirming is not None:
            return "elector"
        return "store" if self.store_appoints else "coordinator"
