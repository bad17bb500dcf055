"""The stream of events of a remote fleet."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection
from contextlib import aclosing

from drumbeat.fleet.remote.request import Request
from drumbeat.fleet.remote.resource import RemoteResource
from drumbeat.model.errors import Unavailable
from drumbeat.wire.event import READY, EventKind, FleetEvent, read_event

SILENCE = 40.0
"""Seconds without data after which a stream counts as broken. The server sends every 15."""
PAUSE = 2.0
"""Seconds before a broken stream is opened again."""


class RemoteEvents(RemoteResource):
    """Implements `FleetEvents`."""

    async def follow(
        self, kinds: Collection[EventKind | str] = (), after: str = ""
    ) -> AsyncGenerator[FleetEvent]:
        """Events of these kinds (none given: all), after the event of the id `after`.

        When the connection breaks, it is opened again after the last event that came. A server
        that is away is asked every two seconds, without end. An event of the kind `reset` says
        that events were lost: read everything again.
        """
        last = after
        while True:
            try:
                async with aclosing(self._connected(kinds, last)) as events:
                    async for event in events:
                        last = event.id or last
                        if event.kind != READY:
                            yield event
            except Unavailable:
                pass
            await self._transport.pause(PAUSE)

    async def _connected(
        self, kinds: Collection[EventKind | str], last: str
    ) -> AsyncGenerator[FleetEvent]:
        query = [("kinds", EventKind(kind).value) for kind in kinds]
        headers = {"last-event-id": last} if last else {}
        request = Request("GET", "/events", query=query, headers=headers)
        async with self._transport.stream(request, SILENCE) as lines:
            fields: dict[str, str] = {}
            async for raw in lines:
                line = raw.decode().rstrip("\r\n")
                if line:
                    name, _, value = line.partition(":")
                    fields[name] = value.removeprefix(" ")
                    continue
                event = read_event(fields)
                fields = {}
                if event is not None:
                    yield event
