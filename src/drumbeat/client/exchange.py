"""The exchange: puts questions to a server, and again where that is safe."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Collection, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import NoReturn

import aiohttp
from yarl import URL

from drumbeat.client.address import base_of
from drumbeat.client.manners import Manners
from drumbeat.client.refusals import error_of, kind_of, problem_of
from drumbeat.client.request import Answer, Request
from drumbeat.model.errors import ConfigurationError, DrumbeatError, NotRunning, Unavailable

FIRST_PAUSE = 0.2
"""Seconds before the first repetition; twice as many before each next one."""
LONGEST_PAUSE = 10.0
JSON = "application/json"
UNAVAILABLE = 503
REDIRECTS = range(300, 400)
REFUSALS = range(400, 600)


class Exchange:
    """A pool of connections to one server, made on the event loop that asks first."""

    def __init__(self, url: str, token: str | None, manners: Manners) -> None:
        self.url = base_of(url)
        self._token = _checked(token)
        self._manners = manners
        self._session: aiohttp.ClientSession | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = asyncio.Event()

    async def ask(self, request: Request, expected: Collection[str] = ()) -> Answer:
        """The answer; a refusal is raised, unless it is of a kind that the caller expects."""
        for again in range(self._manners.retries + 1):
            last = not request.safe or again == self._manners.retries
            try:
                answer = await self._send(request)
            except Unavailable:
                if last:
                    raise
                await self.pause(_pause_before(again))
                continue
            if _is_to_be_repeated(answer) and not last:
                await self.pause(_pause_before(again, answer.headers["retry-after"]))
                continue
            return _judged(answer, request, expected)
        raise AssertionError("the last try answers or raises")

    @asynccontextmanager
    async def stream(
        self, request: Request, silence: float
    ) -> AsyncGenerator[aiohttp.StreamReader]:
        """An answer that goes on; `Unavailable` once it breaks, or is silent for so long."""
        timeout = aiohttp.ClientTimeout(
            total=None, sock_connect=self._manners.timeout, sock_read=silence
        )
        try:
            async with self._open(request, timeout) as response:
                if response.status in REDIRECTS or response.status in REFUSALS:
                    body = await response.read()
                    _judged(Answer(response.status, body, response.headers), request, ())
                yield response.content
        except DrumbeatError:  # some of them are of the kinds below
            raise
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            self._unavailable(error, silence)

    async def close(self) -> None:
        """Close all connections, and end pauses."""
        self._closed.set()
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _send(self, request: Request) -> Answer:
        seconds = self._manners.timeout + request.longer
        try:
            async with self._open(request, aiohttp.ClientTimeout(total=seconds)) as response:
                return Answer(response.status, await response.read(), response.headers)
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
            ssl=self._manners.tls or True,
            allow_redirects=False,
        ) as response:
            yield response

    def _pool(self) -> aiohttp.ClientSession:
        if self._closed.is_set():
            raise NotRunning("the client is closed; make another")
        loop = asyncio.get_running_loop()
        if self._session is None:
            self._loop = loop
            headers = {} if self._token is None else {"authorization": f"Bearer {self._token}"}
            if reason := " ".join(self._manners.reason.split()):
                headers["x-drumbeat-reason"] = reason
            self._session = aiohttp.ClientSession(
                headers=headers, cookie_jar=aiohttp.DummyCookieJar()
            )
        if self._loop is not loop:
            raise NotRunning(
                "the client belongs to the event loop that used it first; make one for each loop, "
                "or use SyncClient"
            )
        return self._session

    async def pause(self, seconds: float) -> None:
        """Return after so many seconds, or at once when the client is closed."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._closed.wait()

    def _unavailable(self, error: Exception, seconds: float) -> NoReturn:
        raise Unavailable(f"{self.url} does not answer: {_why(error, seconds)}") from error


def _why(error: Exception, seconds: float) -> str:
    """Why a request failed, in few words and without what was sent."""
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


def _judged(answer: Answer, request: Request, expected: Collection[str]) -> Answer:
    if answer.status in REDIRECTS:
        where = answer.headers.get("location", "elsewhere")
        raise ConfigurationError(
            f"the server answers that it is at {where}; give that address, since no token is sent "
            f"to a place that was not named"
        )
    if answer.status not in REFUSALS or answer.status in request.takes:
        return answer
    problem = problem_of(answer.body)
    if problem is not None and kind_of(problem) in expected:
        return replace(answer, problem=problem)
    raise error_of(answer.status, problem, request)


def _is_to_be_repeated(answer: Answer) -> bool:
    return answer.status == UNAVAILABLE and "retry-after" in answer.headers


def _headers(request: Request) -> Mapping[str, str]:
    if request.body is None:
        return {"accept": JSON, **request.headers}
    return {"accept": JSON, "content-type": JSON, **request.headers}


def _pause_before(again: int, asked: str = "") -> float:
    """Seconds before the next try: as the server asks, else twice as long each time."""
    usual = FIRST_PAUSE * float(2**again)
    wanted = float(asked) if asked.isascii() and asked.isdigit() else usual
    return min(LONGEST_PAUSE, wanted)


def _checked(token: str | None) -> str | None:
    if token is None or not token.strip():
        return None
    stripped = token.strip()
    if not stripped.isascii() or not stripped.isprintable() or " " in stripped:
        raise ConfigurationError("the token has characters that no token has; is it the right one?")
    return stripped
