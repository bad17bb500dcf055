"""A listener: a client of the stream of events, without a socket."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from drumbeat.fleet.local.events.feed import Feed

from .caller import House

SOON = 60.0


class Listener:
    """A client of the stream, which reads all at once unless it is told to stall."""

    def __init__(
        self,
        ours: House,
        path: str = "/events",
        last: str | None = None,
        token: str | None = None,
    ) -> None:
        self.ours = ours
        self.text = b""
        self.status = 0
        self.leaves = asyncio.Event()
        self.reads = asyncio.Event()
        self.reads.set()
        headers = [(b"host", b"localhost")]
        if last is not None:
            headers.append((b"last-event-id", last.encode()))
        if token is not None:
            headers.append((b"authorization", f"Bearer {token}".encode()))
        where, _, query = path.partition("?")
        connection = {
            "type": "http",
            "method": "GET",
            "path": where,
            "raw_path": where.encode(),
            "query_string": query.encode(),
            "headers": headers,
            "client": ("127.0.0.1", 50_000),
            "scheme": "http",
        }
        self.answering = asyncio.create_task(ours.api(connection, self._receive, self._send))

    async def _receive(self) -> dict[str, Any]:
        await self.leaves.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        await self.reads.wait()
        self.status = message.get("status", self.status)
        self.text += message.get("body", b"")

    async def settled(self, by: str = "2s") -> None:
        """Let the watcher look, and everything be sent."""
        await self.ours.clock.advance(by)

    async def ended(self) -> None:
        await asyncio.wait_for(self.answering, SOON)

    @property
    def events(self) -> list[tuple[str, Any]]:
        found: list[tuple[str, Any]] = []
        for block in self.text.decode().split("\n\n"):
            fields = dict(line.split(": ", 1) for line in block.split("\n") if ": " in line)
            if "event" in fields:
                found.append((fields["event"], msgspec.json.decode(fields["data"])))
        return found

    def of(self, kind: str) -> list[Any]:
        return [data for told, data in self.events if told == kind]

    @property
    def last(self) -> str:
        ids = [line for line in self.text.decode().split("\n") if line.startswith("id: ")]
        return ids[-1].removeprefix("id: ")


def feed_of(ours: House) -> Feed:
    fleet = ours.api._fleet  # pyright: ignore[reportPrivateUsage] - what it serves
    return fleet.services.feed


async def opened(
    ours: House, path: str = "/events", last: str | None = None, token: str | None = None
) -> Listener:
    listener = Listener(ours, path, last, token)
    await listener.settled()
    return listener
