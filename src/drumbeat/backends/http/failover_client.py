"""HTTP calls that fail over to the next endpoint of a server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import aiohttp
from yarl import URL

from drumbeat.backends.http.address import RemoteAddress
from drumbeat.forks import leave_to_parent, renew_in_children
from drumbeat.model.errors import Unavailable
from drumbeat.ports.clock import Clock

ENDPOINT_TIMEOUT = 1.0
"""Seconds that an endpoint has to answer while there is another one to try."""
CALL_TIMEOUT = 5.0
"""Seconds that a call takes at most. A caller with a deadline of its own cancels earlier."""
SERVER_ERROR = 500
"""From this status on the endpoint cannot serve now, but another one may."""
LONGEST_TEXT = 200


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One call. The path begins with a slash and is already percent-encoded."""

    method: str
    path: str
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    extra_time: float = 0.0
    """Seconds that the server may take in addition, for calls that wait for a change."""


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """A response, and the endpoint that sent it."""

    endpoint: str
    status: int
    body: bytes
    headers: Mapping[str, str]

    @property
    def text(self) -> str:
        """The beginning of the body, for errors."""
        return self.body[:LONGEST_TEXT].decode(errors="replace").strip()


class FailoverClient:
    """A pool of connections to all endpoints, made on the event loop that calls."""

    def __init__(self, address: RemoteAddress, clock: Clock) -> None:
        self.title = address.title
        self._endpoints = address.endpoints
        self._tls = address.tls
        self.clock = clock
        self._current = 0
        self._session: aiohttp.ClientSession | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        renew_in_children(self._renew)

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Make a call that may be repeated, at one endpoint after the other."""
        return await self._call(request, repeatable=True)

    async def send_once(self, request: HttpRequest) -> HttpResponse:
        """Make a call that must not be executed twice: `Unavailable` if it may have arrived."""
        return await self._call(request, repeatable=False)

    @asynccontextmanager
    async def stream(
        self, request: HttpRequest, silence: float
    ) -> AsyncGenerator[aiohttp.StreamReader]:
        """Open a response that is streamed from the current endpoint.

        `TimeoutError` after `silence` seconds without data. `skip` turns to the next endpoint.
        """
        endpoint = self._endpoints[self._current]
        timeout = aiohttp.ClientTimeout(
            total=None, sock_connect=ENDPOINT_TIMEOUT, sock_read=silence
        )
        try:
            async with self._open(endpoint, request, timeout) as response:
                yield response.content
        except TimeoutError:
            raise
        except (aiohttp.ClientError, OSError) as error:
            self.skip(endpoint)
            raise self._unavailable({endpoint: reason_of(error, silence)}) from error

    @property
    def endpoint(self) -> str:
        """The endpoint that the next call tries first."""
        return self._endpoints[self._current]

    def skip(self, endpoint: str) -> None:
        """Start the next call at another endpoint, unless another call has moved on already."""
        if self._endpoints[self._current] == endpoint:
            self._current = (self._current + 1) % len(self._endpoints)

    async def close(self) -> None:
        """Close all connections. A later call opens new ones."""
        session, self._session = self._session, None
        if session is None:
            return
        if self._loop is asyncio.get_running_loop():
            await session.close()
        else:
            self._abandon(session)

    async def _call(self, request: HttpRequest, *, repeatable: bool) -> HttpResponse:
        deadline = self.clock.elapsed() + CALL_TIMEOUT
        failures: dict[str, str] = {}
        server_error: HttpResponse | None = None
        for endpoint, last in self._tries():
            left = deadline - self.clock.elapsed()
            if left <= 0:
                break
            seconds = request.extra_time + (left if last else min(ENDPOINT_TIMEOUT, left))
            try:
                response = await self._send(endpoint, request, seconds)
            except asyncio.CancelledError:
                self.skip(endpoint)
                raise
            except (aiohttp.ClientError, TimeoutError, OSError) as error:
                self.skip(endpoint)
                failures[endpoint] = reason_of(error, seconds)
                if not (repeatable or never_sent(error)):
                    raise self._unavailable(failures) from error
            else:
                if response.status < SERVER_ERROR or not repeatable:
                    return response
                self.skip(endpoint)
                server_error = response
        if server_error is not None:
            return server_error
        raise self._unavailable(failures)

    def _tries(self) -> Iterator[tuple[str, bool]]:
        """Each endpoint once, starting with the current one, and whether it is the last try.

        A single endpoint gets two tries: a server that was restarted has closed the connections of
        the pool, so the first call on such a connection fails although the server is there.
        """
        count, first = len(self._endpoints), self._current
        tries = max(2, count)
        for number in range(tries):
            yield self._endpoints[(first + number) % count], count == 1 or number == tries - 1

    async def _send(self, endpoint: str, request: HttpRequest, seconds: float) -> HttpResponse:
        # aiohttp's own total time-out swallows a cancellation that comes at the same moment.
        unlimited = aiohttp.ClientTimeout(total=None)
        async with (
            asyncio.timeout(seconds),
            self._open(endpoint, request, unlimited) as response,
        ):
            body = await response.read()
            return HttpResponse(endpoint, response.status, body, response.headers)

    @asynccontextmanager
    async def _open(
        self, endpoint: str, request: HttpRequest, timeout: aiohttp.ClientTimeout
    ) -> AsyncGenerator[aiohttp.ClientResponse]:
        async with self._pool().request(
            request.method,
            URL(endpoint + request.path, encoded=True),
            data=request.body,
            headers=request.headers,
            timeout=timeout,
            ssl=self._tls or True,
            allow_redirects=False,
        ) as response:
            yield response

    def _pool(self) -> aiohttp.ClientSession:
        loop = asyncio.get_running_loop()
        if self._session is not None and self._loop is not loop:
            self._abandon(self._session)
            self._session = None
        if self._session is None:
            self._session, self._loop = aiohttp.ClientSession(), loop
        return self._session

    def _abandon(self, session: aiohttp.ClientSession) -> None:
        """Drop the connections of an event loop that has ended: they cannot be closed any more."""
        connector = session.connector
        session.detach()
        if connector is not None:
            with suppress(RuntimeError):
                connector.close()

    def _renew(self) -> None:
        leave_to_parent(self._session, self._loop)
        self._session = self._loop = None

    def _unavailable(self, failures: Mapping[str, str]) -> Unavailable:
        tried = ", ".join(f"{endpoint} ({reason})" for endpoint, reason in failures.items())
        return Unavailable(f"{self.title} does not answer; tried {tried}")


def never_sent(error: Exception) -> bool:
    """Whether the request was certainly not sent, since there was no connection."""
    return isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError)


def reason_of(error: Exception, seconds: float) -> str:
    """Why a call failed, in a few words and without the request's data."""
    match error:
        case aiohttp.ClientConnectorCertificateError():
            return f"its certificate is not trusted: {error.certificate_error}"
        case aiohttp.ClientConnectorDNSError():
            return "its name is not known"
        case TimeoutError():
            return f"no answer within {seconds:.2g} s"
        case aiohttp.ClientConnectorError(os_error=ConnectionRefusedError()):
            return "connection refused"
        case aiohttp.ServerDisconnectedError() | ConnectionError():
            return "it closed the connection"
        case _:
            return str(error) or type(error).__name__
