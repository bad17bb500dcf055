"""The application: an ASGI app that resolves, admits, reads, asks and answers."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from dataclasses import replace
from typing import Any, TypeAlias
from urllib.parse import quote, urlencode

from drumbeat.api.answer import Answer, Listed, Stream, json_answer, new_answer
from drumbeat.api.call import Call
from drumbeat.api.desk import Desk
from drumbeat.api.gate import Gate
from drumbeat.api.head import SAFE, WHOLE, headers_of, written_head
from drumbeat.api.problem import Problem
from drumbeat.api.reading import Gone, Reader, Receive
from drumbeat.api.refusals import refusal
from drumbeat.api.resolver import AnyRoute, Resolver
from drumbeat.api.streaming import Streaming
from drumbeat.model.errors import DrumbeatError

Connection: TypeAlias = MutableMapping[str, Any]
"""What ASGI calls the scope of a connection."""
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]

log = logging.getLogger("drumbeat.api")

REFUSED = 400
"""The first status of those that refuse; they may also end the connection."""


class Api:
    """The HTTP API of one node, as an ASGI app. It can be mounted into another one."""

    def __init__(self, desk: Desk, gate: Gate, routes: Iterable[AnyRoute]) -> None:
        self._desk = desk
        self._gate = self.gate = gate
        self._resolver = Resolver(routes)
        self._reader = Reader(desk.runtime.clock)
        self._streaming = Streaming(desk.runtime.clock, SAFE)

    def close(self) -> None:
        """End the streams, which would not end by themselves."""
        self._desk.feed.close()

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
            answer = await self._answer(connection, receive)
        except Gone:
            return
        except Problem as problem:
            answer = problem.answer()
        except DrumbeatError as error:
            answer = refusal(error).answer()
        except Exception:
            log.exception("Request failed path=%s", connection.get("path"))
            answer = Problem(500, "error", "the request failed; the server's log says why").answer()
        if isinstance(answer, Stream) and connection["method"] == "HEAD":
            await self._streaming.send_head(answer, send)
        elif isinstance(answer, Stream):
            await self._streaming.send(answer, receive, send)
        else:
            await _send(answer, connection, send)

    async def _answer(self, connection: Connection, receive: Receive) -> Answer | Stream:
        path = _path(connection)
        route, open_segments = self._resolver.resolve(connection["method"], path)
        headers: Mapping[bytes, bytes] = dict(connection["headers"])
        caller = await self._gate.admit(route, connection, headers)
        query = route.read_query(connection["query_string"])
        body = await self._reader.read(route, connection, headers, receive)
        call = Call(self._desk, caller, open_segments, query, body, headers, connection, self._gate)
        if route.change is None:
            value = await route.handle(call)
        else:
            value = await self._gate.accounted(route, call, route.handle)
        match value:
            case Answer():
                root = connection.get("root_path")
                return _located(value, root) if root and "location" in value.headers else value
            case Stream():
                return value
            case Listed():
                return _listed(value, path, connection)
            case None:
                return new_answer(route.status)
            case _:
                return json_answer(value, route.status)


def _path(connection: Connection) -> str:
    """The path below the place where the API is mounted, still quoted."""
    raw: bytes | None = connection.get("raw_path")
    path = raw.decode("ascii", "replace") if raw else quote(connection["path"])
    root = connection.get("root_path", "")
    return path.removeprefix(root) if root else path


def _located(answer: Answer, root: str) -> Answer:
    """The answer, whose `Location` is below the place where the API is mounted."""
    return replace(
        answer, headers={**answer.headers, "location": root + answer.headers["location"]}
    )


def _listed(listed: Listed, path: str, connection: Connection) -> Answer:
    headers: dict[str, str] = {}
    if listed.next is not None:
        text = connection["query_string"].decode("ascii", "replace")
        kept = "&".join(part for part in text.split("&") if part and not part.startswith("after="))
        after = urlencode({"after": listed.next})
        where = connection.get("root_path", "") + path
        headers["link"] = f'<{where}?{kept}{"&" if kept else ""}{after}>; rel="next"'
    return json_answer(listed.items, 200, headers)


async def _send(answer: Answer, connection: Connection, send: Send) -> None:
    body = b"" if connection["method"] == "HEAD" else answer.body
    whole = connection.get(WHOLE)
    if whole is not None and answer.status < REFUSED:
        head = written_head(answer)
        if head is not None and whole(head, body):
            return
    headers = headers_of(answer)
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _lifespan(receive: Receive, send: Send) -> None:
    """Whoever mounts the API starts and stops the app; there is nothing to do for us."""
    while True:
        message = await receive()
        if message["type"] == "lifespan.startup":
            await send({"type": "lifespan.startup.complete"})
        elif message["type"] == "lifespan.shutdown":
            await send({"type": "lifespan.shutdown.complete"})
            return
