"""Audit: the SQLite store's log of who changed what."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from typing import Any

from drumbeat.backends.sqlite.connection.database import Database
from drumbeat.backends.sqlite.connection.times import to_instant, to_number
from drumbeat.backends.sqlite.store.session import StoreSession
from drumbeat.backends.sqlite.store.sql import AUDIT
from drumbeat.backends.store_rules import page_of
from drumbeat.model.fleet.audit import AuditEntry, AuditFilter, AuditNote
from drumbeat.model.page import Page, PageRequest
from drumbeat.model.time.instant import aware
from drumbeat.ports.store import At
from drumbeat.rules.audit_details import read, written
from drumbeat.rules.page_position import number_after


class SqliteAudit:
    """Who changed what."""

    def __init__(self, database: Database[StoreSession]) -> None:
        self._database = database

    async def record(self, note: AuditNote, at: At = None) -> AuditEntry:
        details = written(note.details)

        def step(session: StoreSession) -> AuditEntry:
            now = session.moment(at)
            row = (now.number, note.actor, note.action, note.target, note.reason, details)
            ((number,),) = session.execute(AUDIT.record, row).fetchall()
            return AuditEntry(number, now.instant, replace(note, details=read(details)))

        return await self._database.write(step)

    async def conclude(self, entry_id: int, outcome: str) -> None:
        await self._database.write(
            lambda session: session.execute(AUDIT.conclude, (outcome, entry_id)).close()
        )

    async def list(self, wanted: AuditFilter, page: PageRequest) -> Page[AuditEntry]:
        text, values = _question(wanted, page)

        def question(connection: sqlite3.Connection) -> Page[AuditEntry]:
            entries = map(_entry, connection.execute(text, values))
            return page_of(entries, page.size, "audit", lambda entry: entry.id)

        return await self._database.view(question)


def _question(wanted: AuditFilter, page: PageRequest) -> tuple[str, dict[str, object]]:
    values: dict[str, object] = {"limit": page.size + 1}
    parts: list[str] = []
    for name in ("actor", "action", "target"):
        if (value := getattr(wanted, name)) is not None:
            parts.append(f"{name} = :{name}")
            values[name] = value
    if wanted.since is not None:
        parts.append("at >= :since")
        values["since"] = to_number(aware("since", wanted.since))
    if wanted.until is not None:
        parts.append("at < :until")
        values["until"] = to_number(aware("until", wanted.until))
    if (before := number_after(page, "audit")) is not None:
        parts.append("id < :before")
        values["before"] = min(before, 2**62)
    return AUDIT.entries % (" AND ".join(parts) or "TRUE"), values


def _entry(row: tuple[Any, ...]) -> AuditEntry:
    number, at, actor, action, target, reason, details, outcome = row
    note = AuditNote(actor, action, target, reason, read(details))
    return AuditEntry(number, to_instant(at), note, outcome)
