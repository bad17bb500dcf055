"""Session: what all parts of the store share: the collections, the time, numbers and signals."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from datetime import datetime

from pymongo import ReturnDocument
from pymongo.errors import DuplicateKeyError

from drumbeat.backends.mongo.connection.client import Collections
from drumbeat.backends.mongo.connection.server import Server
from drumbeat.backends.mongo.store.server_time import ServerTime
from drumbeat.backends.mongo.store.signals import Signals
from drumbeat.backends.mongo.store.times import given
from drumbeat.model.errors import Unavailable
from drumbeat.ports.clock import Clock


class Session:
    """The collections of a store that is open."""

    def __init__(self, server: Server, clock: Clock, opened: Callable[[], Awaitable[None]]) -> None:
        self._server = server
        self._opened = opened
        self._time = ServerTime(clock)
        self.clock = clock
        self.signals = Signals(server, clock)

    @asynccontextmanager
    async def calls(self) -> AsyncGenerator[Collections]:
        """The collections; `Unavailable` if it is not known whether a call was made."""
        await self._opened()
        with self._server.calls() as collections:
            yield collections

    async def now(self, collections: Collections, at: datetime | None = None) -> int:
        """The instant to decide by: the one given, or the server's."""
        if at is not None:
            return given("at", at)
        now = await self._time.now(collections)
        if now is None:
            self._server.check_again()
            raise Unavailable(
                f"the collections at {self._server.address.shown} were dropped; the next call "
                f"makes them anew"
            )
        return now


async def next_numbers(collections: Collections, name: str, count: int) -> range:
    """So many numbers that nobody had before, above all that were given out."""
    numbers = collections["numbers"]
    while True:
        # The document before the update: mongo-java-server may return a later one than the one
        # after it, if others count at the same time.
        found = await numbers.find_one_and_update(
            {"_id": name}, {"$inc": {"last": count}}, return_document=ReturnDocument.BEFORE
        )
        if found is not None:
            first: int = found["last"] + 1
            return range(first, first + count)
        with suppress(DuplicateKeyError):  # another node may be faster
            await numbers.insert_one({"_id": name, "last": 0})
