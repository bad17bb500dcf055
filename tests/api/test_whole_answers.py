"""An answer that our own server takes as a whole is the one that any other server sends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from drumbeat import Drumbeat
from drumbeat.api.http.connection import Bounds
from drumbeat.api.http.response import Response
from drumbeat.api.http.response_head import WHOLE, headers_of, written_head
from drumbeat.api.http.server import Server
from tests.api.serving import connected, posted, sent

TOKEN = "a token for these tests"
KNOWN = b"host: localhost\r\nauthorization: Bearer " + TOKEN.encode() + b"\r\n"
TWICE = (
    b"GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\nGET /startupz HTTP/1.1\r\nhost: localhost\r\n"
)


@asynccontextmanager
async def served(app: Any) -> AsyncGenerator[str]:
    server = Server(app, "127.0.0.1:0", bounds=Bounds(60, body_seconds=60))
    await server.start()
    try:
        yield server.address
    finally:
        await server.stop()


class Counted:
    """The API, once as our server sees it, and once as a server sees it that only knows ASGI."""

    def __init__(self, api: Any, *, plain: bool) -> None:
        self._api = api
        self._plain = plain
        self.messages = 0

    async def __call__(self, connection: Any, receive: Any, send: Any) -> None:
        async def counted(message: Any) -> None:
            self.messages += 1
            await send(message)

        if self._plain:
            del connection[WHOLE]
        await self._api(connection, receive, counted)


def parts(answer: bytes) -> tuple[bytes, list[bytes], bytes]:
    """The status line, the headers in some order without the date, and the body."""
    head, _, body = answer.partition(b"\r\n\r\n")
    status, *headers = head.split(b"\r\n")
    return status, sorted(line for line in headers if not line.startswith(b"date: ")), body


@pytest.mark.parametrize(
    ("request_", "whole"),
    [
        (b"GET /livez HTTP/1.1\r\n" + KNOWN + b"connection: close\r\n\r\n", True),
        (b"HEAD /leader HTTP/1.1\r\n" + KNOWN + b"connection: close\r\n\r\n", True),
        (b"GET /leader HTTP/1.0\r\n" + KNOWN + b"\r\n", True),
        (b"GET /jobs?limit=1 HTTP/1.0\r\n" + KNOWN + b"\r\n", True),
        (b"GET /nowhere HTTP/1.0\r\n" + KNOWN + b"\r\n", False),
    ],
    ids=["empty", "HEAD", "HTTP/1.0", "a list with a link", "a refusal"],
)
async def test_it_is_the_same_either_way(request_: bytes, whole: bool) -> None:
    app = Drumbeat("memory://", environment={}, api_token=TOKEN)

    @app.task(name="nothing")
    async def nothing() -> None: ...

    async with app.running(["api"]):
        await nothing.submit_many([(), ()])
        ours, plain = Counted(app.asgi(), plain=False), Counted(app.asgi(), plain=True)
        async with served(ours) as one, served(plain) as other:
            ours_said, plain_said = await sent(one, request_), await sent(other, request_)
    if b" HTTP/1.0\r\n" in request_:  # closes in any case, which an older uvicorn does not say
        plain_said = plain_said.replace(b"\r\nconnection: close", b"")
        ours_said = ours_said.replace(b"\r\nconnection: close", b"")
    assert parts(ours_said) == parts(plain_said)
    assert ours_said.count(b"\r\ndate: ") == plain_said.count(b"\r\ndate: ") == 1
    assert (ours.messages, plain.messages) == (0 if whole else 2, 2)


async def test_requests_in_a_row_are_answered_in_a_row() -> None:
    app = Drumbeat("memory://", environment={}, api_token=TOKEN)
    async with app.running(["api"]), served(Counted(app.asgi(), plain=False)) as address:
        got = await sent(address, TWICE + b"connection: close\r\n\r\n")
    assert got.count(b"HTTP/1.1 200 OK\r\n") == 2
    assert got.count(b"connection: close") == 1


async def test_a_connection_goes_on_after_a_whole_answer() -> None:
    app = Drumbeat("memory://", environment={}, api_token=TOKEN, default_task="nothing")
    async with app.running(["api"]), served(Counted(app.asgi(), plain=False)) as address:
        reader, writer = await connected(address)
        for number in (1, 2, 3):
            writer.write(posted(b'{"payload": 1}', KNOWN))
            async with asyncio.timeout(30):
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r")[0])
                body = await reader.readexactly(length)
            assert head.startswith(b"HTTP/1.1 201 Created\r\n")
            assert b"location: /jobs/%d\r\n" % number in head
            assert body.startswith(b'{"id":%d,' % number)
        writer.close()


def test_a_value_that_would_not_stay_one_line_is_left_to_the_server_to_refuse() -> None:
    assert written_head(Response(200, b"{}", headers={"link": "</a\r\nx-b: c>"})) is None
    assert written_head(Response(200, b"{}", headers={"link": "</é>"})) is None


def test_a_written_head_has_the_headers_that_asgi_is_told() -> None:
    answer = Response(201, b"{}", headers={"location": "/jobs/1"})
    lines = [b"%b: %b" % header for header in headers_of(answer)]
    head = written_head(answer)
    assert head is not None
    assert sorted(head.split(b"\r\n")) == sorted([b"HTTP/1.1 201 Created", *lines, b""])
