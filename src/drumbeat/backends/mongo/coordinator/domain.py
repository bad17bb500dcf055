"""The domain: the identity of a MongoDB coordinator."""

from __future__ import annotations

from contextlib import suppress

from bson import ObjectId
from pymongo.errors import DuplicateKeyError

from drumbeat.backends.mongo.connection.client import Collection
from drumbeat.backends.mongo.coordinator.documents import DOMAIN


async def create_domain(collection: Collection) -> None:
    """Write a new identity, unless there is one."""
    with suppress(DuplicateKeyError):  # another node wrote one at the same moment
        await collection.update_one(
            {"_id": DOMAIN}, {"$setOnInsert": {"value": str(ObjectId())}}, upsert=True
        )
