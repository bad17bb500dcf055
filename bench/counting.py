"""A wire that counts: how often a client asks its server for something."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

CHUNK = 65_536
HTTP = b" HTTP/1.1\r\n"


class CountingWire:
    """Passes everything on to one server, and counts what is asked.

    Over HTTP a request is a request; elsewhere it is what the client sends at one go.
    """

    def __init__(self, upstream: int) -> None:
        self.port = 0
        self.requests = 0
        self._upstream = upstream
        self._passing: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def laid(self) -> AsyncGenerator[CountingWire]:
        """The wire, for as long as the body takes."""
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            for task in self._passing:
                task.cancel()
            await asyncio.gather(*self._passing, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._passing.add(task)
        task.add_done_callback(self._passing.discard)
        to_reader, to_writer = await asyncio.open_connection("127.0.0.1", self._upstream)
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(self._ask(reader, to_writer))
                both.create_task(_carry(to_reader, writer))
        except* (OSError, asyncio.CancelledError):  # one side went, or the wire is taken away
            pass
        finally:
            to_writer.close()
            writer.close()

    async def _ask(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        speaks_http = False
        while data := await source.read(CHUNK):
            asked = data.count(HTTP)
            speaks_http = speaks_http or asked > 0
            self.requests += asked if speaks_http else 1
            target.write(data)
            await target.drain()
        target.write_eof()


async def _carry(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    while data := await source.read(CHUNK):
        target.write(data)
        await target.drain()
    with suppress(OSError):
        target.write_eof()
