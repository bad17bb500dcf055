"""A relay between client and server, which loses answers and cuts connections when told to."""

from __future__ import annotations

import asyncio
import ssl
from contextlib import suppress
from typing import Self


class Relay:
    """Hands bytes on in both directions, and counts connections."""

    def __init__(self, address: str, tls: ssl.SSLContext | None = None) -> None:
        host, _, port = address.rpartition(":")
        self._host, self._port = host, int(port)
        self._tls = tls
        self.connections = 0
        self.loses = 0
        """How many connections, from the next one on, end when the first answer would come."""
        self.ends_after: bytes | None = None
        """The next connection ends, in good order, once the server has said this."""
        self.ended = asyncio.Event()
        """Set when that has happened."""
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    @property
    def url(self) -> str:
        assert self._server is not None
        host, port = self._server.sockets[0].getsockname()[:2]
        return f"{'https' if self._tls else 'http'}://{host}:{port}"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._relay, "127.0.0.1", 0, ssl=self._tls)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        while self._tasks:  # one may have been about to reach the server
            self.cut()
            await asyncio.wait(self._tasks, timeout=1)
        await self._server.wait_closed()

    def cut(self) -> None:
        """End all connections at once."""
        for writer in tuple(self._writers):
            writer.transport.abort()

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        loses, self.loses = self.loses > 0, max(0, self.loses - 1)
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        their_reader, their_writer = await asyncio.open_connection(self._host, self._port)
        both = {writer, their_writer}
        self._writers |= both
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(_pump(reader, their_writer))
                if loses:
                    await their_reader.read(1)
                    writer.transport.abort()
                elif (words := self.ends_after) is not None:
                    self.ends_after = None
                    await _pump_through(words, their_reader, writer)
                    self.ended.set()
                else:
                    await _pump(their_reader, writer)
                their_writer.transport.abort()
                writer.transport.abort()
        finally:
            self._writers -= both


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()


async def _pump_through(
    words: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Hand on everything up to these words and the rest of their line, then end the stream."""
    writer.write(await reader.readuntil(words))
    writer.write(await reader.readuntil(b"\n\n"))
    writer.close()
    await writer.wait_closed()
