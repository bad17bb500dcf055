"""LeadershipStatus: who leads, for any part of an app."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from drumbeat.engine.leading.candidacy import RESIGNED
from drumbeat.engine.leading.leadership import Leadership
from drumbeat.engine.plumbing.bus import Bus, EventListener
from drumbeat.model.events import LeadershipGained, LeadershipLost
from drumbeat.model.fleet.lease import SCHEDULER, Lease
from drumbeat.model.fleet.outage import Outage
from drumbeat.ports.coordinator import Coordinator

Gained = TypeVar("Gained", bound=EventListener[LeadershipGained])
Lost = TypeVar("Lost", bound=EventListener[LeadershipLost])


class LeadershipStatus:
    """Whether this node leads, which node does, and listeners for changes."""

    def __init__(
        self, find: Callable[[], Leadership | None], coordinator: Coordinator, bus: Bus
    ) -> None:
        self._find = find
        self._coordinator = coordinator
        self._bus = bus

    @property
    def is_leader(self) -> bool:
        """Whether this node leads and may act on it now. False on a node that is not running."""
        return self.epoch is not None

    @property
    def epoch(self) -> int | None:
        """The epoch of this node's present term; None if it does not lead."""
        leadership = self._find()
        term = leadership.term if leadership is not None else None
        return term.epoch.number if term is not None else None

    @property
    def lease_remaining(self) -> float:
        """Seconds for which this node may lead without a renewal; 0: it does not lead."""
        leadership = self._find()
        return leadership.lease_remaining if leadership is not None else 0.0

    @property
    def outage(self) -> Outage | None:
        """The error of the coordinator and since when; None: it answers, or it is not asked.

        During an outage nobody new can lead, so an app should report itself as unhealthy.
        """
        leadership = self._find()
        return leadership.outage if leadership is not None else None

    async def leader(self) -> Lease | None:
        """The lease of the leader, as the coordinator has it; None if nobody leads."""
        await self._coordinator.open()
        return await self._coordinator.leases.current(SCHEDULER)

    def resign(self, reason: str = RESIGNED) -> None:
        """Give leadership up, if this node has it, and let others go first."""
        leadership = self._find()
        if leadership is not None:
            leadership.resign(reason)

    def on_gained(self, listener: Gained) -> Gained:
        """Call the listener whenever this node begins to lead. Usable as a decorator."""
        self._bus.on(LeadershipGained, listener)
        return listener

    def on_lost(self, listener: Lost) -> Lost:
        """Call the listener whenever this node stops leading. Usable as a decorator."""
        self._bus.on(LeadershipLost, listener)
        return listener
