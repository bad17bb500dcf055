"""Events: a stream of what happens in the fleet."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from msgspec import Meta, Struct

from drumbeat.api.answer import Stream
from drumbeat.api.call import Call
from drumbeat.api.condition import Phase
from drumbeat.api.feed import MEDIA_TYPE
from drumbeat.api.problem import Problem
from drumbeat.api.resolver import AnyRoute
from drumbeat.api.route import Route
from drumbeat.model.token import Scope
from drumbeat.wire.event import EventKind


class EventQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    """Which events are wanted."""

    kinds: list[EventKind] = []
    """Only these; may be repeated, or separated by commas."""
    last_event_id: Annotated[str, Meta(max_length=100)] = ""
    """Where to go on, for clients that cannot send the header `Last-Event-ID`."""


async def events(call: Call[EventQuery, None]) -> Stream:
    """Events as they happen, until one side has enough of it."""
    if call.desk.phase() in (Phase.STOPPING, Phase.STOPPED):
        raise Problem(503, "stopping", "this server stops; ask another")
    last = call.headers.get(b"last-event-id", b"").decode("latin-1")
    stream = call.desk.feed.stream(call.query.kinds, last or call.query.last_event_id)
    return replace(stream, allowed=lambda: call.gate.still_admits(call))


ROUTES: tuple[AnyRoute, ...] = (
    Route(
        "GET",
        "/events",
        Scope.VIEWER,
        events,
        "Stream what happens, as server-sent events",
        str,
        query=EventQuery,
        media_type=MEDIA_TYPE,
        headers={"Last-Event-ID": "The last event that was seen: the stream goes on after it."},
    ),
)
