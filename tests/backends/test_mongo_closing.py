"""Closing while the server is paused: a node that is asked to stop may not wait for it."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator

import pytest

from drumbeat.backends.mongo.connection.address import parse
from drumbeat.backends.mongo.connection.client import Collections
from drumbeat.backends.mongo.connection.server import Server
from drumbeat.backends.mongo.store import MongoStore
from drumbeat.model.jobs.job import JobSpec
from servers import GivenMongo, Mongo, MongoInMemory
from servers.mongo import REPLICA_SET

from .mongo_cases import CLOCK, LEAVING_CONNECTIONS, new_namespace

pytestmark = LEAVING_CONNECTIONS
SOON = 60.0
"""Seconds that a busy machine may take; without a bound it would take for ever."""


@pytest.fixture(params=["standalone", "replica set"])
def paused_later(request: pytest.FixtureRequest, mongo: Mongo | GivenMongo) -> Iterator[Mongo]:
    """A server of our own."""
    with MongoInMemory.start(REPLICA_SET if request.param == "replica set" else {}) as server:
        yield server


async def nothing(collections: Collections) -> None:
    """There is nothing to prepare."""


async def test_open_cursors_keep_nobody_waiting(paused_later: Mongo) -> None:
    server = Server(parse(paused_later.address), CLOCK, new_namespace())
    await server.open(["things"], nothing)
    with server.calls() as collections:
        await collections["things"].insert_many([{"_id": number} for number in range(10)])
        cursor = collections["things"].find({}, batch_size=2)
        await cursor.next()
        paused_later.pause()
        del cursor, collections
        gc.collect()  # now the library would tell the server that the cursor is not needed
    async with asyncio.timeout(SOON):
        await server.close()


async def test_change_streams_and_signals_keep_nobody_waiting(paused_later: Mongo) -> None:
    store = MongoStore(paused_later.address, CLOCK, new_namespace())
    await store.open()
    woken = asyncio.Event()
    for topic in ("jobs", "times", "finished"):
        store.server.subscribe("signals", topic, woken.set)
    async with asyncio.timeout(SOON):
        await woken.wait()  # the stream has begun
        await store.jobs.insert([JobSpec("greet")])
        paused_later.pause()
        await store.close()
