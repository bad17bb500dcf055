"""The protocol for the stream of events."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection
from typing import Protocol

from drumbeat.wire.event import EventKind, FleetEvent


class FleetEvents(Protocol):
    """What happens in the fleet, as it happens."""

    def follow(
        self, kinds: Collection[EventKind] = (), after: str = ""
    ) -> AsyncGenerator[FleetEvent]:
        """Events of these kinds (none given: all), after the event of the id `after`.

        An event of the kind `reset` comes first if events after that id are lost: the caller has
        to read everything again. Something that changes several times between two looks at the
        store is told once, in its last state.
        """
        ...
