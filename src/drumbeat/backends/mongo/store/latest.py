"""The latest state of a document, as the primary would write it.

A primary that was just elected answers reads for a moment from before its predecessor's last
confirmed writes. A write sees all of them. So what would do harm if it were outdated is asked by a
write that changes nothing.
"""

from __future__ import annotations

from drumbeat.backends.mongo.connection.client import Collection, Document

NOTHING: Document = {"$unset": {"no_such_field": ""}}


async def exists(collection: Collection, wanted: Document) -> bool:
    """Whether there is such a document now."""
    return (await collection.update_one(wanted, NOTHING)).matched_count == 1
