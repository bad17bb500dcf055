"""Tokens: the SQLite store's `TokenStore`."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from drumbeat.backends.sqlite.connection.database import Database
from drumbeat.backends.sqlite.connection.times import (
    to_instant,
    to_instant_or_none,
    to_number,
    to_number_or_none,
)
from drumbeat.backends.sqlite.store.session import StoreSession
from drumbeat.backends.sqlite.store.sql import TOKENS, json_list
from drumbeat.model.fleet.token import NameTaken, NewToken, Scope, TokenRecord
from drumbeat.model.time.instant import aware
from drumbeat.ports.store import At
from drumbeat.rules.tokens import id_of


class SqliteTokens:
    """Tokens by their digest."""

    def __init__(self, database: Database[StoreSession]) -> None:
        self._database = database

    async def add(self, token: NewToken, at: At = None) -> TokenRecord | NameTaken:

        def step(session: StoreSession) -> TokenRecord | NameTaken:
            now, expires_at = session.moment(at), to_number_or_none(token.expires_at)
            row = (token.name, token.digest, token.scope.value, now.number, expires_at)
            added = session.execute(TOKENS.add, row).fetchall()
            if not added:
                return NameTaken(token.name)
            ((number,),) = added
            return _token(session.execute(TOKENS.by_id, (number,)).fetchone())

        return await self._database.write(step)

    async def list(self) -> Sequence[TokenRecord]:
        return await self._database.view(
            lambda connection: [_token(row) for row in connection.execute(TOKENS.tokens)]
        )

    async def revoke(self, name_or_id: str, at: At = None) -> TokenRecord | None:
        token_id = id_of(name_or_id)
        statement = TOKENS.by_name if token_id is None else TOKENS.by_id
        wanted = name_or_id if token_id is None else token_id

        def step(session: StoreSession) -> TokenRecord | None:
            row = session.execute(statement, (wanted,)).fetchone()
            if row is None:
                return None
            token = _token(row)
            session.execute(TOKENS.revoke, (session.moment(at).number, token.id))
            return _token(session.execute(TOKENS.by_id, (token.id,)).fetchone())

        return await self._database.write(step)

    async def find(self, digest: str) -> TokenRecord | None:
        def question(connection: sqlite3.Connection) -> TokenRecord | None:
            row = connection.execute(TOKENS.by_digest, (digest,)).fetchone()
            return None if row is None else _token(row)

        return await self._database.read(question)

    async def prune_sessions(self, before: datetime) -> int:
        moment = to_number(aware("before", before))
        return await self._database.write(
            lambda session: session.execute(TOKENS.prune_sessions, {"before": moment}).rowcount
        )

    async def used(self, ids: Sequence[int], at: At = None) -> None:
        if ids:
            await self._database.write(
                lambda session: session.execute(
                    TOKENS.used, {"at": session.moment(at).number, "ids": json_list(ids)}
                ).close()
            )


def _token(row: tuple[Any, ...]) -> TokenRecord:
    number, name, digest, scope, created_at, *times = row
    instants = map(to_instant_or_none, times)  # when it expires, was revoked and was last used
    return TokenRecord(number, name, digest, Scope(scope), to_instant(created_at), *instants)
