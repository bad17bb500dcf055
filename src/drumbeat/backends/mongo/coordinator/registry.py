"""MongoRegistry: the live nodes, in MongoDB."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from datetime import timedelta

from pymongo import ReturnDocument
from pymongo.errors import DuplicateKeyError

from drumbeat.backends.hint_waiter import ChangeHints, HintWaiter
from drumbeat.backends.mongo.connection.client import Collection, Document
from drumbeat.backends.mongo.connection.server import Server
from drumbeat.backends.mongo.coordinator.documents import (
    LEFT,
    LIVE,
    NAME,
    NODE,
    NODES,
    REGISTRY,
    lasts,
    renewal,
    time_left,
)
from drumbeat.model.encoding.document import node_from_text, node_to_text
from drumbeat.model.fleet.node import Node
from drumbeat.model.ids import NodeId

LISTED = [
    {"$match": {"_id": NODES, **LIVE}},
    {"$sort": {"_id": 1}},
    {"$project": {"entry": 1, "left": LEFT}},
]


class MongoRegistry:
    """Nodes, each until its TTL has passed by the server's clock."""

    def __init__(self, server: Server, waiter: HintWaiter[str]) -> None:
        self._server = server
        self._waiter = waiter

    async def register(self, node: Node, ttl: timedelta) -> None:
        entry = node_to_text(node)
        update = {"$set": {"entry": entry, "lasts": lasts(ttl)}, **renewal(ttl)}
        with self._server.calls() as collections:
            before = await _replace(collections[NAME], NODE + node.id, update)
            if before is None or before.get("entry") != entry:  # a heartbeat alone is no news
                await _tell(collections[NAME])

    async def deregister(self, node: NodeId) -> None:
        with self._server.calls() as collections:
            deleted = await collections[NAME].delete_one({"_id": NODE + node})
            if deleted.deleted_count:
                await _tell(collections[NAME])

    async def nodes(self) -> Sequence[Node]:
        listed, _ = await self.listed()
        return [node_from_text(entry) for entry in listed]

    def changes(self) -> AsyncIterator[None]:
        return ChangeHints(self._waiter, REGISTRY, self.listed)

    async def listed(self) -> tuple[tuple[str, ...], timedelta | None]:
        """The entries of the live nodes, and how long until the first of them expires."""
        with self._server.calls() as collections:
            live = await (await collections[NAME].aggregate(LISTED)).to_list()
        left = min((each["left"] for each in live), default=None)
        return tuple(each["entry"] for each in live), None if left is None else time_left(left)


async def _replace(collection: Collection, name: str, update: Document) -> Document | None:
    """Write the entry of a node; returns the one before."""
    while True:
        try:
            return await collection.find_one_and_update(
                {"_id": name},
                update,
                projection=["entry"],
                upsert=True,
                return_document=ReturnDocument.BEFORE,
            )
        except DuplicateKeyError:  # it was registered at the same moment, and is there now
            continue


async def _tell(collection: Collection) -> None:
    """Wake those who wait for changes of the list."""
    with suppress(DuplicateKeyError):  # another node told them at the same moment
        await collection.update_one({"_id": REGISTRY}, {"$inc": {"changes": 1}}, upsert=True)
