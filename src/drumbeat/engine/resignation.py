"""Resignation: the leader gives its term up when a person asks for it, from any process.

The request is a value in the fleet's shared configuration that names one term, by the domain and
the token of its lease. So it can only ever end that very term: a request that comes late, or is
seen again by a later leader, means nobody.
"""

from __future__ import annotations

from contextlib import suppress

from drumbeat.engine.bus import Bus
from drumbeat.engine.elector import RESIGNED
from drumbeat.engine.leadership import Term
from drumbeat.engine.service import Service
from drumbeat.model.errors import Unavailable
from drumbeat.model.lease import Lease
from drumbeat.model.part import Part
from drumbeat.ports.coordinator import Coordinator
from drumbeat.ports.runtime import Runtime

LOOK_AGAIN = 5.0
"""Seconds after which a watch that ended by itself is begun anew."""


def request_for(lease: Lease) -> tuple[str, bytes]:
    """The key and the value that ask the holder of this term to resign."""
    return f"resign/{lease.name}", f"{lease.domain}:{lease.token}".encode()


class Resignation(Service):
    """Watches, during one term, whether a person wants it to end."""

    name = "resignation"
    backend = Part.COORDINATOR

    def __init__(self, term: Term, coordinator: Coordinator, runtime: Runtime, bus: Bus) -> None:
        super().__init__(runtime, bus)
        self._term = term
        self._coordinator = coordinator

    async def once(self) -> float | None:
        """Resign as soon as the request names this term.

        An outage of the coordinator is reported by whoever needs it to lead or to lock.
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
