"""HandOver: the leader gives its term up when a person asks for it, from any process.

The request is a value in the fleet's shared configuration that names one term, by the domain and
the token of its lease. So it can only end that term: a later leader ignores it.
"""

from __future__ import annotations

from contextlib import suppress

from drumbeat.engine.leading.candidacy import RESIGNED
from drumbeat.engine.leading.leadership import Term
from drumbeat.engine.plumbing.service import Service, ServiceContext
from drumbeat.model.errors import Unavailable
from drumbeat.model.fleet.lease import Lease
from drumbeat.model.part import Part
from drumbeat.ports.coordinator import Coordinator

LOOK_AGAIN = 5.0
"""Seconds after which a watch that ended is restarted."""


def request_for(lease: Lease) -> tuple[str, bytes]:
    """The key and the value that ask the holder of this term to resign."""
    return f"resign/{lease.name}", f"{lease.domain}:{lease.token}".encode()


class HandOver(Service):
    """Watches, during one term, for a request to end it."""

    name = "hand-over"
    backend = Part.COORDINATOR

    def __init__(self, term: Term, coordinator: Coordinator, context: ServiceContext) -> None:
        super().__init__(context)
        self._term = term
        self._coordinator = coordinator

    async def once(self) -> float | None:
        """Resign as soon as the request names this term.

        An outage of the coordinator is reported by the services that need it to lead or to lock.
        """
        with suppress(Unavailable):
            await self._watch()
        return LOOK_AGAIN

    async def _watch(self) -> None:
        await self._coordinator.open()  # the node may have started while it was out of reach
        key, wanted = request_for(self._term.lease)
        async for entry in self._coordinator.configuration.watch(key):
            if entry is not None and entry.value == wanted:
                self._term.resign(RESIGNED)
                return
