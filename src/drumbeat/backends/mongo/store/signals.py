"""Signals: wake the subscribers of a topic in all processes after a change.

Each topic has a document. A process that changed something raises its number, at most once within
`GATHER`, however much it changes; its own subscribers are woken at once. The others watch the
documents by a change stream, or look again after a short time where the server has none. A signal
may be lost with its process; so nobody may rely on it alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from drumbeat.backends.listeners import Listeners
from drumbeat.backends.mongo.connection.cancellation import end
from drumbeat.backends.mongo.connection.server import Server
from drumbeat.forks import renew_in_children
from drumbeat.model.errors import DrumbeatError
from drumbeat.ports.clock import Clock
from drumbeat.ports.store import Topic

GATHER = 0.02
"""Seconds between two signals of one process."""
LAST_WITHIN = 1.0
"""Seconds that the server has for the last signals."""
BITS = {topic: 1 << place for place, topic in enumerate(Topic)}


class Signals:
    """The subscribers of this process, and the signals to others."""

    def __init__(self, server: Server, clock: Clock) -> None:
        self._server = server
        self._clock = clock
        self._listeners = Listeners()
        self._unsent: dict[Topic, None] = {}
        self._sender: asyncio.Task[None] | None = None
        renew_in_children(self._renew)

    def subscribe(self, topic: Topic, wake: Callable[[], None]) -> Callable[[], None]:
        """Call back on the loop that runs here now, after a change of any process."""
        here = self._listeners.add(BITS[topic], wake)
        elsewhere = self._server.subscribe("signals", topic.value, wake)

        def stop() -> None:
            here()
            elsewhere()

        return stop

    def send(self, *topics: Topic) -> None:
        """Something has happened to these topics."""
        bits = 0
        for topic in topics:
            bits |= BITS[topic]
            self._unsent[topic] = None
        self._listeners.wake(bits)
        streams = self._server.traits is not None and self._server.traits.change_streams
        if not streams:
            self._unsent.clear()  # the others look by themselves, so nobody would see it
        elif self._sender is None or self._sender.done():
            self._sender = asyncio.create_task(self._send(), name="drumbeat-mongo-signals")

    async def close(self) -> None:
        """Send what was not sent yet, unless the server is away."""
        sender, self._sender = self._sender, None
        if sender is not None and sender.get_loop() is asyncio.get_running_loop():
            await asyncio.wait([sender], timeout=LAST_WITHIN)
            await end(sender)

    async def _send(self) -> None:
        while self._unsent:
            topics, self._unsent = self._unsent, {}
            with suppress(DrumbeatError), self._server.calls() as collections:
                for topic in topics:
                    await collections["signals"].update_one(
                        {"_id": topic.value}, {"$inc": {"count": 1}}, upsert=True
                    )
            await self._clock.sleep(GATHER)

    def _renew(self) -> None:
        """The parent's tasks do not run in a forked process."""
        self._unsent, self._sender = {}, None
