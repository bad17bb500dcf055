"""The connection: uvicorn's protocol, with bounds that uvicorn lacks.

A client that sends its headers drop by drop, or headers without end, or that opens connections and
says nothing, would hold what others need. Each is cut off. The time is counted in rounds of the
server, so that a request costs no timer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from drumbeat.api.http.request_body import BOUNDED
from drumbeat.api.http.response_head import WHOLE

BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\n"
    b"connection: close\r\n\r\n"
)
LATE = b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\n"
    b"connection: close\r\n\r\n"
)


@dataclass(frozen=True, slots=True)
class Bounds:
    """The resources of the server that a client may use."""

    header_seconds: int = 10
    """For all headers of a request, from its first byte or the opening of the connection on."""
    header_bytes: int = 64 * 1024
    body_seconds: int = 10
    """For the body of a request, from the end of its headers on."""
    idle_seconds: int = 60
    """Between two requests of a connection."""
    connections: int = 4_000
    write_seconds: int = 30
    """For which a client may read nothing of a response."""
    unsent_bytes: int = 256 * 1024 * 1024
    """Of all responses together that clients have not read yet."""


class BoundedProtocol(HttpToolsProtocol):
    """One connection."""

    bounds = Bounds()

    def __init__(
        self,
        config: uvicorn.Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.rounds: int | None = self.bounds.header_seconds
        """Seconds left for what the client has to send; None: the server does not wait for it."""
        self._reads_headers = True
        self._header_bytes = 0
        self._unsent = 0
        self._stalled = 0
        """Seconds for which the client has read nothing."""

    @property
    def unsent(self) -> int:
        """Bytes that the client has not read yet."""
        return 0 if self.transport.is_closing() else self.transport.get_write_buffer_size()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the connection, unless there are too many."""
        super().connection_made(transport)
        if len(self.connections) > self.bounds.connections:
            self._end(BUSY)

    def on_message_begin(self) -> None:
        """A request begins."""
        self.rounds = self.bounds.header_seconds
        self._reads_headers = True
        self._header_bytes = 0
        super().on_message_begin()
        scope: Any = self.scope
        scope[BOUNDED] = True

    def on_headers_complete(self) -> None:
        """Its headers have come."""
        self.rounds = self.bounds.body_seconds
        self._reads_headers = False
        super().on_headers_complete()
        parser: Any = self.parser  # None only once the connection is lost
        if not parser.should_keep_alive():  # uvicorn before 0.53 asks only when it answers
            self.cycle.keep_alive = False
        scope: Any = self.scope
        scope[WHOLE] = partial(write_whole, self.cycle)

    def on_message_complete(self) -> None:
        """All of it has come."""
        self.rounds = None
        super().on_message_complete()

    def data_received(self, data: bytes) -> None:
        """Read on, as long as the headers stay within their bounds."""
        super().data_received(data)
        if self.rounds is None and self._between_requests():
            self.rounds = self.bounds.header_seconds  # what came is not the beginning of one
            self._reads_headers = True
        elif self._reads_headers:
            self._header_bytes += len(data)
            if self._header_bytes > self.bounds.header_bytes:
                self._end(LARGE)

    def second_passed(self) -> None:
        """Cut off a client that does not send its request, or does not read its response.

        One between two requests is left alone.
        """
        unsent, before = self.unsent, self._unsent
        self._unsent = unsent
        self._stalled = self._stalled + 1 if unsent and unsent >= before > 0 else 0
        if self._stalled >= self.bounds.write_seconds:
            self.transport.abort()
            return
        if self.rounds is None or self.timeout_keep_alive_task is not None:
            return
        self.rounds -= 1
        if self.rounds <= 0:
            self._end(LATE)

    def _between_requests(self) -> bool:
        return self.cycle.response_complete and self.timeout_keep_alive_task is None

    def _end(self, answer: bytes) -> None:
        if not self.transport.is_closing():
            if self._reads_headers or not self.cycle.response_started:
                self.transport.write(answer)
            self.transport.close()


def write_whole(cycle: RequestResponseCycle, head: bytes, body: bytes) -> bool:
    """Write a whole response at once; False if the client is gone or reads too slowly.

    uvicorn writes the head and the body apart, which is a call of the system more.
    """
    if cycle.disconnected or cycle.response_started or cycle.flow.write_paused:
        return False
    cycle.response_started = cycle.response_complete = True
    cycle.waiting_for_100_continue = False
    usual = [b"%b: %b\r\n" % header for header in cycle.default_headers]
    end = b"\r\n" if cycle.keep_alive else b"connection: close\r\n\r\n"
    cycle.transport.write(b"".join((head, *usual, end, body)))
    cycle.message_event.set()
    if not cycle.keep_alive:
        cycle.transport.close()
    cycle.on_response()
    return True


def cut_off_largest(connections: Iterable[BoundedProtocol], most: int) -> None:
    """Cut off the clients with most unsent bytes until all together are within the bound."""
    unsent = sorted(((each.unsent, id(each), each) for each in connections), reverse=True)
    total = sum(size for size, *_ in unsent)
    for size, _, connection in unsent:
        if total <= most:
            return
        connection.transport.abort()
        total -= size


def bounded(bounds: Bounds) -> type[BoundedProtocol]:
    """The protocol, with these bounds."""
    return type("Bounded", (BoundedProtocol,), {"bounds": bounds})
