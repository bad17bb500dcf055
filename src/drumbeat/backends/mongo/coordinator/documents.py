"""The documents of the MongoDB coordinator, all in one collection, and the clock in their terms."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from drumbeat.backends.mongo.connection.client import Collection, Document

NAME: Final = "coordinator"
"""The short name of the collection."""
DOMAIN: Final = "domain"
"""The `_id` of the document with the identity of this coordinator."""
REGISTRY: Final = "registry"
"""The `_id` of the document that changes with the list of nodes."""
LEASE: Final = "lease "
NODE: Final = "node "
CONFIGURATION: Final = "configuration "
NODES: Final = {"$gte": NODE, "$lt": "node!"}
"""The range of all `_id` that begin with `NODE`."""
OURS: Final = f"^({DOMAIN}$|{REGISTRY}$|{LEASE}|{NODE}|{CONFIGURATION})"

UNUSED_SINCE: Final = "unused_since"
"""The field of the TTL index; documents without it are never deleted."""
KEPT: Final = timedelta(days=1)
"""How long a document is kept that nobody uses."""
LONGEST_TIDIED: Final = timedelta(hours=1)
"""Terms with a longer TTL are never deleted, since they may still be live."""

ENDS: Final[Document] = {"$add": ["$renewed", "$lasts"]}
"""When a term or an entry ends: its last renewal plus the milliseconds that it lasts."""
LIVE: Final[Document] = {"$expr": {"$gt": [ENDS, "$$NOW"]}}
OVER: Final[Document] = {"$expr": {"$lte": [ENDS, "$$NOW"]}}
LEFT: Final[Document] = {"$subtract": [ENDS, "$$NOW"]}

MILLISECOND: Final = timedelta(milliseconds=1)


def lasts(ttl: timedelta) -> int:
    """The TTL in milliseconds, rounded up, and one more, since instants are rounded down."""
    return -(-ttl // MILLISECOND) + 1


def time_left(milliseconds: int) -> timedelta:
    return milliseconds * MILLISECOND


def renewal(ttl: timedelta) -> Document:
    """The part of an update that makes a term or an entry last from now on."""
    fields: dict[str, Any] = {"renewed": True}
    if ttl <= LONGEST_TIDIED:
        fields[UNUSED_SINCE] = True
    return {"$currentDate": fields}


async def foreign_document(collection: Collection) -> Document | None:
    """A document that the coordinator has not written, if there is one."""
    return await collection.find_one({"_id": {"$not": {"$regex": OURS}}}, projection=["_id"])


async def create_index(collection: Collection) -> None:
    await collection.create_index(UNUSED_SINCE, expireAfterSeconds=int(KEPT.total_seconds()))
