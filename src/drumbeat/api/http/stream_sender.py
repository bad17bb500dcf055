"""Sends streams of events to clients."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from contextlib import suppress
from typing import Any

from drumbeat.api.http.asgi import Receive, Send
from drumbeat.api.http.response import Stream
from drumbeat.api.http.response_head import Header
from drumbeat.engine.plumbing.time_outs import timeout_after
from drumbeat.ports.clock import Clock

ASK_EVERY = 5.0
"""Seconds between two checks whether the reader of a stream still has access."""
WRITE_SECONDS = 30.0
"""Seconds within which a client has to read what was sent."""
LAST_WORDS = 1.0
"""Seconds within which a client has to read the end of a stream."""


class StreamSender:
    """Sends streams, each with the same headers."""

    def __init__(self, clock: Clock, headers: Sequence[Header]) -> None:
        self._clock = clock
        self._headers = headers

    async def send(self, stream: Stream, receive: Receive, send: Send) -> None:
        """Send a stream until it ends, it is cut off, or the client disconnects.

        A client that takes in nothing for `WRITE_SECONDS` is cut off.
        """
        try:
            await self._send(stream, receive, send)
        finally:
            stream.closed()

    async def _send(self, stream: Stream, receive: Receive, send: Send) -> None:
        await send(self._start(stream))
        sending = asyncio.create_task(self._send_all(stream, send), name="drumbeat-stream")
        leaving = asyncio.create_task(_gone(receive), name="drumbeat-stream-client")
        ending = asyncio.create_task(stream.over.wait(), name="drumbeat-stream-end")
        tasks = [sending, leaving, ending]
        if stream.allowed is not None:
            refusing = self._refused(stream.allowed)
            tasks.append(asyncio.create_task(refusing, name="drumbeat-stream-access"))
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            gone = leaving.done()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            await stream.chunks.aclose()
        if not gone:
            with suppress(OSError, TimeoutError):
                async with timeout_after(self._clock, LAST_WORDS):
                    await send({"type": "http.response.body", "body": b""})

    async def send_head(self, stream: Stream, send: Send) -> None:
        """Send only the head of the response."""
        stream.closed()
        await stream.chunks.aclose()
        await send(self._start(stream))
        await send({"type": "http.response.body", "body": b""})

    async def _refused(self, allowed: Callable[[], Awaitable[bool]]) -> None:
        """Wait until the reader has no access any more: a token was revoked, or a session ended."""
        while await allowed():
            await self._clock.sleep(ASK_EVERY)

    async def _send_all(self, stream: Stream, send: Send) -> None:
        with suppress(TimeoutError):
            async for chunk in stream.chunks:
                async with timeout_after(self._clock, WRITE_SECONDS):
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})

    def _start(self, stream: Stream) -> MutableMapping[str, Any]:
        kind = (b"content-type", stream.media_type.encode())
        headers = [kind, *self._headers]
        return {"type": "http.response.start", "status": 200, "headers": headers}


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
