"""The domain: the identity of a MongoDB coordinator."""

from __future__ import annotations

from contextlib import suppress

from bson import ObjectId
from pymongo.errors import DuplicateKeyError

from drumbeat.backends.mongo.connection.client import Collection
from drumbeat.backends.mongo.coordinator.documents import DOMAIN


async def ensure_domain(collection: Collection) -> str:
    """The identity; a new one is written if there is none."""
    with suppress(DuplicateKeyError):  # another node wrote one at the same moment
        await collection.update_one(
            {"_id": DOMAIN}, {"$setOnInsert": {"value": str(ObjectId())}}, upsert=True
        )
    found = await collection.find_one({"_id": DOMAIN})
    return await ensure_domain(collection) if found is None else str(found["value"])
