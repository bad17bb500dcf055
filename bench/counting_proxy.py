"""A proxy that counts the requests of a client to its server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

CHUNK = 65_536
HTTP = b" HTTP/1.1\r\n"


class CountingProxy:
    """Forwards everything to one server, and counts the requests.

    A request is an HTTP request, or, in other protocols, one chunk that the client sends.
    """

    def __init__(self, upstream: int) -> None:
        self.port = 0
        self.requests = 0
        self._upstream = upstream
        self._connections: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[CountingProxy]:
        """Run the proxy during the body."""
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            for task in self._connections:
                task.cancel()
            await asyncio.gather(*self._connections, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)
        to_reader, to_writer = await asyncio.open_connection("127.0.0.1", self._upstream)
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(self._forward_and_count(reader, to_writer))
                both.create_task(_forward(to_reader, writer))
        except* (OSError, asyncio.CancelledError):  # one side has ended, or the proxy is stopped
            pass
        finally:
            to_writer.close()
            writer.close()

    async def _forward_and_count(
        self, source: asyncio.StreamReader, target: asyncio.StreamWriter
    ) -> None:
        speaks_http = False
        while data := await source.read(CHUNK):
            found = data.count(HTTP)
            speaks_http = speaks_http or found > 0
            self.requests += found if speaks_http else 1
            target.write(data)
            await target.drain()
        target.write_eof()


async def _forward(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    while data := await source.read(CHUNK):
        target.write(data)
        await target.drain()
    with suppress(OSError):
        target.write_eof()
