"""The feed: distributes the events that this node sees to all readers, as server-sent events.

While at least one reader is subscribed, and for a while after, a watcher reads the store and
publishes what has changed. The last events are kept in a ring, so that a reader who comes back can
go on after the last event that it saw. If that event is no longer there, or came from another
process, the reader gets a `reset`: it has to read everything again.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Collection
from dataclasses import dataclass
from typing import Any

import msgspec

from drumbeat.engine.plumbing.wake_up import WakeUp
from drumbeat.model.errors import TooManyStreams
from drumbeat.ports.clock import Alarm
from drumbeat.ports.runtime import Runtime
from drumbeat.wire.event import EventKind

KEPT = 10_000
"""Events that a reader who comes back can go on from."""
KEPT_BYTES = 16 * 1024 * 1024
"""Bytes of these events; the oldest are dropped first."""
MOST_STREAMS = 100
MOST_WAITING = 1_000
"""Events that may wait for one reader; a slower one is cut off, and may come back."""
MOST_WAITING_BYTES = 1024 * 1024
"""Bytes of these events."""
HEARTBEAT = 15.0
"""Seconds of silence after which a stream shows that it lives."""
LINGER = 60.0
"""Seconds for which events are kept after the last stream has ended."""
GREETING = b"retry: 2000\n\n"
SIGN_OF_LIFE = b": still here\n\n"


@dataclass(frozen=True, slots=True)
class FeedEvent:
    """An event of the feed."""

    number: int
    kind: EventKind
    text: bytes


class FeedReader:
    """One stream: what it wants, and what waits for it."""

    def __init__(self, kinds: Collection[EventKind], runtime: Runtime) -> None:
        self._kinds = frozenset(kinds)
        self._signal = WakeUp(runtime.clock)
        self._waiting: deque[bytes] = deque()
        self.waiting_bytes = 0
        self.over = asyncio.Event()
        """Set when the stream is to end at once."""

    def put(self, event: FeedEvent) -> None:
        """Queue an event for the reader, if it wants events of that kind."""
        if self._kinds and event.kind not in self._kinds:
            return
        fits = self.waiting_bytes + len(event.text) <= MOST_WAITING_BYTES or not self._waiting
        if len(self._waiting) >= MOST_WAITING or not fits:
            self.over.set()
            return
        self._waiting.append(event.text)
        self.waiting_bytes += len(event.text)
        self._signal.set()

    async def next(self) -> bytes:
        """What waits, as soon as something does; a sign of life if nothing happens for long."""
        while not self._waiting:
            if not await self._signal.wait(HEARTBEAT) and not self._waiting:
                return SIGN_OF_LIFE
        chunk = b"".join(self._waiting)
        self._waiting.clear()
        self.waiting_bytes = 0
        return chunk


class Feed:
    """The ring of events, and its readers."""

    def __init__(self, runtime: Runtime, begin: Callable[[Feed], Callable[[], None]]) -> None:
        self._runtime = runtime
        self._begin = begin
        """Starts the watcher, and returns the call that stops it."""
        self._end: Callable[[], None] | None = None
        self._name = ""
        self._ring: deque[FeedEvent] = deque()
        self.kept_bytes = 0
        self._number = 0
        self._open: set[FeedReader] = set()
        """Readers that subscribed and have not left, whether they read yet or not."""
        self._readers: set[FeedReader] = set()
        self._lingering: Alarm | None = None

    def publish(self, kind: EventKind, data: Any) -> None:
        """Send an event to all readers that want its kind."""
        self._number += 1
        text = b"id: %b\nevent: %b\ndata: %b\n\n" % (
            self._id(),
            kind.encode(),
            msgspec.json.encode(data),
        )
        event = FeedEvent(self._number, kind, text)
        self._keep(event)
        for reader in tuple(self._readers):
            reader.put(event)

    def _keep(self, event: FeedEvent) -> None:
        """Add to the ring, and drop the oldest while there are too many events or bytes."""
        self._ring.append(event)
        self.kept_bytes += len(event.text)
        while len(self._ring) > KEPT or (self.kept_bytes > KEPT_BYTES and len(self._ring) > 1):
            self.kept_bytes -= len(self._ring.popleft().text)

    def subscribe(self, kinds: Collection[EventKind]) -> FeedReader:
        """A new reader, which counts as open until it leaves; `TooManyStreams` if it is one too
        many.
        """
        if len(self._open) >= MOST_STREAMS:
            raise TooManyStreams(
                f"{MOST_STREAMS} streams are open already, which is the most; close one"
            )
        reader = FeedReader(kinds, self._runtime)
        self._open.add(reader)
        return reader

    def close(self) -> None:
        """End all streams at once, and drop all events."""
        for reader in tuple(self._readers):
            reader.over.set()
        self._readers.clear()
        self._rest()

    async def chunks(self, reader: FeedReader, last: str | None) -> AsyncGenerator[bytes]:
        """Server-sent events for the reader, after the event of the id `last` if one is given."""
        self._join(reader)
        yield GREETING + self._resumed(reader, last)
        while not reader.over.is_set():
            yield await reader.next()

    def _join(self, reader: FeedReader) -> None:
        self._readers.add(reader)
        if self._lingering is not None:
            self._lingering.cancel()
            self._lingering = None
        if self._end is None:
            self._name = f"{self._runtime.random.getrandbits(48):012x}"
            self._end = self._begin(self)

    def _resumed(self, reader: FeedReader, last: str | None) -> bytes:
        """The first event of a stream. What it has missed is queued for it."""
        if not last:
            return self._notice(b"ready")
        name, _, number = last.rpartition("-")
        oldest = self._ring[0].number if self._ring else self._number + 1
        if (
            name != self._name
            or not (number.isascii() and number.isdigit() and len(number) < 19)
            or not oldest - 1 <= int(number) <= self._number
        ):
            return self._notice(b"reset")
        missed = [event for event in self._ring if event.number > int(number)]
        size = sum(len(event.text) for event in missed)
        if len(missed) >= MOST_WAITING or size > MOST_WAITING_BYTES:
            return self._notice(b"reset")
        for event in missed:
            reader.put(event)
        return b""

    def _notice(self, word: bytes) -> bytes:
        return b"id: %b\nevent: %b\ndata: {}\n\n" % (self._id(), word)

    def _id(self) -> bytes:
        return f"{self._name}-{self._number}".encode()

    def leave(self, reader: FeedReader) -> None:
        """Close a reader, also one that was never read."""
        self._open.discard(reader)
        self._readers.discard(reader)
        if not self._readers and self._end is not None and self._lingering is None:
            self._lingering = self._runtime.clock.call_later(LINGER, self._rest)

    def _rest(self) -> None:
        if self._readers:
            return
        if self._lingering is not None:
            self._lingering.cancel()
            self._lingering = None
        end, self._end = self._end, None
        self._ring.clear()
        self.kept_bytes = 0
        if end is not None:
            end()
