"""A server on a free port, and plain connections to it."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from drumbeat import Drumbeat
from drumbeat.api.http.connection import Bounds
from drumbeat.api.http.server import Server

SLOW = Bounds(60, 4_096, body_seconds=60, idle_seconds=60, connections=3)
"""For those who are not to be cut off, although the machine may stand still for some seconds."""


async def empty(_connection: Any, _receive: Any, send: Any) -> None:
    await send(
        {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]}
    )
    await send({"type": "http.response.body", "body": b""})


@asynccontextmanager
async def served(
    app: Any = empty, address: str = "127.0.0.1:0", bounds: Bounds = SLOW
) -> AsyncGenerator[Server]:
    server = Server(app, address, bounds=bounds)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()


async def connected(address: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    host, _, port = address.rpartition(":")
    return await asyncio.open_connection(host.strip("[]"), int(port))


async def sent(address: str, data: bytes) -> bytes:
    """Everything that comes back until the server ends the connection."""
    reader, writer = await connected(address)
    writer.write(data)
    try:
        return await everything(reader)
    finally:
        writer.close()


async def everything(reader: asyncio.StreamReader) -> bytes:
    """What came until the server hung up, be it while something was on its way there."""
    got = b""
    with contextlib.suppress(ConnectionResetError):
        while more := await reader.read(65_536):
            got += more
    return got


@asynccontextmanager
async def node(**settings: Any) -> AsyncGenerator[tuple[Drumbeat, str]]:
    """A node that serves the API to this machine."""
    app = Drumbeat("memory://", environment={}, http_addr="127.0.0.1:0", **settings)
    async with app.running(["api", "scheduler", "worker"]):
        yield app, app.addresses[0]


async def asked(address: str, request: bytes) -> tuple[int, Any]:
    """One request on a connection of its own; the status and the JSON that came back."""
    line, _, rest = request.partition(b"\r\n")
    head = b"\r\nhost: localhost\r\nconnection: close\r\n"
    answer = await sent(address, line + head + rest)
    headers, _, body = answer.partition(b"\r\n\r\n")
    return int(headers.split(b" ")[1]), json.loads(body) if body else None


def posted(body: bytes, more: bytes = b"") -> bytes:
    head = b"POST /jobs HTTP/1.1\r\ncontent-type: application/json\r\n" + more
    return head + b"content-length: %d\r\n\r\n" % len(body) + body
