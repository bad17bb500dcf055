"""Tokens: the SQLite store's `TokenStore`."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from drumbeat.model.instant import aware
from drumbeat.model.token import NameTaken, NewToken, Scope, TokenRecord
from drumbeat.ports.store import At
from drumbeat.rules.tokens import id_of
from drumbeat.sqlite.database import Database
from drumbeat.sqlite.instants import to_instant, to_instant_or_none, to_number, to_number_or_none
from drumbeat.stores.sqlite.moment import check_at
from drumbeat.stores.sqlite.session import StoreSession
from drumbeat.stores.sqlite.sql import TOKENS, listed


class SqliteTokens:
    """Tokens by their digest."""

    def __init__(self, database: Database[StoreSession]) -> None:
        self._database = database

    async def add(self, token: NewToken, at: At = None) -> TokenRecord | NameTaken:
        """Know a token from now on, unless one that is not revoked has its name."""
        check_at(at)

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
        """All tokens, in the order in which they were added."""
        return await self._database.view(
            lambda connection: [_token(row) for row in connection.execute(TOKENS.tokens)]
        )

    async def revoke(self, name_or_id: str, at: At = None) -> TokenRecord | None:
        """Let nobody in by a token any more."""
        check_at(at)
        token_id = id_of(name_or_id)
        statement = TOKENS.by_name if token_id is None else TOKENS.by_id
        wanted = name_or_id if token_id is None else token_id

        def step(session: StoreSession) -> TokenRecord | None:
            row = session.execute(statement, (wanted,)).fetchone()
            if row is None:
                return None
            session.execute(TOKENS.revoke, (session.moment(at).number, row[0]))
            return _token(session.execute(TOKENS.by_id, (row[0],)).fetchone())

        return await self._database.write(step)

    async def find(self, digest: str) -> TokenRecord | None:
        """The token of a digest, also if it is over."""

        def question(connection: sqlite3.Connection) -> TokenRecord | None:
            row = connection.execute(TOKENS.by_digest, (digest,)).fetchone()
            return None if row is None else _token(row)

        return await self._database.read(question)

    async def prune_sessions(self, before: datetime) -> int:
        """Forget the sessions of browsers that were over before an instant."""
        moment = to_number(aware("before", before))
        return await self._database.write(
            lambda session: session.execute(TOKENS.prune_sessions, {"before": moment}).rowcount
        )

    async def used(self, ids: Sequence[int], at: At = None) -> None:
        """Note that tokens were used."""
        check_at(at)
        if ids:
            await self._database.write(
                lambda session: session.execute(
                    TOKENS.used, {"at": session.moment(at).number, "ids": listed(ids)}
                ).close()
            )


def _token(row: tuple[Any, ...]) -> TokenRecord:
    number, name, digest, scope, created_at, expires_at, revoked_at, last_used_at = row
    return TokenRecord(
        number,
        name,
        digest,
        Scope(scope),
        to_instant(created_at),
        to_instant_or_none(expires_at),
        to_instant_or_none(revoked_at),
        to_instant_or_none(last_used_at),
    )
