"""Audit: the PostgreSQL store's `AuditLog`."""

from __future__ import annotations

from drumbeat.backends.postgres.connection.client import Record
from drumbeat.backends.postgres.connection.database import Database
from drumbeat.backends.postgres.store.jobs.list_query import LARGEST_ID
from drumbeat.backends.postgres.store.statements import AUDIT
from drumbeat.backends.postgres.store.storable_text import readable
from drumbeat.backends.postgres.store.time import checked
from drumbeat.model.fleet.audit import AuditEntry, AuditFilter, AuditNote
from drumbeat.model.page import Page, PageRequest
from drumbeat.model.time.instant import aware
from drumbeat.ports.store import At
from drumbeat.rules.audit_details import read, written
from drumbeat.rules.page_position import number_after, place


class PostgresAudit:
    """Who changed what, in one table."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = AUDIT.of(database.names)

    async def record(self, note: AuditNote, at: At = None) -> AuditEntry:
        (row,) = await self._database.fetch(
            self._sql.record,
            checked(at),
            readable(note.actor),
            readable(note.action),
            readable(note.target),
            readable(note.reason),
            written(note.details),
        )
        return _entry(row)

    async def conclude(self, entry_id: int, outcome: str) -> None:
        await self._database.fetch(self._sql.conclude, entry_id, readable(outcome))

    async def list(self, wanted: AuditFilter, page: PageRequest) -> Page[AuditEntry]:
        tail, values = _query(wanted, page)
        rows = await self._database.fetch(self._sql.entries + tail, *values)
        entries = tuple(_entry(row) for row in rows[: page.size])
        return Page(entries, place("audit", entries[-1].id) if len(rows) > page.size else None)


def _query(wanted: AuditFilter, page: PageRequest) -> tuple[str, tuple[object, ...]]:
    """The rest of the statement, made of fixed parts and parameters only."""
    before = number_after(page, "audit")
    conditions = {
        "actor =": readable(wanted.actor),
        "action =": readable(wanted.action),
        "target =": readable(wanted.target),
        "at >=": None if wanted.since is None else aware("since", wanted.since),
        "at <": None if wanted.until is None else aware("until", wanted.until),
        "id <": None if before is None else min(before, LARGEST_ID),
    }
    given = {part: value for part, value in conditions.items() if value is not None}
    parts = [f"{part} ${number}" for number, part in enumerate(given, start=1)]
    condition = " AND ".join(parts) or "TRUE"
    return f" WHERE {condition} ORDER BY id DESC LIMIT {page.size + 1:d}", (*given.values(),)


def _entry(row: Record) -> AuditEntry:
    number, at, actor, action, target, reason, details, outcome = tuple(row)
    return AuditEntry(number, at, AuditNote(actor, action, target, reason, read(details)), outcome)
