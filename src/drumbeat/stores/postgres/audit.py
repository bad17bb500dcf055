"""Audit: the PostgreSQL store's log of who changed what."""

from __future__ import annotations

from drumbeat.model.audit import AuditEntry, AuditFilter, AuditNote
from drumbeat.model.instant import aware
from drumbeat.model.page import Page, PageRequest
from drumbeat.ports.store import At
from drumbeat.postgres.client import Record
from drumbeat.postgres.database import Database
from drumbeat.rules.details import read, written
from drumbeat.rules.paging import number_after, place
from drumbeat.stores.postgres.filtering import LARGEST_ID
from drumbeat.stores.postgres.instants import checked
from drumbeat.stores.postgres.sql import AUDIT
from drumbeat.stores.postgres.texts import readable


class PostgresAudit:
    """Who changed what."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = AUDIT.of(database.names)

    async def record(self, note: AuditNote, at: At = None) -> AuditEntry:
        """Write down what is about to be done."""
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
        """Say what came of it."""
        await self._database.fetch(self._sql.conclude, entry_id, readable(outcome))

    async def list(self, wanted: AuditFilter, page: PageRequest) -> Page[AuditEntry]:
        """Entries that match every given field of the filter, newest first."""
        tail, values = _question(wanted, page)
        rows = await self._database.fetch(self._sql.entries + tail, *values)
        entries = tuple(_entry(row) for row in rows[: page.size])
        return Page(entries, place("audit", entries[-1].id) if len(rows) > page.size else None)


def _question(wanted: AuditFilter, page: PageRequest) -> tuple[str, tuple[object, ...]]:
    """Which entries, as SQL made of fixed parts and parameters only."""
    before = number_after(page, "audit")
    asked = {
        "actor =": readable(wanted.actor),
        "action =": readable(wanted.action),
        "target =": readable(wanted.target),
        "at >=": None if wanted.since is None else aware("since", wanted.since),
        "at <": None if wanted.until is None else aware("until", wanted.until),
        "id <": None if before is None else min(before, LARGEST_ID),
    }
    given = {part: value for part, value in asked.items() if value is not None}
    parts = [f"{part} ${number}" for number, part in enumerate(given, start=1)]
    condition = " AND ".join(parts) or "TRUE"
    return f" WHERE {condition} ORDER BY id DESC LIMIT {page.size + 1:d}", (*given.values(),)


def _entry(row: Record) -> AuditEntry:
    number, at, actor, action, target, reason, details, outcome = tuple(row)
    return AuditEntry(number, at, AuditNote(actor, action, target, reason, read(details)), outcome)
