"""Sends requests to a server, again where that is safe."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import NoReturn

import aiohttp
from yarl import URL

from drumbeat.fleet.remote.client_options import ClientOptions
from drumbeat.fleet.remote.errors import error_of
from drumbeat.fleet.remote.request import Request, ServerResponse
from drumbeat.fleet.remote.resource import reason_header
from drumbeat.fleet.remote.server_url import base_of
from drumbeat.forks import leave_to_parent, renew_in_children
from drumbeat.model.errors import ConfigurationError, DrumbeatError, NotRunning, Unavailable

FIRST_PAUSE = 0.2
"""Seconds before the first repetition; twice as many before each next one."""
LONGEST_PAUSE = 10.0
JSON = "application/json"
UNAVAILABLE = 503
REDIRECTS = range(300, 400)
ERRORS = range(400, 600)


class Transport:
    """A pool of connections to one server. It belongs to the event loop that uses it first."""

    def __init__(self, url: str, token: str | None, options: ClientOptions) -> None:
        self.url = base_of(url)
        self._token = _checked(token)
        self._options = options
        self._session: aiohttp.ClientSession | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        renew_in_children(self._renew)
        self._closed = asyncio.Event()

    async def send(self, request: Request) -> ServerResponse:
        """The response; an error status is raised as the error that it stands for."""
        for again in range(self._options.retries + 1):
            last = not request.may_be_repeated or again == self._options.retries
            try:
                response = await self._send_once(request)
            except Unavailable:
                if last:
                    raise
                await self.pause(_pause_before(again))
                continue
            if _is_to_be_repeated(response) and not last:
                await self.pause(_pause_before(again, response.headers["retry-after"]))
                continue
            return _checked_response(response, request)
        raise AssertionError("the last try returns or raises")

    @asynccontextmanager
    async def stream(
        self, request: Request, silence: float
    ) -> AsyncGenerator[aiohttp.StreamReader]:
        """The body as it comes; `Unavailable` once it breaks, or is silent for so many seconds."""
        timeout = aiohttp.ClientTimeout(
            total=None, sock_connect=self._options.timeout, sock_read=silence
        )
        try:
            async with self._open(request, timeout) as response:
                if response.status in REDIRECTS or response.status in ERRORS:
                    body = await response.read()
                    _checked_response(
                        ServerResponse(response.status, body, response.headers), request
                    )
                yield response.content
        except DrumbeatError:  # some of them are also of the classes below
            raise
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            self._unavailable(error, silence)

    async def close(self) -> None:
        """Close all connections, and end all pauses."""
        self._closed.set()
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _send_once(self, request: Request) -> ServerResponse:
        seconds = self._options.timeout + request.extra_seconds
        try:
            # aiohttp's own total time-out swallows a cancellation that comes at the same moment.
            unlimited = aiohttp.ClientTimeout(total=None)
            async with asyncio.timeout(seconds), self._open(request, unlimited) as response:
                return ServerResponse(response.status, await response.read(), response.headers)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            self._unavailable(error, seconds)

    @asynccontextmanager
    async def _open(
        self, request: Request, timeout: aiohttp.ClientTimeout
    ) -> AsyncGenerator[aiohttp.ClientResponse]:
        place = URL(self.url + request.path, encoded=True)
        async with self._pool().request(
            request.method,
            place.with_query(list(request.query)) if request.query else place,
            data=request.body,
            headers=_headers(request),
            timeout=timeout,
            ssl=self._options.tls or True,
            allow_redirects=False,
        ) as response:
            yield response

    def _pool(self) -> aiohttp.ClientSession:
        if self._closed.is_set():
            raise NotRunning("the client is closed; create a new one")
        loop = asyncio.get_running_loop()
        if self._session is None:
            self._loop = loop
            headers = {} if self._token is None else {"authorization": f"Bearer {self._token}"}
            headers |= reason_header(self._options.reason)
            self._session = aiohttp.ClientSession(
                headers=headers, cookie_jar=aiohttp.DummyCookieJar()
            )
        if self._loop is not loop:
            raise NotRunning(
                "the client belongs to the event loop that used it first; create one for each "
                "loop, or use SyncClient"
            )
        return self._session

    async def pause(self, seconds: float) -> None:
        """Return after so many seconds, or at once when the client is closed."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._closed.wait()

    def _renew(self) -> None:
        leave_to_parent(self._session, self._loop)
        self._session = self._loop = None

    def _unavailable(self, error: Exception, seconds: float) -> NoReturn:
        raise Unavailable(f"{self.url} does not answer: {_why(error, seconds)}") from error


def _why(error: Exception, seconds: float) -> str:
    """Why a request failed, without what was sent."""
    match error:
        case aiohttp.ClientConnectorCertificateError():
            return f"its certificate is not trusted: {error.certificate_error}"
        case aiohttp.ClientConnectorDNSError():
            return "its name is not known"
        case TimeoutError():
            return f"nothing came within {seconds:g} s"
        case aiohttp.ClientConnectorError(os_error=ConnectionRefusedError()):
            return "the connection was refused"
        case aiohttp.ServerDisconnectedError() | ConnectionError():
            return "it closed the connection"
        case _:
            return str(error) or type(error).__name__


def _checked_response(response: ServerResponse, request: Request) -> ServerResponse:
    if response.status in REDIRECTS:
        where = response.headers.get("location", "elsewhere")
        raise ConfigurationError(
            f"the server redirects to {where}; use that URL, since the token is only sent to the "
            f"URL that was given"
        )
    if response.status not in ERRORS or response.status in request.accepted:
        return response
    raise error_of(response, request)


def _is_to_be_repeated(response: ServerResponse) -> bool:
    return response.status == UNAVAILABLE and "retry-after" in response.headers


def _headers(request: Request) -> Mapping[str, str]:
    if request.body is None:
        return {"accept": JSON, **request.headers}
    return {"accept": JSON, "content-type": JSON, **request.headers}


def _pause_before(again: int, requested: str = "") -> float:
    """Seconds before the next try: as the server says, else twice as long each time."""
    usual = FIRST_PAUSE * float(2**again)
    wanted = float(requested) if requested.isascii() and requested.isdigit() else usual
    return min(LONGEST_PAUSE, wanted)


def _checked(token: str | None) -> str | None:
    if token is None or not token.strip():
        return None
    stripped = token.strip()
    if not stripped.isascii() or not stripped.isprintable() or " " in stripped:
        raise ConfigurationError("the token has characters that no token has; is it the right one?")
    return stripped
