"""MongoConfiguration: small values that the fleet shares, in MongoDB."""

from __future__ import annotations

from collections.abc import AsyncIterator

from pymongo import ReturnDocument
from pymongo.errors import DuplicateKeyError

from drumbeat.backends.hint_waiter import ConfigurationWatch, HintWaiter
from drumbeat.backends.mongo.connection.client import Document
from drumbeat.backends.mongo.connection.server import Server
from drumbeat.backends.mongo.coordinator.documents import CONFIGURATION, NAME, UNUSED_SINCE
from drumbeat.model.fleet.lease import Entry

EXISTS: Document = {"value": {"$exists": True}}
DELETED: Document = {"value": {"$exists": False}}
DELETE: Document = {"$unset": {"value": ""}, "$currentDate": {UNUSED_SINCE: True}}


class MongoConfiguration:
    """Values by key. A deleted key keeps its document for a while, and with it its revision."""

    def __init__(self, server: Server, waiter: HintWaiter[str]) -> None:
        self._server = server
        self._waiter = waiter

    async def get(self, key: str) -> Entry | None:
        with self._server.calls() as collections:
            found = await collections[NAME].find_one({"_id": CONFIGURATION + key, **EXISTS})
        return None if found is None else Entry(key, found["value"], found["revision"])

    async def put(self, key: str, value: bytes) -> Entry:
        while True:
            revision = await self._update(key, {}, _value(value))
            revision = revision or await self._create(key, value)
            if revision is not None:
                return Entry(key, value, revision)

    async def compare_and_set(self, key: str, value: bytes | None, revision: int) -> Entry | None:
        update = DELETE if value is None else _value(value)
        if revision:
            written = await self._update(key, {"revision": revision, **EXISTS}, update)
        else:
            written = await self._update(key, DELETED, update)
            if written is None:
                written = await (self._missing(key) if value is None else self._create(key, value))
        return None if written is None else Entry(key, value or b"", written)

    def watch(self, key: str) -> AsyncIterator[Entry | None]:
        return ConfigurationWatch(self._waiter, CONFIGURATION + key, lambda: self.get(key))

    async def _update(self, key: str, condition: Document, update: Document) -> int | None:
        """Change a document that fulfils the condition; returns its new revision."""
        with self._server.calls() as collections:
            written = await collections[NAME].find_one_and_update(
                {"_id": CONFIGURATION + key, **condition},
                {"$inc": {"revision": 1}, **update},
                projection=["revision"],
                return_document=ReturnDocument.AFTER,
            )
        return None if written is None else int(written["revision"])

    async def _create(self, key: str, value: bytes) -> int | None:
        """Insert a document; None: there is one. The first revision is the server's clock."""
        revision = await self._server.milliseconds()
        try:
            with self._server.calls() as collections:
                await collections[NAME].insert_one(
                    {"_id": CONFIGURATION + key, "value": value, "revision": revision}
                )
        except DuplicateKeyError:
            return None
        return revision

    async def _missing(self, key: str) -> int | None:
        """The revision of a deletion that has nothing to delete; None: there is a document."""
        with self._server.calls() as collections:
            found = await collections[NAME].find_one({"_id": CONFIGURATION + key}, ["_id"])
        return None if found is not None else await self._server.milliseconds()


def _value(value: bytes) -> Document:
    return {"$set": {"value": value}, "$unset": {UNUSED_SINCE: ""}}
