"""Client: the connections of one event loop, and the collections of one namespace."""

from __future__ import annotations

import asyncio
from typing import Any, TypeAlias

from bson.codec_options import TypeDecoder, TypeRegistry
from bson.int64 import Int64
from pymongo import AsyncMongoClient, ReadPreference
from pymongo.asynchronous.collection import AsyncCollection
from pymongo.asynchronous.database import AsyncDatabase
from pymongo.driver_info import DriverInfo
from pymongo.read_concern import ReadConcern
from pymongo.write_concern import WriteConcern

from drumbeat.backends.mongo.connection.address import Address
from drumbeat.version import VERSION

Document: TypeAlias = dict[str, Any]
Collection: TypeAlias = AsyncCollection[Document]

CONNECT_WITHIN = 2.0
"""Seconds that a server has to accept a connection."""
ANSWER_WITHIN = 5.0
"""Seconds for a whole call: finding the primary, sending and the majority's confirmation."""
CLOSE_WITHIN = 1.0
"""Seconds for an orderly end of the connections."""
CLOSE_TRIES = 3
"""The first is interrupted with the sessions, the second with the cursors."""


class PlainNumbers(TypeDecoder):
    """Reads large numbers as `int`, and not as the client library's own kind of number.

    That one is an `int` too, but what encodes JSON rejects it.
    """

    @property
    def bson_type(self) -> type[Int64]:
        return Int64

    def transform_bson(self, value: int) -> int:
        return int(value)


class Client:
    """A pool of connections to the primary; each write is sent at most once."""

    def __init__(self, address: Address) -> None:
        self.library: AsyncMongoClient[Document] = AsyncMongoClient(
            address.uri,
            connectTimeoutMS=CONNECT_WITHIN * 1000,
            serverSelectionTimeoutMS=ANSWER_WITHIN * 1000,
            timeoutMS=ANSWER_WITHIN * 1000,
            retryWrites=False,
            tz_aware=True,
            type_registry=TypeRegistry([PlainNumbers()]),
            driver=DriverInfo("Drumbeat", VERSION),
        )
        self.database: AsyncDatabase[Document] = self.library.get_database(
            address.database,
            read_preference=ReadPreference.PRIMARY,
            write_concern=WriteConcern("majority", j=True),
            read_concern=ReadConcern("majority"),
        )

    async def close(self) -> None:
        """Close it within a bounded time, also if the server is paused.

        At its end the library tells the server of sessions and cursors, and waits for the answers
        without a time-out. What it was interrupted in it leaves out when it closes again.
        """
        for _ in range(CLOSE_TRIES):
            closing = asyncio.create_task(self.library.close())
            try:
                done, _pending = await asyncio.wait([closing], timeout=CLOSE_WITHIN)
            finally:
                closing.cancel()
            if done:
                return


class Collections:
    """The collections of a namespace, by their short names."""

    def __init__(self, database: AsyncDatabase[Document], namespace: str) -> None:
        self.database = database
        self._namespace = namespace

    def __getitem__(self, name: str) -> Collection:
        return self.database[self.full_name(name)]

    def full_name(self, name: str) -> str:
        return f"{self._namespace}.{name}"
