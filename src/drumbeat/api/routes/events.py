"""The route for the stream of events."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from drumbeat.api.http.call import Call
from drumbeat.api.http.problem import Problem
from drumbeat.api.http.response import Stream
from drumbeat.api.http.route import AnyRoute, read_route
from drumbeat.fleet.local.phase import Phase
from drumbeat.wire.event import EventKind

MEDIA_TYPE = "text/event-stream"


class EventQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    """Which events are wanted."""

    kinds: list[EventKind] = []
    """Only these; may be repeated, or separated by commas."""
    last_event_id: Annotated[str, Meta(max_length=100)] = ""
    """Where to go on, for clients that cannot send the header `Last-Event-ID`."""


async def events(call: Call[EventQuery, None]) -> Stream:
    services = call.fleet.services
    if services.phase() in (Phase.STOPPING, Phase.STOPPED):
        raise Problem(503, "stopping", "this server stops; ask another")
    last = call.headers.get(b"last-event-id", b"").decode("latin-1")
    feed, reader = services.feed, services.feed.subscribe(call.query.kinds)
    return Stream(
        feed.chunks(reader, last or call.query.last_event_id),
        MEDIA_TYPE,
        reader.over,
        allowed=lambda: call.access.still_admits(call),
        closed=lambda: feed.leave(reader),
    )


ROUTES: tuple[AnyRoute, ...] = (
    read_route(
        "/events",
        "Stream what happens, as server-sent events",
        str,
        events,
        query=EventQuery,
        media_type=MEDIA_TYPE,
        headers={"Last-Event-ID": "The last event that was seen: the stream goes on after it."},
    ),
)
