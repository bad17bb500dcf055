"""Events of the local fleet."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection
from contextlib import aclosing

from drumbeat.fleet.local.services import Services
from drumbeat.wire.event import READY, EventKind, FleetEvent, read_event


class LocalEvents:
    """Implements `FleetEvents` over the feed that the HTTP API sends as it is."""

    def __init__(self, services: Services) -> None:
        self._feed = services.feed

    async def follow(
        self, kinds: Collection[EventKind] = (), after: str = ""
    ) -> AsyncGenerator[FleetEvent]:
        reader = self._feed.subscribe(kinds)
        try:
            async with aclosing(self._feed.chunks(reader, after)) as chunks:
                async for chunk in chunks:
                    for text in chunk.decode().split("\n\n"):
                        fields = dict(line.split(": ", 1) for line in text.splitlines())
                        event = read_event(fields)
                        if event is not None and event.kind != READY:
                            yield event
        finally:
            self._feed.leave(reader)
