"""Exchange: calls over HTTP to whichever endpoint of a server answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import aiohttp
from yarl import URL

from drumbeat.model.errors import Unavailable
from drumbeat.ports.clock import Clock
from drumbeat.remote.address import RemoteAddress

ATTEMPT = 1.0
"""Seconds that an endpoint gets while there is another to turn to."""
PATIENCE = 5.0
"""Seconds that a whole call takes at most. A caller with a deadline of its own cancels earlier."""
FAILING = 500
"""Answers from here on say that the endpoint cannot serve now; another may."""


@dataclass(frozen=True, slots=True)
class Request:
    """One call. The path begins with a slash and is encoded already."""

    method: str
    path: str
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    longer: float = 0.0
    """Seconds that the server may take its time on top: for calls that wait for news."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What an endpoint said."""

    endpoint: str
    status: int
    body: bytes
    headers: Mapping[str, str]


class Exchange:
    """A pool of connections, made on the event loop that calls."""

    def __init__(self, address: RemoteAddress, clock: Clock) -> None:
        self.title = address.title
        self._endpoints = address.endpoints
        self._tls = address.tls
        self._clock = clock
        self._turn = 0
        self._session: aiohttp.ClientSession | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def ask(self, request: Request) -> Answer:
        """Make a call that may be made again, at one endpoint after the other."""
        return await self._call(request, repeatable=True)

    async def tell(self, request: Request) -> Answer:
        """Make a call that must not happen twice: `Unavailable` once it may have arrived."""
        return await self._call(request, repeatable=False)

    @asynccontextmanager
    async def stream(
        self, request: Request, silence: float
    ) -> AsyncGenerator[aiohttp.StreamReader]:
        """An answer that goes on; `TimeoutError` after so many seconds without a word.

        It comes from the endpoint whose turn it is. Whoever finds it useless says so by `leave`.
        """
        endpoint = self._endpoints[self._turn]
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=ATTEMPT, sock_read=silence)
        try:
            async with self._open(endpoint, request, timeout) as response:
                yield response.content
        except TimeoutError:
            raise
        except (aiohttp.ClientError, OSError) as error:
            self.leave(endpoint)
            raise self._unavailable({endpoint: reason_of(error, silence)}) from error

    @property
    def endpoint(self) -> str:
        """Whose turn it is."""
        return self._endpoints[self._turn]

    def leave(self, endpoint: str) -> None:
        """Begin the next call elsewhere, unless another call has turned away already."""
        if self._endpoints[self._turn] == endpoint:
            self._turn = (self._turn + 1) % len(self._endpoints)

    async def close(self) -> None:
        """Close all connections. A later call would make new ones."""
        session, self._session = self._session, None
        if session is None:
            return
        if self._loop is asyncio.get_running_loop():
            await session.close()
        else:
            self._abandon(session)

    async def _call(self, request: Request, *, repeatable: bool) -> Answer:
        deadline = self._clock.elapsed() + PATIENCE
        failures: dict[str, str] = {}
        refusal: Answer | None = None
        for endpoint, last in self._turns():
            left = deadline - self._clock.elapsed()
            if left <= 0:
                break
            seconds = request.longer + (left if last else min(ATTEMPT, left))
            try:
                answer = await self._send(endpoint, request, seconds)
            except asyncio.CancelledError:
                self.leave(endpoint)
                raise
            except (aiohttp.ClientError, TimeoutError, OSError) as error:
                self.leave(endpoint)
                failures[endpoint] = reason_of(error, seconds)
                if not (repeatable or never_sent(error)):
                    raise self._unavailable(failures) from error
            else:
                if answer.status < FAILING or not repeatable:
                    return answer
                self.leave(endpoint)
                refusal = answer
        if refusal is not None:
            return refusal
        raise self._unavailable(failures)

    def _turns(self) -> Iterator[tuple[str, bool]]:
        """Each endpoint once, beginning with the one whose turn it is; a lone one twice.

        A server that was restarted closed the connections of the pool, and the first call on such
        a connection fails although the server is there.
        """
        count, first = len(self._endpoints), self._turn
        tries = max(2, count)
        for number in range(tries):
            yield self._endpoints[(first + number) % count], count == 1 or number == tries - 1

    async def _send(self, endpoint: str, request: Request, seconds: float) -> Answer:
        timeout = aiohttp.ClientTimeout(total=seconds)
        async with self._open(endpoint, request, timeout) as response:
            body = await response.read()
            return Answer(endpoint, response.status, body, response.headers)

    @asynccontextmanager
    async def _open(
        self, endpoint: str, request: Request, timeout: aiohttp.ClientTimeout
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
        """Give up the connections of an event loop that has ended: only dropping them is left."""
        connector = session.connector
        session.detach()
        if connector is not None:
            with suppress(RuntimeError):
                connector.close()

    def _unavailable(self, failures: Mapping[str, str]) -> Unavailable:
        tried = ", ".join(f"{endpoint} ({reason})" for endpoint, reason in failures.items())
        return Unavailable(f"{self.title} does not answer; tried {tried}")


def never_sent(error: Exception) -> bool:
    """Whether the request certainly did not leave: there was no connection to send it on."""
    return isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError)


def reason_of(error: Exception, seconds: float) -> str:
    """Why a call failed, in few words and without what was sent."""
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
