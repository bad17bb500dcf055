"""The ASGI application: routes a request, checks access, reads it, asks the fleet, responds."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urlencode

from drumbeat.api.access.access_control import AccessControl
from drumbeat.api.access.peer import text
from drumbeat.api.http.asgi import Connection, Headers, Receive, Send
from drumbeat.api.http.call import Call
from drumbeat.api.http.problem import Problem, problem_of
from drumbeat.api.http.request_body import BodyReader, Gone
from drumbeat.api.http.response import Response, Stream, json_response, new_response
from drumbeat.api.http.response_head import SAFE, WHOLE, headers_of, written_head
from drumbeat.api.http.route import AnyRoute
from drumbeat.api.http.router import Router
from drumbeat.api.http.stream_sender import StreamSender
from drumbeat.fleet.actor import Actor
from drumbeat.fleet.local.fleet import LocalFleet
from drumbeat.model.errors import DrumbeatError
from drumbeat.model.page import Page

log = logging.getLogger("drumbeat.api")

BROKEN = Problem(500, "error", "the request failed; the server's log says why")
REASON = b"x-drumbeat-reason"
REFUSED = 400
"""The first status of problems. Problems may also end the connection."""


class Api:
    """The HTTP API of one node, as an ASGI app. It can be mounted into another one."""

    def __init__(
        self, fleet: LocalFleet, access: AccessControl, routes: Iterable[AnyRoute]
    ) -> None:
        self._fleet = fleet
        self._access = self.access = access
        self._router = Router(routes)
        clock = fleet.services.runtime.clock
        self._reader = BodyReader(clock)
        self._streams = StreamSender(clock, SAFE)

    def close(self) -> None:
        """End all streams, which do not end by themselves."""
        self._fleet.services.feed.close()

    async def __call__(self, connection: Connection, receive: Receive, send: Send) -> None:
        """Answer one request."""
        kind = connection["type"]
        if kind == "lifespan":
            await _lifespan(receive, send)
        elif kind == "websocket":
            await send({"type": "websocket.close", "code": 1003})
        else:
            await self._http(connection, receive, send)

    async def _http(self, connection: Connection, receive: Receive, send: Send) -> None:
        try:
            response = await self._respond(connection, receive)
        except Gone:
            return
        except Problem as problem:
            response = problem.response()
        except DrumbeatError as error:
            response = problem_of(error).response()
        except Exception:
            log.exception("Request failed path=%s", connection.get("path"))
            response = BROKEN.response()
        if isinstance(response, Stream) and connection["method"] == "HEAD":
            await self._streams.send_head(response, send)
        elif isinstance(response, Stream):
            await self._streams.send(response, receive, send)
        else:
            await _send(response, connection, send)

    async def _respond(self, connection: Connection, receive: Receive) -> Response | Stream:
        path = _path(connection)
        route, open_segments = self._router.resolve(connection["method"], path)
        headers: Headers = dict(connection["headers"])
        caller = await self._access.admit(route, connection, headers)
        query = route.read_query(connection["query_string"])
        body = await self._reader.read(route, connection, headers, receive)
        fleet = self._fleet
        if route.audited:
            fleet = fleet.acting_as(Actor(caller.name, text(headers, REASON).strip()))
        call = Call(fleet, caller, open_segments, query, body, headers, connection, self._access)
        result = await route.handle(call)
        if route.reply is not None:
            result = route.reply(result)
        value = result  # narrowed below, where its items would be unknown to a type checker
        match value:
            case Response():
                root = connection.get("root_path")
                return _located(value, root) if root and "location" in value.headers else value
            case Stream():
                return value
            case Page():
                return _page(result, path, connection)
            case None:
                return new_response(route.status)
            case _:
                return json_response(value, route.status)


def _path(connection: Connection) -> str:
    """The path below the mount point, still quoted."""
    raw: bytes | None = connection.get("raw_path")
    path = raw.decode("ascii", "replace") if raw else quote(connection["path"])
    root = connection.get("root_path", "")
    return path.removeprefix(root) if root else path


def _located(response: Response, root: str) -> Response:
    """The response, with the mount point before its `Location`."""
    return replace(
        response, headers={**response.headers, "location": root + response.headers["location"]}
    )


def _page(page: Page[Any], path: str, connection: Connection) -> Response:
    headers: dict[str, str] = {}
    if page.next is not None:
        text = connection["query_string"].decode("ascii", "replace")
        kept = "&".join(part for part in text.split("&") if part and not part.startswith("after="))
        after = urlencode({"after": page.next})
        where = connection.get("root_path", "") + path
        headers["link"] = f'<{where}?{kept}{"&" if kept else ""}{after}>; rel="next"'
    return json_response(page.items, 200, headers)


async def _send(response: Response, connection: Connection, send: Send) -> None:
    body = b"" if connection["method"] == "HEAD" else response.body
    whole = connection.get(WHOLE)
    if whole is not None and response.status < REFUSED:
        head = written_head(response)
        if head is not None and whole(head, body):
            return
    headers = headers_of(response)
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _lifespan(receive: Receive, send: Send) -> None:
    """Acknowledge start and stop. The app that mounts the API starts and stops the node."""
    while True:
        message = await receive()
        if message["type"] == "lifespan.startup":
            await send({"type": "lifespan.startup.complete"})
        elif message["type"] == "lifespan.shutdown":
            await send({"type": "lifespan.shutdown.complete"})
            return
