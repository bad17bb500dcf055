"""Tokens: the MongoDB store's `TokenStore`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pymongo.errors import DuplicateKeyError

from drumbeat.backends.mongo.connection.client import Collections, Document
from drumbeat.backends.mongo.store.session import Session, next_numbers
from drumbeat.backends.mongo.store.times import (
    given,
    to_instant,
    to_instant_or_none,
    to_number_or_none,
)
from drumbeat.model.fleet.token import NameTaken, NewToken, Scope, TokenRecord
from drumbeat.ports.store import At
from drumbeat.rules.tokens import id_of, is_session


class MongoTokens:
    """Tokens by their digest. A token that is not revoked has its name in a unique index."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def add(self, token: NewToken, at: At = None) -> TokenRecord | NameTaken:
        async with self._session.calls() as collections:
            now = await self._session.now(collections, at)
            (number,) = await next_numbers(collections, "tokens", 1)
            document: Document = {
                "_id": number,
                "name": token.name,
                "name_in_use": token.name,
                "digest": token.digest,
                "scope": token.scope.value,
                "created_at": now,
                "expires_at": to_number_or_none(token.expires_at),
            }
            try:
                await collections["tokens"].insert_one(document)
            except DuplicateKeyError:
                return NameTaken(token.name)
        return _record_of(document)

    async def list(self) -> Sequence[TokenRecord]:
        async with self._session.calls() as collections:
            found = collections["tokens"].find({}).sort([("_id", 1)])
            return [_record_of(each) async for each in found]

    async def revoke(self, name_or_id: str, at: At = None) -> TokenRecord | None:
        async with self._session.calls() as collections:
            now = await self._session.now(collections, at)
            found = await _named(collections, name_or_id)
            if found is None or found.get("revoked_at") is not None:
                return None if found is None else _record_of(found)
            valid = {"_id": found["_id"], "revoked_at": None}
            revoked = {"$set": {"revoked_at": now}, "$unset": {"name_in_use": ""}}
            await collections["tokens"].update_one(valid, revoked)
            found = await collections["tokens"].find_one({"_id": found["_id"]})
            return None if found is None else _record_of(found)

    async def find(self, digest: str) -> TokenRecord | None:
        async with self._session.calls() as collections:
            found = await collections["tokens"].find_one({"digest": digest})
            return None if found is None else _record_of(found)

    async def prune_sessions(self, before: datetime) -> int:
        end = {"$lt": given("before", before)}
        over = {"$or": [{"revoked_at": end}, {"expires_at": end}]}
        async with self._session.calls() as collections:
            found = collections["tokens"].find(over)
            ids = [each["_id"] async for each in found if is_session(_record_of(each))]
            deleted = await collections["tokens"].delete_many({"_id": {"$in": ids}, **over})
            return deleted.deleted_count

    async def used(self, ids: Sequence[int], at: At = None) -> None:
        async with self._session.calls() as collections:
            now = await self._session.now(collections, at)
            wanted = {"_id": {"$in": list(set(ids))}}
            await collections["tokens"].update_many(wanted, {"$max": {"last_used_at": now}})


async def _named(collections: Collections, name_or_id: str) -> Document | None:
    if (token_id := id_of(name_or_id)) is not None:
        return await collections["tokens"].find_one({"_id": token_id})
    found = collections["tokens"].find({"name": name_or_id})
    named = [each async for each in found]
    return max(named, key=lambda each: ("name_in_use" in each, each["_id"]), default=None)


def _record_of(document: Document) -> TokenRecord:
    return TokenRecord(
        document["_id"],
        document["name"],
        document["digest"],
        Scope(document["scope"]),
        to_instant(document["created_at"]),
        to_instant_or_none(document["expires_at"]),
        to_instant_or_none(document.get("revoked_at")),
        to_instant_or_none(document.get("last_used_at")),
    )
