"""The schema of a namespace, as stores open it and as `drumbeat db` shows it."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import groupby

from drumbeat.backends.mongo.connection.client import Collections
from drumbeat.backends.mongo.connection.server import Server
from drumbeat.backends.mongo.connection.server_check import foreign
from drumbeat.backends.mongo.schema.indexes import COLLECTIONS, FIRST, Index
from drumbeat.model.errors import ConfigurationError

VERSIONS = "versions"
"""The document that says which steps were applied."""


@dataclass(frozen=True, slots=True)
class Migration:
    """Indexes that a version of the schema adds."""

    version: int
    name: str
    indexes: tuple[Index, ...]

    @property
    def script(self) -> str:
        """The commands that make them, one for each collection."""
        return "\n".join(
            json.dumps({"createIndexes": collection, "indexes": [each.to_json() for each in group]})
            for collection, group in groupby(self.indexes, lambda index: index.collection)
        )


KNOWN = (Migration(1, "baseline", FIRST),)


class Schema:
    """Which steps there are, and which were applied. A node applies them when it starts.

    A step may be applied twice at once: to make an index that exists already changes nothing. It
    counts as applied while all of its indexes exist, so a start makes an index that somebody has
    dropped anew, and rejects one that somebody has replaced by another.
    """

    def __init__(self, server: Server, known: Sequence[Migration] = KNOWN) -> None:
        self._server = server
        self._known = tuple(known)

    def known(self) -> Sequence[Migration]:
        return self._known

    async def applied(self) -> Collection[int]:
        await self._server.open(COLLECTIONS, _nothing)
        with self._server.calls() as collections:
            return await self._whole(collections, await _applied(collections))

    async def apply(self) -> Sequence[Migration]:
        """Make the missing indexes, and return the steps that were not applied yet."""
        before = await self.applied()
        with self._server.calls() as collections:
            await self.prepare(collections)
        return [each for each in self._known if each.version not in before]

    async def prepare(self, collections: Collections) -> None:
        """Bring the collections up to date, unless others or a newer version have them."""
        applied = await _applied(collections)
        shown = self._server.address.shown
        if applied and max(applied) > self._known[-1].version:
            raise ConfigurationError(
                f"the collections at {shown} have version {max(applied)}, and this version of "
                f"Drumbeat knows {self._known[-1].version}: install a newer one"
            )
        if not applied:
            await self._check_empty(collections)
        whole = await self._whole(collections, applied)
        for migration in self._known:
            if migration.version not in whole:
                await _apply(collections, migration)

    async def _whole(self, collections: Collections, applied: frozenset[int]) -> frozenset[int]:
        """Those of the applied steps whose indexes are all there."""
        indexes = [
            (each.version, index)
            for each in self._known
            if each.version in applied
            for index in each.indexes
        ]
        there = {
            name: await collections[name].index_information()
            for name in dict.fromkeys(index.collection for _, index in indexes)
        }
        missing: set[int] = set()
        for version, index in indexes:
            found = there[index.collection].get(index.name)
            if found is None:
                missing.add(version)
            elif not index.is_like(found):
                raise ConfigurationError(
                    f"the index {index.name!r} of {collections.full_name(index.collection)!r} at "
                    f"{self._server.address.shown} is not as Drumbeat makes it; nothing was "
                    f"changed. Drop that index, and start again"
                )
        return applied - missing

    async def _check_empty(self, collections: Collections) -> None:
        """Reject collections with documents, if Drumbeat has never made them."""
        for name in COLLECTIONS:
            found = await collections[name].find_one({}, {"_id": 1})
            if found is not None and not await _applied(collections):  # nobody made it meanwhile
                raise foreign(
                    collections.full_name(name),
                    self._server.address,
                    "holds documents that are not Drumbeat's",
                )


async def _nothing(collections: Collections) -> None:
    """Only the server is checked."""
    del collections


async def _applied(collections: Collections) -> frozenset[int]:
    found = await collections["schema"].find_one({"_id": VERSIONS})
    return frozenset(found["applied"] if found else ())


async def _apply(collections: Collections, migration: Migration) -> None:
    for index in migration.indexes:
        await collections[index.collection].create_index(
            list(index.keys), name=index.name, **index.options
        )
    versions = {"_id": VERSIONS}
    await collections["schema"].update_one(
        versions, {"$addToSet": {"applied": migration.version}}, upsert=True
    )
