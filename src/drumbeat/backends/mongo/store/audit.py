"""Audit: the MongoDB store's log of who changed what."""

from __future__ import annotations

from dataclasses import replace

from drumbeat.backends.mongo.connection.client import Document
from drumbeat.backends.mongo.store.duplicates import HIGHEST
from drumbeat.backends.mongo.store.session import Session, next_numbers
from drumbeat.backends.mongo.store.storable_text import readable
from drumbeat.backends.mongo.store.times import given, to_instant
from drumbeat.backends.store_rules import page_of
from drumbeat.model.fleet.audit import AuditEntry, AuditFilter, AuditNote
from drumbeat.model.page import Page, PageRequest
from drumbeat.ports.store import At
from drumbeat.rules.audit_details import read, written
from drumbeat.rules.page_position import number_after


class MongoAudit:
    """Who changed what."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def record(self, note: AuditNote, at: At = None) -> AuditEntry:
        details = written(note.details)
        texts = {
            "actor": readable(note.actor) or "",
            "action": readable(note.action) or "",
            "target": readable(note.target) or "",
            "reason": readable(note.reason) or "",
        }
        async with self._session.calls() as collections:
            now = await self._session.now(collections, at)
            (number,) = await next_numbers(collections, "audit", 1)
            entry = {"_id": number, "at": now, **texts, "details": details}
            await collections["audit"].insert_one(entry)
        return AuditEntry(number, to_instant(now), replace(note, **texts, details=read(details)))

    async def conclude(self, entry_id: int, outcome: str) -> None:
        async with self._session.calls() as collections:
            open_ = {"_id": entry_id, "outcome": None}
            outcome_of = {"$set": {"outcome": readable(outcome)}}
            await collections["audit"].update_one(open_, outcome_of)

    async def list(self, wanted: AuditFilter, page: PageRequest) -> Page[AuditEntry]:
        query = _to_query(wanted)
        before = number_after(page, "audit")
        if before is not None:
            query["_id"] = {"$lt": min(before, HIGHEST)}
        async with self._session.calls() as collections:
            found = collections["audit"].find(query).sort([("_id", -1)]).limit(page.size + 1)
            entries = [_entry_of(each) async for each in found]
        return page_of(entries, page.size, "audit", lambda entry: entry.id)


def _to_query(wanted: AuditFilter) -> Document:
    fields = {"actor": wanted.actor, "action": wanted.action, "target": wanted.target}
    query: Document = {field: value for field, value in fields.items() if value is not None}
    recorded: dict[str, int] = {}
    if wanted.since is not None:
        recorded["$gte"] = given("since", wanted.since)
    if wanted.until is not None:
        recorded["$lt"] = given("until", wanted.until)
    if recorded:
        query["at"] = recorded
    return query


def _entry_of(document: Document) -> AuditEntry:
    note = AuditNote(
        document["actor"],
        document["action"],
        document["target"],
        document["reason"],
        read(document["details"]),
    )
    return AuditEntry(document["_id"], to_instant(document["at"]), note, document.get("outcome"))
