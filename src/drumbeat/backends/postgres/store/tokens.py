"""Tokens: the PostgreSQL store's `TokenStore`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from drumbeat.backends.postgres.connection.client import Record
from drumbeat.backends.postgres.connection.database import Database
from drumbeat.backends.postgres.store.statements import TOKENS
from drumbeat.backends.postgres.store.storable_text import name, readable
from drumbeat.backends.postgres.store.time import checked
from drumbeat.model.fleet.token import NameTaken, NewToken, Scope, TokenRecord
from drumbeat.model.time.instant import aware
from drumbeat.ports.store import At
from drumbeat.rules.tokens import id_of


class PostgresTokens:
    """Tokens by their digest."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = TOKENS.of(database.names)

    async def add(self, token: NewToken, at: At = None) -> TokenRecord | NameTaken:
        row = await self._database.fetch_row(
            self._sql.add,
            name("the name of a token", token.name),
            token.digest,
            token.scope.value,
            checked(at),
            None if token.expires_at is None else aware("expires_at", token.expires_at),
        )
        return NameTaken(token.name) if row is None else _token(row)

    async def list(self) -> Sequence[TokenRecord]:
        return [_token(row) for row in await self._database.fetch(self._sql.tokens)]

    async def revoke(self, name_or_id: str, at: At = None) -> TokenRecord | None:
        token_id = id_of(name_or_id)
        named = readable(name_or_id) if token_id is None else None
        row = await self._database.fetch_row(self._sql.revoke, token_id, named, checked(at))
        return None if row is None else _token(row)

    async def find(self, digest: str) -> TokenRecord | None:
        row = await self._database.fetch_row(self._sql.by_digest, digest)
        return None if row is None else _token(row)

    async def prune_sessions(self, before: datetime) -> int:
        over = await self._database.fetch(self._sql.prune_sessions, aware("before", before))
        return len(over)

    async def used(self, ids: Sequence[int], at: At = None) -> None:
        if ids:
            await self._database.fetch(self._sql.used, sorted(set(ids)), checked(at))


def _token(row: Record) -> TokenRecord:
    number, called, digest, scope, created_at, expires_at, revoked_at, last_used_at = tuple(row)
    return TokenRecord(
        number, called, digest, Scope(scope), created_at, expires_at, revoked_at, last_used_at
    )
