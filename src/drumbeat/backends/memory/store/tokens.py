"""Tokens: the memory store's `TokenStore`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import count

from drumbeat.backends.memory.store.step import Step
from drumbeat.model.fleet.token import NameTaken, NewToken, TokenRecord
from drumbeat.model.time.instant import aware
from drumbeat.ports.store import At
from drumbeat.rules.tokens import id_of, is_session


class MemoryTokens:
    """Tokens by their digest."""

    def __init__(self, step: Step) -> None:
        self._step = step
        self._records: dict[int, TokenRecord] = {}
        self._ids = count(1)

    async def add(self, token: NewToken, at: At = None) -> TokenRecord | NameTaken:
        with self._step as step:
            now = step.now(at)
            if any(
                each.digest == token.digest or (each.name == token.name and not each.revoked_at)
                for each in self._records.values()
            ):
                return NameTaken(token.name)
            record = TokenRecord(
                next(self._ids), token.name, token.digest, token.scope, now, token.expires_at
            )
            self._records[record.id] = record
            return record

    async def list(self) -> Sequence[TokenRecord]:
        with self._step:
            return [*self._records.values()]

    async def revoke(self, name_or_id: str, at: At = None) -> TokenRecord | None:
        with self._step as step:
            now = step.now(at)
            record = self._named(name_or_id)
            if record is not None and record.revoked_at is None:
                record = self._records[record.id] = replace(record, revoked_at=now)
            return record

    async def find(self, digest: str) -> TokenRecord | None:
        with self._step:
            found = (each for each in self._records.values() if each.digest == digest)
            return next(found, None)

    async def prune_sessions(self, before: datetime) -> int:
        before = aware("before", before)
        with self._step:
            over = [
                each.id
                for each in self._records.values()
                if is_session(each)
                and any(
                    end is not None and end < before for end in (each.revoked_at, each.expires_at)
                )
            ]
            for token_id in over:
                del self._records[token_id]
            return len(over)

    async def used(self, ids: Sequence[int], at: At = None) -> None:
        with self._step as step:
            now = step.now(at)
            for record in [self._records[each] for each in set(ids) if each in self._records]:
                last = record.last_used_at
                latest = now if last is None else max(last, now)
                self._records[record.id] = replace(record, last_used_at=latest)

    def _named(self, name_or_id: str) -> TokenRecord | None:
        if (token_id := id_of(name_or_id)) is not None:
            return self._records.get(token_id)
        named = [each for each in self._records.values() if each.name == name_or_id]
        return max(named, key=lambda each: (each.revoked_at is None, each.id), default=None)
